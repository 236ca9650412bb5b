import pytest

from actors import (
    ActorError,
    AlreadyRegisteredError,
    CallExitError,
    CallTimeoutError,
    Exit,
    Killed,
    MessageError,
    NoProcessError,
    Pid,
    ReceiveTimeoutError,
    Shutdown,
    StartError,
    StoppedError,
)

PID = Pid("main", "abcdef", 7)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (NoProcessError(PID), "no actor pid:main.abcdef.7"),
        (AlreadyRegisteredError("db", PID), "'db' belongs to pid:main.abcdef.7"),
        (StartError("db", Killed()), "child db did not start"),
        (StoppedError("main", "no spawn"), "node 'main' is not running: no spawn"),
        (CallTimeoutError("db", 1.5), "no reply from db within 1.5 s"),
        (CallExitError(PID, Killed()), "ended without a reply: Killed"),
        (ReceiveTimeoutError(PID, 2.0), "got no message within 2 s"),
        (MessageError("field"), "field"),
    ],
)
def test_text_names_who_and_what(error: ActorError, text: str) -> None:
    assert text in str(error)
    assert isinstance(error, ActorError)


def test_timeouts_are_builtin_timeouts_too() -> None:
    assert issubclass(CallTimeoutError, TimeoutError)
    assert issubclass(ReceiveTimeoutError, TimeoutError)


def test_exit_is_no_actor_error() -> None:
    assert not issubclass(Exit, ActorError)
    assert Exit(Shutdown("x")).reason == Shutdown("x")

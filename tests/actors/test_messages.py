import msgspec
import pytest

from actors import MessageError, Pid, decode_message, encode_message, message


@message("test.done")
class Done(msgspec.Struct, frozen=True):
    job: str
    total: int = 0


@message
class Greeting(msgspec.Struct, frozen=True):
    reply_to: Pid


def test_tagged_object_becomes_its_struct() -> None:
    assert decode_message({"type": "test.done", "job": "a", "total": 3}) == Done("a", 3)


def test_bare_decorator_tags_with_class_name() -> None:
    pid = Pid("a", "b", 1)
    assert decode_message({"type": "Greeting", "reply_to": str(pid)}) == Greeting(pid)


@pytest.mark.parametrize("value", [None, 1, "x", [1], {"a": 1}, {"type": "unknown.tag"}, {"type": 3}])
def test_other_json_stays_as_it_is(value: object) -> None:
    assert decode_message(value) is value


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"type": "test.done"}, "job"),
        ({"type": "test.done", "job": "a", "total": "3"}, "total"),
        ({"type": "test.done", "job": "a", "totl": 3}, "totl"),
        ({"type": "Greeting", "reply_to": "nonsense"}, "reply_to"),
        ({"type": "Greeting", "reply_to": 3}, "reply_to"),
    ],
)
def test_wrong_field_is_named(value: object, field: str) -> None:
    with pytest.raises(MessageError, match=field):
        decode_message(value)


def test_encoding_is_the_inverse_of_decoding() -> None:
    for value in (Done("a", 1), Greeting(Pid("a", "b", 1)), {"a": [1, None]}, "text"):
        assert decode_message(encode_message(value)) == value


def test_value_without_json_form_is_refused() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        encode_message({"a": object()})


def test_struct_must_be_frozen() -> None:
    class Loose(msgspec.Struct):
        a: int

    with pytest.raises(TypeError, match="frozen=True"):
        message(Loose)


def test_field_called_type_is_refused() -> None:
    class Typed(msgspec.Struct, frozen=True):
        type: str

    with pytest.raises(TypeError, match="'type'"):
        message("test.typed")(Typed)


def test_tag_of_another_class_is_refused() -> None:
    class Other(msgspec.Struct, frozen=True):
        a: int

    with pytest.raises(ValueError, match=r"test\.done"):
        message("test.done")(Other)


def test_same_class_may_come_again() -> None:
    assert message("test.done")(Done) is Done

"""Every default of the server, once: its name, value, unit, option, environment variable and meaning.

The fields of `Settings` are the table; `TABLE` is the same as data. The command line makes its options
from it, `Settings.from_environ` reads the same rows from ``GENMCP_…`` variables, and ``docs/settings.md``
is checked against it by a test, so there is no number that is only in one of these places
(api.md §9; user demand L3: no hidden time-outs).
"""

import typing
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from genmcp.units import read_bytes, read_seconds, show_bytes, show_seconds

__all__ = ["TABLE", "Setting", "Settings", "SettingsError"]

Kind = Literal["text", "file", "flag", "list", "count", "seconds", "bytes"]

LOG_LEVELS = ("debug", "info", "warning", "error", "critical")
EXPECTED = {
    "text": "some text",
    "file": "the path of a file",
    "flag": "one of: true, false",
    "list": "names separated by commas",
    "count": "a whole number, for example 100",
    "seconds": "a time in seconds or with a unit, for example 15, 0.5, 200ms, 10m, 1h or 1d",
    "bytes": "a size in bytes or with a unit, for example 65536, 64KiB or 4MiB",
}


class SettingsError(ValueError):
    """A setting has a value that it cannot have; the text names the setting, the value and what is expected."""


class Row(msgspec.Struct, frozen=True):
    """What an annotation of `Settings` says about its field."""

    kind: Kind
    help: str
    minimum: float | None = None
    choices: tuple[str, ...] = ()
    option: str = ""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table.

    Attributes:
        name: The field of `Settings`.
        kind: How its text is read: a time, a size, a count, text, a file, a flag or a list.
        default: The value when nothing is said.
        option: The option of ``python -m genmcp serve``.
        env: The environment variable.
        help: What it does, one sentence.
        minimum: The smallest number that is accepted.
        choices: The only texts that are accepted; empty: any.
        optional: Whether ``none`` is accepted, which switches it off.
    """

    name: str
    kind: Kind
    default: object
    option: str
    env: str
    help: str
    minimum: float | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False

    @property
    def unit(self) -> str:
        """The unit of the number that the program works with: ``s``, ``bytes`` or nothing."""
        return {"seconds": "s", "bytes": "bytes"}.get(self.kind, "")

    def parse(self, text: str) -> object:
        """Read a value as a user writes it.

        Raises:
            SettingsError: The text is not a value of this setting; it does not say where the text came from.
        """
        text = text.strip()
        if self.optional and text.lower() in ("none", "off", ""):
            return None
        try:
            value = _READ[self.kind](text)
        except (ValueError, KeyError):
            raise SettingsError(f"{text!r} is not {EXPECTED[self.kind]}") from None
        self.check(value)
        return value

    def check(self, value: object) -> None:
        """Raise `SettingsError` if a value of the right type is out of bounds."""
        if self.choices and value not in self.choices:
            raise SettingsError(f"{value!r} is not one of: {', '.join(self.choices)}")
        if self.minimum is not None and isinstance(value, (int, float)) and not value >= self.minimum:
            raise SettingsError(f"{value!r} is too small: the least is {self.show(self.minimum)}")

    def show(self, value: Any) -> str:
        """Write a value as a user would write it: ``15 s``, ``4 MiB``, ``10,000``, ``none``."""
        if value is None or value == () or value == "":
            return "none"
        match self.kind:
            case "seconds":
                return show_seconds(value)
            case "bytes":
                return show_bytes(value)
            case "list":
                return ", ".join(value)
            case "flag":
                return "true" if value else "false"
            case "count" if self.name != "port":
                return f"{value:,}"
        return str(value)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a server is run with. Times are seconds, sizes bytes; ``None`` switches a limit off.

    Raises:
        SettingsError: A value is out of bounds, or two values contradict each other.
    """

    host: Annotated[str, Row("text", "Address to listen on, or unix:PATH for a socket file.")] = "127.0.0.1"
    port: Annotated[int, Row("count", "Port to listen on; 0 takes a free one.", 0)] = 8000
    path: Annotated[str, Row("text", "Path of the MCP endpoint.")] = "/mcp"
    admin: Annotated[
        str, Row("text", "Where the registry API listens: public (beside the endpoint), HOST:PORT, unix:PATH or off.")
    ] = "public"
    allow_hosts: Annotated[
        tuple[str, ...],
        Row(
            "list",
            "Host names to accept besides loopback, IP addresses and the own one; * is any.",
            None,
            (),
            "--allow-host",
        ),
    ] = ()
    allow_origins: Annotated[
        tuple[str, ...],
        Row("list", "Web origins that may call the server from a browser; * is any.", None, (), "--allow-origin"),
    ] = ()
    certfile: Annotated[str | None, Row("file", "Certificate chain (PEM); switches TLS on.")] = None
    keyfile: Annotated[str | None, Row("file", "Private key (PEM), if the certificate's file does not hold it.")] = None
    legacy: Annotated[bool, Row("flag", "Whether clients of the 2025 revisions are served as well.")] = True
    log_level: Annotated[str, Row("text", "Least level of what is logged.", None, LOG_LEVELS)] = "info"

    keep_alive: Annotated[
        float, Row("seconds", "Time without an event after which a stream gets a comment line.", 0.01)
    ] = 15.0
    grace: Annotated[float, Row("seconds", "Time that running requests get to end when the server stops.", 0)] = 10.0
    write_deadline: Annotated[
        float, Row("seconds", "Time without progress after which a client that does not read is dropped.", 0.01)
    ] = 30.0
    body_deadline: Annotated[float, Row("seconds", "Time in which the body of a request must arrive.", 0.01)] = 30.0
    idle_timeout: Annotated[
        float, Row("seconds", "Time after which a connection without a request is closed.", 0.01)
    ] = 60.0
    tls_handshake: Annotated[float, Row("seconds", "Time in which a TLS handshake must be done.", 0.01)] = 10.0
    tool_timeout: Annotated[
        float | None, Row("seconds", "Time that a tool may take; a tool's own timeout comes first.", 0.001)
    ] = None
    token_age: Annotated[float, Row("seconds", "Age at which a sealed token (cursor, state) expires.", 1)] = 1200.0
    conversation_age: Annotated[
        float, Row("seconds", "Time that a suspended worker waits for the client's answer.", 1)
    ] = 600.0
    conversations: Annotated[
        int, Row("count", "Suspended workers that may wait so; above that the oldest is ended.", 1)
    ] = 1000
    session_age: Annotated[float, Row("seconds", "Age at which a session of a 2025 client expires.", 1)] = 86400.0

    max_body: Annotated[int, Row("bytes", "Largest body of a request.", 1)] = 4 * 2**20
    max_header: Annotated[int, Row("bytes", "Largest head of a request.", 1024)] = 64 * 2**10
    live_workers: Annotated[int, Row("count", "Requests that may run at once; more are answered 503.", 1)] = 10_000
    mailbox: Annotated[int, Row("count", "Messages that a worker's mailbox holds.", 1)] = 1000
    outbox: Annotated[int, Row("count", "Events that wait for a slow client before its worker has to.", 1)] = 64
    threads: Annotated[int, Row("count", "Threads for tools written as plain functions.", 1)] = 40
    thread_queue: Annotated[
        int, Row("count", "Calls that may wait for a thread; more are told that the server is busy.", 0)
    ] = 100
    slow_step: Annotated[
        float,
        Row("seconds", "Time for which a handler may hold the loop before the log names it; 0 watches nothing.", 0),
    ] = 0.25
    backlog: Annotated[int, Row("count", "Connections that the kernel holds until they are accepted.", 1)] = 4096

    def __post_init__(self) -> None:
        """Refuse what the table does not allow, whoever made the settings."""
        for row in TABLE:
            value = getattr(self, row.name)
            try:
                if value is not None:
                    row.check(value)
            except SettingsError as error:
                raise SettingsError(f"{row.name}: {error}") from None
        if self.port > 65535:
            raise SettingsError(f"port: {self.port} is too large: the greatest is 65535")
        if not self.path.startswith("/"):
            raise SettingsError(f"path: {self.path!r} must start with a slash, for example /mcp")
        if self.keyfile and not self.certfile:
            raise SettingsError("keyfile: a key without a certificate; give certfile as well")

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Settings":
        """Read the settings that ``GENMCP_…`` variables give; all others keep their defaults.

        Args:
            environ: Usually ``os.environ``. Empty values of settings that cannot be empty are refused.

        Raises:
            SettingsError: A value cannot be read or is out of bounds; the text names the variable.
        """
        return cls.from_texts({row.name: (row.env, environ[row.env]) for row in TABLE if row.env in environ})

    @classmethod
    def from_texts(cls, texts: Mapping[str, tuple[str, str]]) -> "Settings":
        """Make settings from texts: setting name → (where the text came from, the text).

        Raises:
            SettingsError: As `from_environ`; the text names where the value came from.
        """
        values: dict[str, object] = {}
        for row in TABLE:
            if row.name in texts:
                source, text = texts[row.name]
                try:
                    values[row.name] = row.parse(text)
                except SettingsError as error:
                    raise SettingsError(f"{source}: {error}") from None
        try:
            return msgspec.convert(values, cls)
        except msgspec.ValidationError as error:
            raise SettingsError(str(error)) from None


def _some_text(text: str) -> str:
    if not text:
        raise ValueError(text)
    return text


_READ: Mapping[str, typing.Callable[[str], object]] = {
    "text": _some_text,
    "file": _some_text,
    "flag": lambda text: {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}[text.lower()],
    "list": lambda text: tuple(part for part in (part.strip() for part in text.split(",")) if part),
    "count": lambda text: int(text.replace(",", "").replace("_", "")),
    "seconds": read_seconds,
    "bytes": read_bytes,
}


def _make_table() -> tuple[Setting, ...]:
    hints = typing.get_type_hints(Settings, include_extras=True)
    table = []
    for field in msgspec.structs.fields(Settings):
        annotated, row = typing.get_args(hints[field.name])
        table.append(
            Setting(
                name=field.name,
                kind=row.kind,
                default=field.default,
                option=row.option or "--" + field.name.replace("_", "-"),
                env="GENMCP_" + field.name.upper(),
                help=row.help,
                minimum=row.minimum,
                choices=row.choices,
                optional=type(None) in typing.get_args(annotated),
            )
        )
    return tuple(table)


TABLE: tuple[Setting, ...] = _make_table()
"""All settings, in the order of the docs."""

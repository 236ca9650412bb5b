"""The runtime's own messages, and messages that can also arrive as JSON.

Inside a node any object is a message and goes by reference. `@message` gives a frozen msgspec Struct a
tag, so that `{"type": tag, ...}` from the registry API, a shell or another node becomes that struct.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, TypeVar, overload

import msgspec

from actors.address import Pid, Ref
from actors.errors import MessageError
from actors.exits import ExitReason

StructT = TypeVar("StructT", bound=type[msgspec.Struct])


class Delivery(enum.Enum):
    """What became of a message that was sent."""

    DELIVERED = "delivered"  # it is in the mailbox
    GONE = "gone"  # no such actor
    FULL = "full"  # the mailbox holds as many messages as it may; the message was not put in
    QUEUED = "queued"  # sent from another thread: the node's thread will deliver it in its turn


class Down(msgspec.Struct, frozen=True):
    """A monitored actor has ended. Exactly one arrives for each monitor.

    Attributes:
        ref: What `monitor` returned.
        pid: Who ended; the name that was given to `monitor` when nobody had it.
        reason: Why; `NoProcess` if it had ended before the monitor was set.
    """

    ref: Ref
    pid: Pid | str
    reason: ExitReason


class Cast(msgspec.Struct, frozen=True):
    """A request that wants no reply.

    Attributes:
        request: What was asked.
    """

    request: Any


_types: dict[str, type[msgspec.Struct]] = {}
_tags: dict[type, str] = {}


@overload
def message(struct: StructT, /) -> StructT: ...
@overload
def message(tag: str, /) -> Callable[[StructT], StructT]: ...
def message(struct_or_tag: Any, /) -> Any:
    """Register a frozen msgspec Struct as a message that may arrive as JSON.

    Use it bare, or with a tag: `@message("job.finished")`. The default tag is the class name.

    Args:
        struct_or_tag: The Struct class, or the tag for the one that follows.

    Returns:
        The class itself, or a decorator.

    Raises:
        TypeError: Not a frozen Struct, or one with a field or a tag that `type` would hide.
        ValueError: Another class has the tag.
    """
    if isinstance(struct_or_tag, str):
        return lambda struct: _register(struct_or_tag, struct)
    return _register(getattr(struct_or_tag, "__name__", ""), struct_or_tag)


def _register(tag: str, struct: Any) -> Any:
    if not (isinstance(struct, type) and issubclass(struct, msgspec.Struct) and struct.__struct_config__.frozen):
        raise TypeError(f"@message takes a msgspec.Struct with frozen=True, not {struct!r}: actors share messages")
    if "type" in struct.__struct_encode_fields__ or struct.__struct_config__.tag is not None:
        raise TypeError(f"{struct.__name__}: the JSON member 'type' carries the message's tag; rename the field or tag")
    other = _types.get(tag)
    if other is not None and (other.__module__, other.__qualname__) != (struct.__module__, struct.__qualname__):
        raise ValueError(f"the message tag {tag!r} belongs to {other.__module__}.{other.__qualname__}")
    _types[tag] = struct
    _tags[struct] = tag
    return struct


def decode_message(value: object) -> object:
    """Turn a decoded JSON value into a message.

    Args:
        value: What a JSON decoder gave.

    Returns:
        The registered struct if `value` is an object whose `type` is a registered tag, else `value` itself.
        A field of type `Pid` is read from its string form.

    Raises:
        MessageError: The tag is registered and the fields are wrong, missing or unknown; the text names one.
    """
    if not isinstance(value, dict):
        return value
    tag = value.get("type")
    struct = _types.get(tag) if isinstance(tag, str) else None
    if struct is None:
        return value
    fields = {name: field for name, field in value.items() if name != "type"}
    for name in fields:
        if name not in struct.__struct_encode_fields__:
            raise MessageError(f"message {tag!r} has no field `{name}`")
    try:
        return msgspec.convert(fields, struct, dec_hook=_decode_field)
    except msgspec.ValidationError as error:
        raise MessageError(f"message {tag!r}: {error}") from error


def encode_message(value: object) -> object:
    """Turn a message into plain JSON values; the inverse of `decode_message`.

    Args:
        value: A registered struct, or anything msgspec can encode.

    Returns:
        Dicts, lists and scalars; for a registered struct with its tag as `type`.

    Raises:
        TypeError: A part of it has no JSON form.
    """
    plain = msgspec.to_builtins(value, enc_hook=_encode_field)
    tag = _tags.get(type(value))
    return plain if tag is None else {"type": tag, **plain}


def _decode_field(wanted: type, value: Any) -> Any:
    if wanted is Pid and isinstance(value, str):
        return Pid.parse(value)
    raise ValueError(f"Expected `{wanted.__name__}`, got `{type(value).__name__}`")


def _encode_field(value: Any) -> Any:
    if isinstance(value, Pid):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")

"""What every message struct has in common: camelCase on the wire, nothing sent that is not set, nothing lost.

Every object of the protocol is open: members that this revision does not define are kept in `extra` and sent again.
msgspec drops unknown members, so `decode_as` looks at each object once more (two set comparisons for a `tools/call`),
and `encode` looks for the wire name of `extra`, which no sane message contains, in the finished bytes:
only when it is found is the message built the slow way.
"""

import abc
import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, get_args, get_origin, overload

import msgspec
from msgspec import UNSET, UnsetType, field

from genmcp.mcp.errors import InvalidParams
from genmcp.mcp.problems import describe, kind_of

T = TypeVar("T")

EXTRA = "\uffffextra"  # begins with a noncharacter: nobody's member, and if it is, then the slow way writes it
_EXTRA_ON_THE_WIRE = f'"{EXTRA}":'.encode()
_EXTRA_FIRST_BYTE = _EXTRA_ON_THE_WIRE[1:2]
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()


class Model(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True, rename="camel"):
    """The base of all message structs.

    Attributes:
        extra: the members that the protocol does not define, by wire name. Not trustworthy, but never lost.
    """

    extra: dict[str, Any] | UnsetType = field(default=UNSET, name=EXTRA)


class Either(abc.ABC):  # noqa: B024 - it has members that are registered, and no methods
    """At run time, a union whose structs differ in a member rather than in a tag; see `either`."""


_CHOOSERS: dict[type[Either], Callable[[dict[str, Any]], type[Model]]] = {}


def either(choose: Callable[[dict[str, Any]], type[Model]], *members: type[Model]) -> Any:
    """Return a field type for structs that msgspec cannot tell apart, because they have no tag.

    Type checkers are shown the plain union instead.

    Args:
        choose: picks the struct for a JSON object.
        members: the structs that `choose` may return.
    """

    class Chosen(Either):
        pass

    for member in members:
        Chosen.register(member)  # msgspec checks that what the hook returns is an instance of the field's type
    _CHOOSERS[Chosen] = choose
    return Chosen


def _decode_either(kind: Any, raw: Any) -> Any:
    if kind not in _CHOOSERS:
        raise TypeError(f"{kind} is no message type")
    if type(raw) is not dict:
        raise ValueError(f"Expected `object`, got `{kind_of(raw)}`")
    try:
        return msgspec.convert(raw, _CHOOSERS[kind](raw), dec_hook=_decode_either)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None  # msgspec adds the outer path to a ValueError only


@overload
def decode_as(kind: type[T], raw: Any, *, where: str = "") -> T: ...
@overload
def decode_as(kind: Any, raw: Any, *, where: str = "") -> Any: ...
def decode_as(kind: Any, raw: Any, *, where: str = "") -> Any:
    """Turn decoded JSON into a struct (or list, dict or union of structs), keeping unknown members.

    Args:
        kind: the type, e.g. `CallToolResult` or `list[Tool]`.
        raw: what the JSON parser returned.
        where: the path of `raw` in its message, for the error text.

    Raises:
        InvalidParams: the value does not fit; the text names the path and what was expected.
    """
    try:
        value = msgspec.convert(raw, kind, dec_hook=_decode_either)
    except msgspec.ValidationError as error:
        raise InvalidParams(describe(str(error), raw, where)) from None
    _keep_unknown(value, raw)
    return value


def _keep_unknown(value: Any, raw: Any) -> None:
    """Walk a decoded value next to its JSON and put what no field took into `extra`."""
    if isinstance(value, Model):
        known, nested = _SHAPES.get(type(value)) or _shape(type(value))
        if not raw.keys() <= known:
            unknown = {name: raw[name] for name in raw if name not in known}
            msgspec.structs.force_setattr(value, "extra", unknown)
        for attribute, name in nested:
            inner = raw.get(name)
            if inner is not None:
                _keep_unknown(getattr(value, attribute), inner)
    elif isinstance(value, list):
        for item, inner in zip(value, raw, strict=True):
            _keep_unknown(item, inner)
    elif isinstance(value, dict):
        for name, item in value.items():
            _keep_unknown(item, raw[name])


_Shape = tuple[frozenset[str], tuple[tuple[str, str], ...]]
_SHAPES: dict[type, _Shape] = {}


@functools.cache
def _fields(kind: type[Model]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)


def _shape(kind: type[Model]) -> _Shape:
    """Return the wire names of a struct, and which of its fields hold structs themselves."""
    fields = [item for item in _fields(kind) if item.encode_name != EXTRA]
    known = {item.encode_name for item in fields}
    if kind.__struct_config__.tag_field:
        known.add(kind.__struct_config__.tag_field)
    nested = tuple((item.name, item.encode_name) for item in fields if _holds_structs(item.type))
    return _SHAPES.setdefault(kind, (frozenset(known), nested))


def _holds_structs(kind: Any) -> bool:
    origin = get_origin(kind) or kind
    if isinstance(origin, type) and issubclass(origin, Model | Either):
        return True
    return any(_holds_structs(part) for part in get_args(kind))


def encode(message: Any) -> bytes:
    """Return a message as JSON bytes: None and UNSET fields left out, unknown members put back.

    Raises:
        TypeError: some value inside is not JSON and cannot be made JSON.
        UnicodeEncodeError: a text has a lone surrogate, which UTF-8 cannot express.
    """
    data = _encoder.encode(message)
    # One byte is searched for much faster than the whole name: 1 MB of ASCII costs 20 µs instead of 600 µs.
    if _EXTRA_FIRST_BYTE in data and _EXTRA_ON_THE_WIRE in data:
        return _encoder.encode(_spell_out(message))
    return data


def to_plain(value: Any) -> Any:
    """Return any value as what its JSON decodes to: dicts, lists and scalars.

    Raises:
        TypeError: some value inside is not JSON and cannot be made JSON.
        UnicodeEncodeError: a text has a lone surrogate.
    """
    return _decoder.decode(encode(value))


def to_dict(message: Model) -> dict[str, Any]:
    """Return a message as the dict that its JSON decodes to; raises as `to_plain` does."""
    plain: dict[str, Any] = to_plain(message)
    return plain


def _spell_out(value: Any) -> Any:
    """Put unknown members back in their places: the slow way of `encode`, for what has some."""
    if isinstance(value, Model):
        return dict(_members(value))
    if isinstance(value, dict):
        return {name: _spell_out(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_spell_out(item) for item in value]
    return value


def _members(message: Model) -> Iterator[tuple[str, Any]]:
    """Yield what the encoder would write: see `omit_defaults` of msgspec for what it leaves out."""
    config = message.__struct_config__
    if config.tag_field:
        yield config.tag_field, config.tag
    for item in _fields(type(message)):
        value = getattr(message, item.name)
        if value is UNSET or (value is None and item.default is None) or (value == {} and item.default_factory is dict):
            continue
        if item.encode_name == EXTRA:
            yield from _spell_out(value).items()
        else:
            yield item.encode_name, _spell_out(value)

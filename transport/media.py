"""What `Accept` and `Content-Type` say, as far as it matters here. Pure; results are remembered by value."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

JSON = "application/json"
EVENT_STREAM = "text/event-stream"


class Accepted(NamedTuple):
    """Which of the two forms of an answer a client takes."""

    json: bool
    stream: bool


@lru_cache(maxsize=256)
def accepted(accept: bytes | None) -> Accepted:
    """Read `Accept`. A missing or empty header takes both."""
    if not accept:
        return Accepted(json=True, stream=True)
    ranges = dict(_media_range(part) for part in accept.decode("latin-1").split(","))
    return Accepted(json=_takes(ranges, JSON), stream=_takes(ranges, EVENT_STREAM))


@lru_cache(maxsize=256)
def is_json(content_type: bytes | None) -> bool:
    """Say whether a body is declared as JSON; parameters such as `charset` are ignored."""
    return content_type is not None and content_type.partition(b";")[0].strip().lower() == JSON.encode()


def _media_range(part: str) -> tuple[str, bool]:
    """Return a media range and whether its quality is above zero."""
    name, *parameters = part.split(";")
    wanted = True
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip().lower() == "q":
            wanted = not _is_zero(value.strip())
    return name.strip().lower(), wanted


def _is_zero(quality: str) -> bool:
    return quality != "" and quality.strip("0.") == ""


def _takes(ranges: dict[str, bool], media_type: str) -> bool:
    """Let the most specific range decide."""
    for name in (media_type, media_type.partition("/")[0] + "/*", "*/*"):
        if name in ranges:
            return ranges[name]
    return False

"""What the other topics are made of: scalars, icons, implementation info, and the shapes of requests and results."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar, Literal, TypeAlias

from msgspec import field

from genmcp.mcp.model import Model

RequestId: TypeAlias = str | int
ProgressToken: TypeAlias = str | int
Cursor: TypeAlias = str
Role: TypeAlias = Literal["user", "assistant"]
ResultType: TypeAlias = str
CacheScope: TypeAlias = Literal["public", "private"]
LoggingLevel: TypeAlias = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

JSONValue: TypeAlias = Any
JSONObject: TypeAlias = dict[str, Any]
JSONArray: TypeAlias = list[Any]
MetaObject: TypeAlias = dict[str, Any]


# msgspec leaves a field out when its value is the default. What must always be on the wire has a factory instead.


def _version() -> Literal["2.0"]:
    return "2.0"


def _complete() -> str:
    return "complete"


def _private() -> CacheScope:
    return "private"


def _no_meta() -> MetaObject:
    return {}


def _zero() -> int:
    return 0


class Icon(Model, frozen=True):
    """An icon that a client can show (base protocol, icons).

    Attributes:
        src: an http(s) or `data:` URI.
        mime_type: overrides the type that the source states.
        sizes: such as `"48x48"`, or `"any"`.
        theme: the background that the icon is made for.
    """

    src: str
    mime_type: str | None = None
    sizes: Sequence[str] | None = None
    theme: Literal["light", "dark"] | None = None


class Icons(Model, frozen=True):
    """The icons of anything that has them."""

    icons: Sequence[Icon] | None = None


class BaseMetadata(Model, frozen=True):
    """A name for programs and a title for people."""

    name: str
    title: str | None = None


class Implementation(Model, frozen=True):
    """Who a server or client says it is. For display and logs; never a reason to trust or to behave otherwise."""

    name: str
    version: str
    title: str | None = None
    description: str | None = None
    website_url: str | None = None
    icons: Sequence[Icon] | None = None


class Annotations(Model, frozen=True):
    """Hints on whom a piece of content is for, how much it matters (0 to 1) and when it was changed (ISO 8601).

    Raises:
        ValueError: A hint is none of these.
    """

    audience: Sequence[Role] | None = None
    priority: float | None = None
    last_modified: str | None = None

    def __post_init__(self) -> None:
        """Refuse at the author what clients would drop (R-20)."""
        if self.audience is not None and not {*self.audience} <= {"user", "assistant"}:
            raise ValueError(f"audience: expected 'user' or 'assistant', got {self.audience!r}")
        if self.priority is not None and not 0 <= self.priority <= 1:
            raise ValueError(f"priority: expected 0 to 1, got {self.priority!r}")
        if self.last_modified is not None:
            datetime.fromisoformat(self.last_modified)


class RequestParams(Model, frozen=True, kw_only=True):
    """The parameters that every request has.

    Attributes:
        meta: `_meta` as it came, all keys kept; the `meta_…` functions read the protocol's own.
    """

    meta: MetaObject = field(default_factory=_no_meta, name="_meta")


class PaginatedRequestParams(RequestParams, frozen=True, kw_only=True):
    """Parameters of a list: the cursor of the last page, or None for the first. `""` is a cursor like any other."""

    cursor: Cursor | None = None


class NotificationParams(Model, frozen=True, kw_only=True):
    """The parameters that every notification may have."""

    meta: MetaObject | None = field(default=None, name="_meta")


class RequestMessage(Model, frozen=True, kw_only=True, tag_field="method"):
    """The base of every request that a client sends; `method` is known by the class."""

    method: ClassVar[str]
    id: RequestId
    jsonrpc: Literal["2.0"] = field(default_factory=_version)


class NotificationMessage(Model, frozen=True, kw_only=True, tag_field="method"):
    """The base of every notification; `method` is known by the class."""

    method: ClassVar[str]
    jsonrpc: Literal["2.0"] = field(default_factory=_version)


class Result(Model, frozen=True, kw_only=True):
    """The base of every result, and the result that has nothing to say.

    Attributes:
        result_type: `"complete"`, `"input_required"`, or a value of an extension that the server advertises.
        meta: `_meta`.
    """

    result_type: ResultType = field(default_factory=_complete)
    meta: MetaObject | None = field(default=None, name="_meta")


EmptyResult: TypeAlias = Result


class PaginatedResult(Result, frozen=True, kw_only=True):
    """A page; without `next_cursor` it is the last one."""

    next_cursor: Cursor | None = None


class CacheableResult(Result, frozen=True, kw_only=True):
    """A result that a client may keep for `ttl_ms` milliseconds, for itself or (`public`) for everybody.

    Raises:
        ValueError: A hint is none of these.
    """

    ttl_ms: int = field(default_factory=_zero)
    cache_scope: CacheScope = field(default_factory=_private)

    def __post_init__(self) -> None:
        """Refuse at the author what no client could follow (K-02, K-03)."""
        if type(self.ttl_ms) is not int or self.ttl_ms < 0:
            raise ValueError(f"ttl_ms: expected a number of milliseconds, got {self.ttl_ms!r}")
        if self.cache_scope not in ("public", "private"):
            raise ValueError(f"cache_scope: expected 'public' or 'private', got {self.cache_scope!r}")


class ListResult(CacheableResult, frozen=True, kw_only=True):
    """A page that may be kept: what the four lists share. Not a definition of the schema."""

    next_cursor: Cursor | None = None


class PaginatedRequest(Model, frozen=True, kw_only=True):
    """A request for a page of any list; the four list requests are structs of their own."""

    method: str
    id: RequestId
    params: PaginatedRequestParams
    jsonrpc: Literal["2.0"] = field(default_factory=_version)

"""Functions as resources: the decorator `resource`.

    @resource("config://app", mime_type="application/json")
    async def config() -> str:
        "The configuration."
        return await read_config()

    @resource("users://{id}/posts{?tag}")
    def posts(id: int, tag: str | None = None) -> str:
        "The posts of a user."

A URI without variables is one resource, and listed; with variables it is a template, listed as such, and each variable
is a parameter of that name: a text, or what one can be converted to. A variable that may be absent needs a default.
A parameter annotated `Channel` (in `async def`) or `SyncChannel` (in `def`, which runs in a thread) is injected. The
returns are those of `ResourceRepo.read`.

    @posts.completion("tag")
    async def tags(value: str) -> list[str]:
        return [tag for tag in TAGS if tag.startswith(value)]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

from genmcp.channel import Channel
from genmcp.errors import ConfigurationError, ResourceNotFound
from genmcp.mcp import v2607 as mcp
from genmcp.suite.completion import Completers
from genmcp.suite.contract import CacheHint, check_meta
from genmcp.suite.handler import Handler, Unfit
from genmcp.suite.page import Page
from genmcp.suite.provider import Provider
from genmcp.suite.resource import SCHEME, Readable, ResourceRepo
from genmcp.suite.uri_pattern import tokenize

P = ParamSpec("P")
R = TypeVar("R")
FnT = TypeVar("FnT", bound=Callable[..., Any])


class FunctionResource(ResourceRepo, Generic[P, R]):
    """A function that is a resource or a template; made by `resource`. Calling it calls the function."""

    def __init__(
        self,
        fn: Callable[P, R],
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        size: int | None = None,
        icons: Sequence[mcp.Icon] = (),
        annotations: mcp.Annotations | None = None,
        meta: dict[str, Any] | None = None,
        cache: CacheHint = ("private", 0),
    ) -> None:
        self.fn = fn
        self.uri = uri
        self.cache = cache
        self._handler = Handler(fn, self.label)
        self._completers = Completers(self.label)
        about: dict[str, Any] = {
            "name": name if name is not None else getattr(fn, "__name__", type(fn).__name__),
            "title": title,
            "description": description if description is not None else self._handler.description,
            "mime_type": mime_type,
            "icons": list(icons) or None,
            "annotations": annotations,
            "meta": meta,
        }
        check_meta(meta, self.label)
        self._description: str | None = about["description"]
        self.resource: mcp.Resource | None = None
        if "{" in uri or "}" in uri:
            self._become_template(about, size)
        else:
            self._exact = uri
            self.resource = mcp.Resource(uri, size=size, **about)
        self._check_parameters()
        self._completers.describe(self._handler)

    def _become_template(self, about: dict[str, Any], size: int | None) -> None:
        if size is not None:
            raise ConfigurationError(f"{self.label}: size: a template has none, only a resource has")
        self.template = mcp.ResourceTemplate(self.uri, **about)
        assert self.uri_template is not None  # made from the text
        self.prefix = self.uri_template.prefix
        self._is_pattern = True

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself, as in a unit test."""
        return self.fn(*args, **kwargs)

    @property
    def label(self) -> str:
        """What the log and start-up errors call it."""
        return f"resource {self.uri!r}"

    def completion(self, variable: str, /) -> Callable[[FnT], FnT]:
        """Decorate a function that suggests values for a variable; see `genmcp.suite.completion`.

        Raises:
            ConfigurationError: The template has no such variable, or the function asks for what there is not.
        """
        return self._completers.decorator(variable)

    async def list(self, cursor: str | None, channel: Channel, /) -> Page[mcp.Resource]:
        """Return the one resource; a template lists none."""
        del cursor, channel
        return Page(() if self.resource is None else (self.resource,))

    async def read(self, uri: str, variables: Mapping[str, str], channel: Channel, /) -> Readable:
        """Bind the variables and run the function; a text that its parameter does not take is no resource."""
        try:
            arguments = self._handler.bind(variables)
        except Unfit:
            raise ResourceNotFound(uri) from None
        value: Readable = await self._handler.run(arguments, channel)
        return value

    async def complete(
        self, argument: str, value: str, context: Mapping[str, str], channel: Channel, /
    ) -> Sequence[str] | mcp.Completion:
        """Ask the function that was registered with `completion`."""
        return await self._completers.complete(argument, value, context, channel)

    @property
    def completes(self) -> bool:
        """True if a variable has a completion function, or takes a few values only."""
        return bool(self._completers)

    @property
    def mime_type(self) -> str | None:
        """What it says that its contents are."""
        return super().mime_type if self.resource is None else self.resource.mime_type

    def owns(self, name: str, /) -> bool:
        """Tell whether it is this resource, or the template matches."""
        return super().owns(name) if self.uri_template is None else self.uri_template.match(name) is not None

    @property
    def key(self) -> str:
        """The URI or the template."""
        return self.uri

    def _check(self) -> None:
        if not SCHEME.match(self.uri) or (self._exact is not None and tokenize(self.uri) is None):
            raise ConfigurationError(f"{self.label}: expected a URI with a scheme, as in 'config://app'")
        if self._exact is None:
            super()._check()

    def _disappointments(self) -> Sequence[str]:
        missing = f"{self.label}: no description, so people have only the name to go by; write a docstring"
        return [] if self._description else [missing]

    def _check_parameters(self) -> None:
        """Refuse a parameter that no variable fills, and a variable that nothing takes or may be missing."""
        template, parameters = self.uri_template, self._handler.parameters
        names = template.names if template is not None else ()
        for name in self._handler.required:
            if name not in names:
                raise ConfigurationError(f"{self.label}: parameter {name!r} is no variable of the URI")
            if template is not None and name in template.optional:
                raise ConfigurationError(
                    f"{self.label}: parameter {name!r} needs a default, because the URI may come without it"
                )
        for name in names:
            if name not in parameters:
                raise ConfigurationError(f"{self.label}: variable {name!r} is no parameter of the function")

    def _precedes(self, other: Provider) -> bool:
        """Tell whether this template must be asked before another one with an equal prefix: it is more special."""
        theirs = other.uri_template if isinstance(other, FunctionResource) else None
        if self.uri_template is None or theirs is None:
            return True  # a repository takes what templates leave over
        wider, narrower = theirs.covers(self.uri_template), self.uri_template.covers(theirs)
        if wider and narrower:
            raise ConfigurationError(f"{self.label} and {other.label} match the same URIs")
        return wider

    def _shadows(self, other: Provider) -> bool:
        theirs = other.uri_template if isinstance(other, FunctionResource) else None
        return self.uri_template is not None and theirs is not None and self.uri_template.covers(theirs)


def resource(
    uri: str,
    /,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    mime_type: str | None = None,
    size: int | None = None,
    icons: Sequence[mcp.Icon] = (),
    annotations: mcp.Annotations | None = None,
    meta: dict[str, Any] | None = None,
    cache: CacheHint = ("private", 0),
) -> Callable[[Callable[P, R]], FunctionResource[P, R]]:
    """Make a resource, or a template of resources, of a function.

    Args:
        uri: The URI, or a template (RFC 6570, levels 1 to 3); see `genmcp.suite.uri_template`.
        name: Its name for programs; the default is the function's.
        title: Its name for people.
        description: What it is; the default is the docstring.
        mime_type: What its contents are; the default is `text/plain` or `application/octet-stream`, by what is read.
        size: Its size in bytes, of a resource without variables.
        icons: Icons for people.
        annotations: Whom it is for, how much it matters, when it was changed.
        meta: Its `_meta`, carried through as it is.
        cache: Cache hint for the list and for what is read.

    Returns:
        A decorator that makes a `FunctionResource`, to be given to `Suite(resources=[…])`.

    Raises:
        ConfigurationError: The URI or a parameter is wrong; it names the resource and what was expected.
    """
    options: dict[str, Any] = {
        "name": name,
        "title": title,
        "description": description,
        "mime_type": mime_type,
        "size": size,
        "icons": icons,
        "annotations": annotations,
        "meta": meta,
        "cache": cache,
    }
    return lambda fn: FunctionResource(fn, uri, **options)

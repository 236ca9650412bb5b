"""The behaviour of a resource repository: `ResourceRepo`.

Choose `@genmcp.resource` for a few resources or one template; subclass `ResourceRepo` for what is listed from
elsewhere: a directory, a database, an API. Requests are routed to the repository with the longest `prefix` that the
URI begins with; decorated resources come before all of them.

Lifecycle: one instance serves all requests. `list` answers `resources/list` page by page; for `resources/read` first
`parse_uri`, then `read`.

    class Docs(ResourceRepo):
        prefix = "docs://"
        template = "docs://{section}/{page}"

        async def list(self, cursor, channel, /):
            return Page([mcp.Resource("docs://guide/start", "Start")])

        async def read(self, uri, variables, channel, /):
            text = await database.page(variables["section"], variables["page"])
            if text is None:
                raise ResourceNotFound(uri)
            return text

| return of `read` | the client gets |
|---|---|
| `str` | one text content, `text/plain` unless the template says another MIME type |
| `bytes` | one binary content, `application/octet-stream` unless the template says another |
| contents, or a list of them | these: `mcp.resource_contents(…)` |
| `ReadResourceResult` | this |
| `InputRequired(requests, state)` | the questions; it is read again with the answers |
| raises `ResourceNotFound(uri)` | -32602 with `data.uri` |

(`GenMCP.Suite.ResourceRepo`; the protocol's page on resources.)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from genmcp.channel import Channel
from genmcp.errors import ConfigurationError, ResourceNotFound
from genmcp.mcp import v2607 as mcp
from genmcp.server import InputRequired
from genmcp.suite.contract import check_meta
from genmcp.suite.page import Page
from genmcp.suite.provider import Provider
from genmcp.suite.uri_pattern import tokenize
from genmcp.suite.uri_template import UriTemplate

Contents: TypeAlias = mcp.TextResourceContents | mcp.BlobResourceContents
"""One part of what a resource holds; `mcp.resource_contents` makes it."""

Readable: TypeAlias = mcp.ReadResourceResult | InputRequired | str | bytes | Contents | Sequence[Contents]
"""What `read` may return."""

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class ResourceRepo(Provider):
    """Base class of resource repositories; see the module for when to use it and its table of returns.

    Attributes:
        prefix: What its URIs begin with: `docs://`. The default is what its template begins with.
        template: A URI template (RFC 6570), as text or with everything that `resources/templates/list` shows.
        cache: Cache hint for its pages, and for what `read` returns without a hint of its own.
    """

    template: mcp.ResourceTemplate | str | None = None

    async def list(self, cursor: str | None, channel: Channel, /) -> Page[mcp.Resource]:
        """Return a page of resources; the default has none. Every URI begins with the prefix.

        Args:
            cursor: None for the first page, else the `next_cursor` of the page before.
            channel: The request's channel; `channel.meta` says who asks.
        """
        del cursor, channel
        return Page(())

    async def read(self, uri: str, variables: Mapping[str, str], channel: Channel, /) -> Readable:
        """Return what is in a resource. Every repository defines it; see the module's table of returns.

        Args:
            uri: The URI, as the client sent it.
            variables: What `parse_uri` found.
            channel: The request's channel.

        Raises:
            ResourceNotFound: There is no such resource, or the caller may not see it.
        """
        raise TypeError(f"{type(self).__name__} does not define `async def read(self, uri, variables, channel, /)`")

    async def may_subscribe(self, uri: str, channel: Channel, /) -> bool:
        """Tell whether the caller may be told of changes to a URI; asked when it subscribes, and before each update."""
        del uri, channel
        return True

    def parse_uri(self, uri: str, /) -> Mapping[str, str]:
        """Return what `read` gets as variables. The default matches the template; without one there are none.

        Raises:
            ResourceNotFound: The URI is none of this repository's.
        """
        if self.uri_template is None:
            return {}
        found = self.uri_template.match(uri)
        if found is None:
            raise ResourceNotFound(uri)
        return found

    async def complete(
        self, argument: str, value: str, context: Mapping[str, str], channel: Channel, /
    ) -> Sequence[str] | mcp.Completion:
        """Suggest values for a variable of the template. The default suggests nothing.

        Args:
            argument: The variable.
            value: What is typed of it.
            context: The variables that were filled in before.
            channel: The request's channel.

        Returns:
            The suggestions, the best first; of more than 100 the first 100 are sent, with the total.
        """
        del argument, value, context, channel
        return ()

    # -- for the Suite

    @property
    def uri_template(self) -> UriTemplate | None:
        """The template, compiled once.

        Raises:
            ConfigurationError: It is broken or ambiguous.
        """
        if self._uri_template is None and self.template is not None:
            text = self.template if isinstance(self.template, str) else self.template.uri_template
            self._uri_template = UriTemplate(text)
        return self._uri_template

    _uri_template: UriTemplate | None = None

    @property
    def described(self) -> mcp.ResourceTemplate | None:
        """The template as `resources/templates/list` shows it; a bare text gets the class's name and docstring."""
        if isinstance(self.template, str):
            own = type(self).__doc__
            description = None if own is None or own == ResourceRepo.__doc__ else own.strip().partition("\n\n")[0]
            return mcp.ResourceTemplate(self.template, type(self).__name__, description=description)
        return self.template

    @property
    def mime_type(self) -> str | None:
        """What the template says that contents are, for those that do not say it themselves."""
        return None if isinstance(self.template, str | None) else self.template.mime_type

    @property
    def completes(self) -> bool:
        """True if it suggests values for variables."""
        return type(self).complete is not ResourceRepo.complete

    def _check(self) -> None:
        if not self.prefix and self.uri_template is not None:
            self.prefix = self.uri_template.prefix
        if not SCHEME.match(self.prefix) or tokenize(self.prefix) is None:
            raise ConfigurationError(
                f"{self.label}: prefix: expected what its URIs begin with, scheme first, as in 'docs://', "
                f"got {self.prefix!r}"
            )
        template = self.uri_template
        if template is not None:
            if not template.prefix.startswith(self.prefix) and not self.prefix.startswith(template.prefix):
                raise ConfigurationError(
                    f"{self.label}: template: {template.text!r} never begins with the prefix {self.prefix!r}"
                )
            check_meta(self.described.meta if self.described else None, self.label)

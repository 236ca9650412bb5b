"""The front: a Quart-Trio application in which MCP endpoints are served past Quart.

Health, the registry API and pages are ordinary Quart routes. An MCP endpoint is an ASGI application that `asgi_app`
hands the request to before Quart makes anything of it: that costs 0.2 µs a request, where a route costs about as much
as the whole endpoint, and it keeps Quart's `RESPONSE_TIMEOUT` (60 s) away from streams. `mount` does the same for
somebody else's Quart application.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, cast

from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope
from quart import Blueprint, Response, jsonify, request
from quart.wrappers.base import BaseRequestWebsocket
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException
from werkzeug.routing import MapAdapter

from genmcp.mcp import Code
from transport.asgi import Send
from transport.policy import HostPolicy, OriginPolicy
from transport.refusal import Refusal, foreign_host, foreign_origin, no_such_path, refuse_websocket

__all__ = ["Front", "Mount", "mount"]

AsgiApp = Callable[..., Awaitable[None]]
"""An ASGI application, whichever names its types have."""

HEALTH = ("/health/live", "/health/ready")


class Front(QuartTrio):
    """The application that `transport.serve` runs.

    `/health/live` answers 200 as long as the process answers at all; `/health/ready` answers 503 from the moment
    the server stops accepting (user demand N2). Both are exempt from the check of `Host`, because a probe
    calls an address, under whatever name.

    Args:
        hosts: Which `Host` headers the Quart routes accept; MCP endpoints check for themselves.
        origins: Which `Origin` headers they accept.
        max_body: Largest body of a Quart route, in bytes.
        body_deadline: Seconds in which the body of a Quart route must arrive.

    Attributes:
        ready: False while the server drains.
        mounts: The MCP endpoints by path.
    """

    def __init__(
        self,
        *,
        hosts: HostPolicy,
        origins: OriginPolicy,
        max_body: int | None = None,
        body_deadline: float | None = None,
    ) -> None:
        super().__init__("genmcp", static_folder=None)
        self.ready = True
        self.mounts: dict[str, AsgiApp] = {}
        self._hosts = hosts
        self._origins = origins
        self.url_map.merge_slashes = False  # it answers with a redirect, to a host that the request says
        self.config.update(RESPONSE_TIMEOUT=None, BODY_TIMEOUT=body_deadline, MAX_CONTENT_LENGTH=max_body)
        self.before_request(self._check_caller)
        self.register_error_handler(HTTPException, self._refuse)
        self.register_blueprint(self._health())

    def mount(self, path: str, endpoint: AsgiApp) -> None:
        """Serve `endpoint` at `path` (and at `path` with a slash behind it), past Quart.

        Raises:
            ValueError: Something is served there already.
        """
        for alias in aliases(path):
            if alias in self.mounts:
                raise ValueError(f"two servers at {alias}; give each a path of its own: serve((path, server), …)")
            self.mounts[alias] = endpoint

    async def asgi_app(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Hand a request to the endpoint at its path, or to Quart."""
        if scope["type"] == "http":
            endpoint = self.mounts.get(scope["path"])
            if endpoint is not None:
                await endpoint(scope, receive, send)
                return
        elif scope["type"] == "websocket":  # there is no route for one, and Quart's refusal would be a fault of ours
            await refuse_websocket(cast("dict[str, Any]", scope), receive, cast("Send", send))
            return
        await super().asgi_app(scope, receive, send)

    def create_url_adapter(self, request: BaseRequestWebsocket | None) -> MapAdapter | None:
        """Route by the path alone: a `Host` that is no host name is refused with 421, not a fault of werkzeug's."""
        if request is None:
            return super().create_url_adapter(request)
        query = request.query_string.decode("latin-1")
        return self.url_map.bind(
            "localhost", request.root_path, None, request.scheme, request.method, request.path, query
        )

    async def _check_caller(self) -> Response | None:
        """Stop DNS rebinding on the Quart routes, by the same rules as the MCP endpoint's."""
        if request.path in HEALTH:
            return None
        host, origin = _header("Host"), _header("Origin")
        if not self._hosts.allows(host):
            return refused(foreign_host(host))
        if not self._origins.allows(origin, host):
            return refused(foreign_origin(origin))
        return None

    async def _refuse(self, error: HTTPException) -> Response:
        """Answer in JSON what Quart would answer in HTML, and say where MCP is when somebody missed it."""
        if error.code == 404 and self.mounts:
            served = " and ".join(path for path in self.mounts if path == "/" or not path.endswith("/"))
            return refused(no_such_path(request.path, served))
        allow = error.get_response().headers.get("Allow")
        headers = [] if allow is None else [(b"allow", allow.encode("latin-1"))]
        status = error.code or 500
        code = Code.INVALID_REQUEST if status < 500 else Code.INTERNAL_ERROR
        return refused(Refusal(status, error.description or error.name, headers, code=code))

    def _health(self) -> Blueprint:
        routes = Blueprint("health", __name__, url_prefix="/health")

        @routes.get("/live")
        async def live() -> Response:
            return answer(200, {"status": "live"})

        @routes.get("/ready")
        async def ready() -> Response:
            return answer(200, {"status": "ready"}) if self.ready else answer(503, {"status": "draining"})

        return routes


class Mount:
    """An ASGI application with an MCP endpoint in front of it: see `mount`."""

    def __init__(self, inner: AsgiApp, paths: Iterable[str], endpoint: AsgiApp) -> None:
        self._inner = inner
        self._paths = frozenset(paths)
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Answer one request."""
        if scope["type"] == "http" and scope["path"] in self._paths:
            await self._endpoint({**scope, "root_path": scope["path"]}, receive, send)
        else:
            await self._inner(scope, receive, send)


def mount(app: QuartTrio, path: str, endpoint: AsgiApp) -> None:
    """Serve an MCP endpoint at `path` of somebody else's Quart-Trio application, past its routes and time-outs."""
    wrapped = Mount(app.asgi_app, aliases(path), endpoint)
    app.asgi_app = wrapped  # type: ignore[method-assign]  # Quart documents this as the place of ASGI middleware


def aliases(path: str) -> tuple[str, ...]:
    """Return the paths that mean the same endpoint: with and without a slash at the end."""
    plain = "/" + path.strip("/")
    return (plain,) if plain == "/" else (plain, plain + "/")


def answer(status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """Make the JSON answer of a Quart route; it is never stored by a cache."""
    response = jsonify(body)
    response.status_code = status
    response.headers.update({"Cache-Control": "no-store", **(headers or {})})
    return response


def refused(refusal: Refusal) -> Response:
    """Make the answer to a request that no route takes: JSON-RPC, because MCP clients are who reads it."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in refusal.headers}
    return answer(refusal.status, {"jsonrpc": "2.0", "error": refusal.error.to_dict()}, headers)


def _header(name: str) -> bytes | None:
    value = request.headers.get(name)
    return None if value is None else value.encode("latin-1")

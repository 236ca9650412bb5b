"""The registry API: other programs send to workers and publish on topics over HTTP (api.md §5).

| request | body | answers |
|---|---|---|
| `POST /registry/send` | `{"to", "message"}` | 200 `delivered`, 202 `queued` (another node), 404 `gone`, 429 `full` |
| `POST /registry/publish` | `{"topic", "message"}` | 200 `delivered` with the number of `receivers` |
| `GET /registry/actors` | none | 200 with a list of `actors` |
| `DELETE /registry/actors/PID` | none | 200 `stopped`, 404 `gone` |

All answer 400 `invalid` to a body that is not what the table says, or to a message whose tag is registered and whose
fields are not those of its type; the `error` names the field. All answer 401 without the bearer token, on loopback
too: a local proxy makes every request from the Internet a loopback one.
"""

from __future__ import annotations

import hmac
from typing import Any, TypeVar

import msgspec
from quart import Blueprint, Response, request

from actors import ActorInfo, Delivery, MessageError, Node, Shutdown, decode_message
from genmcp.mcp import ParseError, jsonrpc
from transport.http import answer

__all__ = ["registry_routes"]

BodyT = TypeVar("BodyT", bound=msgspec.Struct)

STATUS = {Delivery.DELIVERED: 200, Delivery.QUEUED: 202, Delivery.GONE: 404, Delivery.FULL: 429}
STOPPED = Shutdown("stopped")


class Send(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `POST /registry/send`: `to` is a pid's string or a registered name."""

    to: str
    message: Any


class Publish(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `POST /registry/publish`."""

    topic: str
    message: Any


class InvalidBodyError(Exception):
    """What was posted is not what the table of this module says; the text is for its sender."""


def registry_routes(node: Node, token: str) -> Blueprint:
    """Make the routes of the registry API of a node.

    Args:
        node: Whose registry it is. System actors are neither listed nor reached.
        token: What callers must send as `Authorization: Bearer …`.
    """
    routes = Blueprint("registry", __name__, url_prefix="/registry")
    expected = token.encode()

    @routes.before_request
    async def authorize() -> Response | None:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        # Not `==`: the time that it takes tells how much of a guess was right.
        if scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), expected):
            return None
        error = "send the token as Authorization: Bearer …; python -m genmcp token prints it"
        return answer(401, {"status": "unauthorized", "error": error}, {"WWW-Authenticate": 'Bearer realm="registry"'})

    @routes.errorhandler(InvalidBodyError)
    async def invalid(error: InvalidBodyError) -> Response:
        return answer(400, {"status": "invalid", "error": str(error)})

    @routes.post("/send")
    async def send() -> Response:
        body = await _body(Send)
        delivery = node.registry.send(body.to, _message(body.message), external=True)
        return answer(STATUS[delivery], {"status": delivery.name.lower()})

    @routes.post("/publish")
    async def publish() -> Response:
        body = await _body(Publish)
        receivers = node.registry.publish(body.topic, _message(body.message))
        return answer(200, {"status": "delivered", "receivers": receivers})

    @routes.get("/actors")
    async def actors() -> Response:
        return answer(200, {"node": node.name, "actors": [_shown(info) for info in node.snapshot()]})

    @routes.delete("/actors/<path:address>")
    async def stop(address: str) -> Response:
        stopped = node.registry.stop(address, STOPPED, external=True)
        return answer(200, {"status": "stopped"}) if stopped else answer(404, {"status": "gone"})

    return routes


async def _body(kind: type[BodyT]) -> BodyT:
    data = await request.get_data()
    assert isinstance(data, bytes)
    try:
        return msgspec.convert(jsonrpc.parse(data), kind)
    except (ParseError, msgspec.ValidationError) as error:
        fields = " and ".join(f'"{name}"' for name in kind.__struct_fields__)
        raise InvalidBodyError(f"the body must be a JSON object with {fields}: {error}") from None


def _message(value: object) -> object:
    try:
        return decode_message(value)
    except MessageError as error:
        raise InvalidBodyError(str(error)) from None


def _shown(info: ActorInfo) -> dict[str, Any]:
    return {**msgspec.to_builtins(info, enc_hook=str), "age": round(info.age, 3)}

"""``python -m genmcp send``, ``publish`` and ``token``: the registry API of a running server, from a shell."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import click

from genmcp.address import Address
from genmcp.cli.options import settings_from, settings_options
from genmcp.cli.registry_client import RegistryClient, RegistryError
from genmcp.tokenfile import find_token, written_tokens

__all__ = ["publish", "send", "token"]

WHERE = ("host", "port", "admin", "certfile")


@click.command()
@click.argument("to", metavar="PID")
@click.argument("message", metavar="JSON")
@settings_options(WHERE)
def send(to: str, message: str, **given: Any) -> None:
    """Send a message to an actor of a running server.

    PID is the actor's address (pid:…) or its registered name. JSON is the message; - reads it from standard input.
    The message arrives as the JSON value, or as the type whose tag is its "type". The options say where the server
    listens, as they do for serve.

        python -m genmcp send pid:genmcp.k3f9a2.42 '"hello"'
    """
    _ask(given, "send", {"to": to, "message": _json(message)})
    click.echo("delivered")


@click.command()
@click.argument("topic")
@click.argument("message", metavar="JSON")
@settings_options(WHERE)
def publish(topic: str, message: str, **given: Any) -> None:
    """Publish a message to every actor of a running server that subscribed to TOPIC.

    JSON is the message; - reads it from standard input.

        python -m genmcp publish prices '{"type": "price", "symbol": "X", "value": 3}'
    """
    answer = _ask(given, "publish", {"topic": topic, "message": _json(message)})
    click.echo(f"delivered to {answer['receivers']}")


@click.command()
@settings_options(WHERE)
def token(**given: Any) -> None:
    """Print the token of a running server's registry API.

    curl -H "Authorization: Bearer $(python -m genmcp token)" http://127.0.0.1:8000/registry/actors
    """
    click.echo(_find(given)[1])


def _json(text: str) -> object:
    text = sys.stdin.read() if text == "-" else text
    try:
        return json.loads(text)
    except ValueError as error:
        hint = "" if text[:1] in '{["' else f"; a text needs quotes of its own: '{json.dumps(text)}'"
        raise click.BadParameter(f"not JSON: {error}{hint}", param_hint="JSON") from None


def _ask(given: dict[str, Any], action: str, body: object) -> dict[str, Any]:
    address, secret = _find(given)
    settings = settings_from(given)
    client = RegistryClient(address, secret, certfile=settings.certfile)
    try:
        return client.post(action, body)
    except RegistryError as error:
        raise click.ClickException(str(error)) from None


def _find(given: dict[str, Any]) -> tuple[Address, str]:
    """Return where the registry API listens and its token."""
    settings = settings_from(given)
    if settings.admin == "off":
        raise click.UsageError("--admin off: that server has no registry API")
    try:
        public = Address.of(settings.host, settings.port)
        address = public if settings.admin == "public" else Address.parse(settings.admin)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    secret = os.environ.get("GENMCP_ADMIN_TOKEN") or find_token(address)
    if secret is None and not any(given.get(name) for name in WHERE):
        running = written_tokens()
        if len(running) == 1:
            address, secret = running[0], find_token(running[0])
    if secret is None:
        raise click.ClickException(_not_found(address))
    return address, secret


def _not_found(address: Address) -> str:
    others = [str(other) for other in written_tokens() if other != address]
    known = f"; servers of this user: {', '.join(others)}" if others else ""
    return (
        f"no server of this user has its registry API at {address}{known}. Say where it is with --host, --port or "
        "--admin, or set GENMCP_ADMIN_TOKEN"
    )

"""A web shop in Quart-Trio with an MCP endpoint: a call waits until the shop's payment service calls a web hook.

    cd examples; hypercorn -k trio --bind 127.0.0.1:8000 shop:app

The route pushes a message at the worker by the name that it has registered. Another worker process of the web server
would not find it: run one, or keep the name and `str(channel.pid)` where all of them look.
"""

from typing import Any

import msgspec
from quart import request
from quart_trio import QuartTrio

import transport
from actors import AlreadyRegisteredError, Delivery, ReceiveTimeoutError
from genmcp import Channel, McpError, Suite, ToolError, tool

KEYS = {"letmein": "ann", "opensesame": "bea"}


class Paid(msgspec.Struct, frozen=True):
    amount: float


@tool(annotations={"openWorldHint": True})
async def wait_for_payment(order: str, channel: Channel, patience: float = 600) -> str:
    """Waits until an order of the caller's is paid.

    Args:
        order: The number of the order.
        patience: How many seconds to wait.
    """
    try:
        channel.registry.register(f"payment of {order}")
    except AlreadyRegisteredError:
        raise ToolError(f"somebody waits for the payment of {order} already") from None
    await channel.send_log("info", f"waiting for the payment of {order}")
    try:
        paid = await channel.receive(timeout=patience, match=Paid)
    except ReceiveTimeoutError:
        raise ToolError(f"{order} was not paid in {patience:g} s") from None
    return f"{order} was paid: {paid.amount:.2f}, {channel.meta.principal}"


def caller(scope: dict[str, Any]) -> str:
    """Say who calls, by an API key."""
    scheme, _, key = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1").partition(" ")
    if scheme.lower() != "bearer" or key not in KEYS:
        raise McpError(-32600, "send your API key as a bearer token", status=401)
    return KEYS[key]


suite = Suite(server_name="Shop", server_version="1", tools=[wait_for_payment])
site = QuartTrio(__name__)


@site.get("/")
async def index() -> str:
    return "The shop is open; its MCP endpoint is at /mcp"


@site.post("/paid/<order>")
async def paid(order: str) -> tuple[str, int]:
    amount = float((await request.get_json())["amount"])
    delivery = suite.registry.send(f"payment of {order}", Paid(amount))
    return ("thanks", 200) if delivery is Delivery.DELIVERED else ("nobody waits for it", 202)


transport.mount(site, "/mcp", transport.endpoint(suite, principal=caller))
app = transport.with_node(site, suite)

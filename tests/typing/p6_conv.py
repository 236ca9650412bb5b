import msgspec

from genmcp import Accepted, Channel, tool


class Confirm(msgspec.Struct):
    ok: bool


@tool
async def delete(path: str, channel: Channel) -> str:
    match await channel.elicit(f"Delete {path}?", Confirm):
        case Accepted(Confirm(ok=True)):
            return "deleted"
        case Accepted(value):
            return f"kept ({value.ok})"
        case other:
            return f"kept ({type(other).__name__})"

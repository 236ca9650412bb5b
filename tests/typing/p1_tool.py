from genmcp import Suite, tool


@tool(annotations={"readOnlyHint": True})
async def add(a: float, b: float) -> float:
    "Adds two numbers and returns the sum."
    return a + b


@tool
def up(text: str) -> str:
    return text.upper()


async def test_add() -> None:
    assert await add(1, 2) == 3
    assert up("x") == "X"


suite = Suite(server_name="Calc", server_version="1", tools=[add, up])

import pytest

from genmcp.address import Address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:8000", Address("127.0.0.1", 8000)),
        ("[::1]:9000", Address("::1", 9000)),
        ("example.org:0", Address("example.org", 0)),
        ("unix:/run/x.sock", Address(path="/run/x.sock")),
    ],
)
def test_text_and_address_are_one(text: str, address: Address) -> None:
    assert Address.parse(text) == address
    assert str(address) == text


@pytest.mark.parametrize("text", ["", "8000", "localhost", "localhost:", "localhost:http", "h:70000", "unix:", "h:٣"])
def test_text_that_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="unix:"):
        Address.parse(text)


@pytest.mark.parametrize(
    ("address", "url"),
    [
        (Address("127.0.0.1", 8000), "http://127.0.0.1:8000/mcp"),
        (Address("0.0.0.0", 8000), "http://127.0.0.1:8000/mcp"),
        (Address("::", 8000), "http://[::1]:8000/mcp"),
        (Address("example.org", 80), "http://example.org:80/mcp"),
        (Address(path="/run/x"), "unix:/run/x /mcp"),
    ],
)
def test_url_is_one_that_can_be_called(address: Address, url: str) -> None:
    assert address.url("/mcp") == url


def test_loopback_and_any_are_told_apart() -> None:
    assert Address("localhost", 1).is_loopback
    assert Address(path="/x").is_loopback
    assert not Address("0.0.0.0", 1).is_loopback
    assert Address("::", 1).is_any
    assert not Address("example.org", 1).is_any

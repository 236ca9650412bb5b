import base64

from click.testing import CliRunner

from genmcp.cli import main


def test_secret_is_32_random_bytes_in_base64() -> None:
    first, second = (CliRunner().invoke(main, ["secret"]).output.strip() for _ in range(2))
    assert len(base64.b64decode(first, validate=True)) == 32
    assert first != second

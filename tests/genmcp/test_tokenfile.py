import os
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from genmcp.address import Address
from genmcp.tokenfile import TokenFile, TokenFileError, find_token, make_token, runtime_dir, written_tokens

HERE = Address("127.0.0.1", 8000)


@pytest.fixture
def environ(tmp_path: Path) -> Mapping[str, str]:
    return {"XDG_RUNTIME_DIR": str(tmp_path)}


def test_only_the_user_can_read_the_token(environ: Mapping[str, str]) -> None:
    file = TokenFile(HERE, "secret", environ)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    assert [found.name for found in file.path.parent.iterdir()] == ["127.0.0.1-8000.token"]
    file.remove()


@pytest.mark.parametrize(
    "address", [HERE, Address("::1", 9), Address("a-b.example", 80), Address(path="/run/my-x/s.1")]
)
def test_token_is_found_by_address(address: Address, environ: Mapping[str, str]) -> None:
    file = TokenFile(address, "secret", environ)
    assert find_token(address, environ) == "secret"
    assert written_tokens(environ) == [address]
    file.remove()


def test_loopback_finds_a_server_on_all_addresses(environ: Mapping[str, str]) -> None:
    file = TokenFile(Address("0.0.0.0", 8000), "secret", environ)
    assert find_token(Address("localhost", 8000), environ) == "secret"
    assert find_token(Address("localhost", 8001), environ) is None
    assert find_token(Address("192.0.2.1", 8000), environ) is None
    file.remove()


def test_removed_file_is_not_found(environ: Mapping[str, str]) -> None:
    file = TokenFile(HERE, "secret", environ)
    file.remove()
    file.remove()
    assert find_token(HERE, environ) is None


def test_old_server_leaves_the_new_ones_file(environ: Mapping[str, str]) -> None:
    old = TokenFile(HERE, "old", environ)
    new = TokenFile(HERE, "new", environ)
    old.remove()
    assert find_token(HERE, environ) == "new"
    new.remove()


def test_file_of_a_killed_server_is_cleared_away(environ: Mapping[str, str]) -> None:
    file = TokenFile(HERE, "secret", environ)
    os.close(file._descriptor)  # what the kernel does for a process that is gone
    file._descriptor = -1
    assert find_token(HERE, environ) is None
    assert not file.path.exists()


def test_open_directory_is_refused(environ: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "genmcp").mkdir()
    (tmp_path / "genmcp").chmod(0o755)
    with pytest.raises(TokenFileError, match="open to others"):
        TokenFile(HERE, "secret", environ)


def test_link_in_place_of_the_directory_is_refused(environ: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "genmcp").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TokenFileError, match="is not a directory"):
        TokenFile(HERE, "secret", environ)


def test_without_runtime_dir_a_private_one_is_made() -> None:
    assert runtime_dir({}).name == f"genmcp-{os.getuid()}"


def test_tokens_are_long_and_differ() -> None:
    assert len(make_token()) >= 43
    assert make_token() != make_token()

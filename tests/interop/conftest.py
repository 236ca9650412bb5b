"""What the interoperability tests share: Node.js with its packages, and real servers in their own processes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.interop.conformance import EVERYTHING
from tests.interop.node import FOLDER, NodeUnavailableError, node_with_packages
from tests.interop.process import ServerProcess, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def node() -> Path:
    """Node.js with the packages of the lock file; where there is none the test is skipped, but not in CI."""
    try:
        return node_with_packages()
    except NodeUnavailableError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI has to run the tests that need Node.js: {error}")
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def everything() -> Iterator[ServerProcess]:
    """The suite of `everything.py`, served by its own process for all tests of the session."""
    with serving(EVERYTHING) as server:
        yield server


@pytest.fixture(scope="session")
def workshop() -> Iterator[ServerProcess]:
    """The suite of `workshop.py`, served by its own process for all tests of the session."""
    with serving(f"{FOLDER / 'workshop.py'}:suite") as server:
        yield server


@pytest.fixture(scope="session")
def jobs() -> Iterator[ServerProcess]:
    """The low-level server of `jobs.py`, served by its own process for all tests of the session."""
    with serving(f"{FOLDER / 'jobs.py'}:Jobs") as server:
        yield server

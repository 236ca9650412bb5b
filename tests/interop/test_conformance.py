from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.interop.conformance import SERVED_REVISIONS, report, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.interop.process import ServerProcess

pytestmark = [pytest.mark.node, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.mark.parametrize("revision", SERVED_REVISIONS)
def test_the_official_suite_finds_nothing_unexpected(node: Path, everything: ServerProcess, revision: str) -> None:
    verdict = run(node, everything.url, revision)
    assert verdict.passed, report(revision, verdict)


@pytest.mark.parametrize("revision", SERVED_REVISIONS)
def test_a_server_that_is_gone_passes_nothing(node: Path, revision: str) -> None:
    verdict = run(node, "http://127.0.0.1:9/mcp", revision)
    assert not verdict.passed

"""The published schema and its examples, which stand next to a checkout or not at all."""

import json
from pathlib import Path
from typing import Any

import pytest

SPEC = Path(__file__).resolve().parents[3] / "../shared/spec/2026-07-28"


@pytest.fixture(scope="session")
def schema() -> dict[str, Any]:
    """The schema of the revision."""
    path = SPEC / "schema.json"
    if not path.is_file():
        pytest.skip("../shared/spec/2026-07-28/schema.json is not here")
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


@pytest.fixture(scope="session")
def check_schema(schema: dict[str, Any]) -> Any:
    """A function that asserts that a JSON value fits a definition of the schema."""
    import jsonschema_rs

    def check(definition: str, value: Any) -> None:
        validator = jsonschema_rs.validator_for({"$ref": f"#/$defs/{definition}", "$defs": schema["$defs"]})
        assert [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(value)] == []

    return check


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for `example` once for each example of the schema."""
    if "example" not in metafunc.fixturenames:
        return
    files = sorted((SPEC / "examples").glob("*/*.json"))
    cases = [pytest.param((path.parent.name, path), id=f"{path.parent.name}/{path.stem}") for path in files]
    missing = pytest.param(None, marks=pytest.mark.skip(reason="../shared/spec/2026-07-28/examples is not here"))
    metafunc.parametrize("example", cases or [missing])

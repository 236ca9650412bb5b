import click
import pytest
from click.testing import CliRunner

from genmcp.cli import main
from genmcp.cli.options import settings_from, settings_options
from genmcp.settings import TABLE, Settings


@click.command()
@settings_options()
def probe(**given: object) -> None:
    click.echo(repr(settings_from(given, {"GENMCP_PORT": "7000", "GENMCP_ALLOW_HOSTS": "from.env"})))


def shown(*arguments: str) -> str:
    return CliRunner().invoke(probe, arguments).output.strip()


def test_option_wins_over_its_variable() -> None:
    assert shown() == repr(Settings(port=7000, allow_hosts=("from.env",)))
    assert shown("--port", "9000") == repr(Settings(port=9000, allow_hosts=("from.env",)))


def test_list_options_may_be_repeated() -> None:
    arguments = ("--allow-host", "a.example", "--allow-host", "b.example,c.example")
    assert shown(*arguments) == repr(Settings(port=7000, allow_hosts=("a.example", "b.example", "c.example")))


def test_flags_switch_off() -> None:
    assert shown("--no-legacy") == repr(Settings(port=7000, allow_hosts=("from.env",), legacy=False))


def test_wrong_option_is_named_with_exit_code_2() -> None:
    result = CliRunner().invoke(probe, ["--grace", "soon"])
    assert result.exit_code == 2
    assert "--grace: 'soon' is not a time in seconds" in result.output


def test_help_of_serve_shows_every_setting() -> None:
    text = CliRunner().invoke(main, ["serve", "--help"], terminal_width=100).output
    for setting in TABLE:
        assert setting.option in text
        assert setting.env in text


@pytest.mark.parametrize("command", ["serve", "send", "publish", "token", "secret"])
def test_every_command_has_help(command: str) -> None:
    assert CliRunner().invoke(main, [command, "--help"]).exit_code == 0
    assert command in CliRunner().invoke(main, ["--help"]).output


def test_unknown_command_is_refused() -> None:
    assert CliRunner().invoke(main, ["fly"]).exit_code == 2

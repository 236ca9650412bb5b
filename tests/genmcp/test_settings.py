import pytest

from genmcp.settings import TABLE, Setting, Settings, SettingsError


def row(name: str) -> Setting:
    return next(setting for setting in TABLE if setting.name == name)


def test_defaults_are_those_of_the_table() -> None:
    settings = Settings()
    assert {setting.name: setting.default for setting in TABLE} == {
        setting.name: getattr(settings, setting.name) for setting in TABLE
    }


def test_promised_defaults_are_kept() -> None:
    settings = Settings()
    assert (settings.keep_alive, settings.grace, settings.write_deadline, settings.tool_timeout) == (15, 10, 30, None)
    assert (settings.max_body, settings.max_header) == (4 * 2**20, 64 * 2**10)
    assert (settings.live_workers, settings.mailbox, settings.outbox) == (10_000, 1000, 64)
    assert (settings.threads, settings.thread_queue) == (40, 100)
    assert (settings.token_age, settings.conversation_age, settings.session_age) == (1200, 600, 86_400)


def test_environment_overrides_only_what_it_names() -> None:
    settings = Settings.from_environ({"GENMCP_PORT": "9000", "GENMCP_GRACE": "1m", "HOME": "/root"})
    assert settings == Settings(port=9000, grace=60.0)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("keep_alive", "200ms", 0.2),
        ("session_age", "2d", 172_800.0),
        ("tool_timeout", "none", None),
        ("tool_timeout", "30", 30.0),
        ("max_body", "8MiB", 8 * 2**20),
        ("max_body", "1024", 1024),
        ("allow_hosts", "a.example, b.example,", ("a.example", "b.example")),
        ("legacy", "No", False),
        ("live_workers", "20,000", 20_000),
        ("certfile", "", None),
    ],
)
def test_text_is_read_by_its_kind(name: str, text: str, value: object) -> None:
    assert row(name).parse(text) == value


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"GENMCP_PORT": "abc"}, "GENMCP_PORT: 'abc' is not a whole number"),
        ({"GENMCP_PORT": ""}, "GENMCP_PORT: '' is not a whole number"),
        ({"GENMCP_PORT": "70000"}, "70000 is too large: the greatest is 65535"),
        ({"GENMCP_KEEP_ALIVE": "soon"}, "GENMCP_KEEP_ALIVE: 'soon' is not a time in seconds"),
        ({"GENMCP_KEEP_ALIVE": "0"}, "GENMCP_KEEP_ALIVE: 0.0 is too small: the least is 0.01 s"),
        ({"GENMCP_GRACE": "-1"}, "GENMCP_GRACE: '-1' is not a time"),
        ({"GENMCP_MAX_BODY": "4 parsecs"}, "GENMCP_MAX_BODY: '4 parsecs' is not a size in bytes"),
        ({"GENMCP_LEGACY": "perhaps"}, "GENMCP_LEGACY: 'perhaps' is not one of: true, false"),
        ({"GENMCP_LOG_LEVEL": "loud"}, "'loud' is not one of: debug, info, warning, error, critical"),
        ({"GENMCP_PATH": "mcp"}, "path: 'mcp' must start with a slash"),
        ({"GENMCP_KEYFILE": "key.pem"}, "keyfile: a key without a certificate"),
    ],
)
def test_wrong_value_is_refused_by_name(environ: dict[str, str], sentence: str) -> None:
    with pytest.raises(SettingsError) as refused:
        Settings.from_environ(environ)
    assert sentence in str(refused.value)


def test_settings_made_in_code_are_checked() -> None:
    with pytest.raises(SettingsError, match="threads: 0 is too small"):
        Settings(threads=0)


@pytest.mark.parametrize("setting", TABLE, ids=lambda setting: setting.name)
def test_every_row_reads_what_it_shows(setting: Setting) -> None:
    shown = setting.show(setting.default)
    if shown != "none" or setting.optional:
        assert setting.parse(shown) == setting.default
    assert setting.help.endswith(".")
    assert setting.env.startswith("GENMCP_")
    assert setting.option.startswith("--")

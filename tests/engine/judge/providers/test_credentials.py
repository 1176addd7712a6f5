"""Credentials: where they are found, the message when there are none, and that no key is shown."""

from pathlib import Path

import pytest

from engine.errors import MissingKeyError
from engine.judge.providers.credentials import check_key, presentable, without

FEDERATION = {
    "ANTHROPIC_FEDERATION_RULE_ID": "rule",
    "ANTHROPIC_ORGANIZATION_ID": "org",
    "ANTHROPIC_IDENTITY_TOKEN_FILE": "/run/token",
}


@pytest.mark.parametrize(
    "environ",
    [
        {"ANTHROPIC_API_KEY": "k"},
        {"ANTHROPIC_AUTH_TOKEN": "t"},
        {"ANTHROPIC_PROFILE": "work"},
        FEDERATION,
        {"ANTHROPIC_CUSTOM_HEADERS": "x-team: a\nAuthorization: Bearer t"},
        {"ANTHROPIC_CUSTOM_HEADERS": "X-Api-Key: k"},
    ],
)
def test_credentials_of_the_environment_are_found(environ: dict[str, str], tmp_path: Path) -> None:
    check_key({"HOME": str(tmp_path), **environ})


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"ANTHROPIC_API_KEY": ""},
        {"ANTHROPIC_CUSTOM_HEADERS": "x-team: authorization"},
        {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"},
        {name: FEDERATION[name] for name in list(FEDERATION)[:2]},
        {name: FEDERATION[name] for name in list(FEDERATION)[1:]},
    ],
)
def test_a_missing_key_names_the_variable_the_place_and_the_bill(environ: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(MissingKeyError) as raised:
        check_key({"HOME": str(tmp_path), **environ})
    text = str(raised.value)
    assert "ANTHROPIC_API_KEY" in text
    assert "https://platform.claude.com" in text
    assert "billed apart from a Claude subscription" in text
    assert "\n" not in text


@pytest.mark.parametrize("name", ["active_config", "configs/default.json"])
def test_a_profile_on_disk_is_found(tmp_path: Path, name: str) -> None:
    at_home, elsewhere = tmp_path / ".config" / "anthropic" / name, tmp_path / "elsewhere" / name
    for path in (at_home, elsewhere):
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    check_key({"HOME": str(tmp_path)})
    check_key({"HOME": "/nowhere", "ANTHROPIC_CONFIG_DIR": str(tmp_path / "elsewhere")})
    with pytest.raises(MissingKeyError):
        check_key({"HOME": str(tmp_path), "ANTHROPIC_CONFIG_DIR": str(tmp_path / "empty")})


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("plain words", "plain words"),
        ("two\nlines\x1b[31m", "two lines [31m"),
        ("key hunter2 is wrong", "key [hidden] is wrong"),
        ("got sk-ant-api03-AbC_dEf-123", "got [hidden]"),
        ("header Bearer abc.def", "header Bearer [hidden]"),
        ("a task-sk-list of the desk", "a task-sk-list of the desk"),
        ("x" * 500, "x" * 200),
    ],
)
def test_a_message_is_made_fit_to_show(message: str, shown: str) -> None:
    assert presentable(message, ("hunter2", "")) == shown


def test_no_end_of_a_secret_is_left_where_another_secret_is_its_beginning() -> None:
    assert without("abcdef abc [d]", ("abc", "", "abcdef", "[d]", "hidden")) == "[hidden] [hidden] [hidden]"

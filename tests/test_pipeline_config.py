from pathlib import Path
from typing import Any

import pytest

from lookstruct.decoding.request import Window
from lookstruct.pipeline.config import FILE_NAME, find_config, load_settings
from lookstruct.pipeline.settings import Settings
from lookstruct.schemas.errors import UsageError


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("platformdirs.user_config_path", lambda *_, **__: tmp_path / "home")


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_without_any_source_the_defaults_hold() -> None:
    assert load_settings().model_dump() == Settings().model_dump()


@pytest.mark.parametrize(("given", "held"), [("auto", "check"), ("on", "on"), ("off", "off")])
def test_work_on_many_pages_checks_its_cache_unless_told_otherwise(given: str, held: str) -> None:
    settings = Settings.model_validate({"fetch": {"cache": given}})
    assert (settings.remembering().fetch.cache, settings.remembering().memory.use) == (held, "on")


def test_flags_win_over_environment_and_environment_over_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(tmp_path / FILE_NAME, "[decode]\nseed = 1\nmax_new_tokens = 10\ntop_k = 7\n[fetch]\ntimeout_s = 3")
    monkeypatch.setenv("LOOKSTRUCT_DECODE__SEED", "2")
    monkeypatch.setenv("LOOKSTRUCT_DECODE__MAX_NEW_TOKENS", "20")
    settings = load_settings(flags={"decode": {"seed": "3"}})
    decode = settings.decode
    assert (decode.seed, decode.max_new_tokens, decode.top_k, settings.fetch.timeout_s) == (3, 20, 7, 3.0)


def test_the_file_of_this_folder_comes_before_the_users_own(tmp_path: Path) -> None:
    users = write(tmp_path / "home" / FILE_NAME, "[decode]\nseed = 1")
    assert find_config(None) == users
    write(tmp_path / FILE_NAME, "[decode]\nseed = 2")
    assert load_settings().decode.seed == 2


def test_a_named_file_is_the_only_one_read(tmp_path: Path) -> None:
    write(tmp_path / FILE_NAME, "[decode]\nseed = 1")
    named = write(tmp_path / "other.toml", "[decode]\ntop_k = 4")
    settings = load_settings(named)
    assert (settings.decode.seed, settings.decode.top_k) == (0, 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[modle]\nname = 'x'", r"named.toml: there is no setting modle; did you mean model\?"),
        ("[decode]\nmax_new_token = 1", r"no setting decode.max_new_token; did you mean decode.max_new_tokens\?"),
        ("[fetch]\ntimeout = 1", r"no setting fetch.timeout; did you mean fetch.timeout_s\?"),
        ("[decode]\nqqq = 1", r"no setting decode.qqq; the settings are decoding, sources, nodes"),
        ("[decode]\nseed = 'x'", r"named.toml: decode.seed cannot be 'x': input should be a valid integer"),
        ("[decode]\ntemperature = -1", r"decode.temperature cannot be -1: input should be greater than or equal to 0"),
        ("decode = 3", r"named.toml: decode cannot be 3"),
        ("[decode", r"named.toml is no valid TOML"),
    ],
)
def test_a_fault_in_the_file_is_one_sentence_that_names_file_and_setting(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        load_settings(write(tmp_path / "named.toml", text))


def test_a_fault_in_the_environment_names_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write(tmp_path / FILE_NAME, "[decode]\nseed = 1")
    monkeypatch.setenv("LOOKSTRUCT_DECODE__SEED", "many")
    with pytest.raises(UsageError, match=r"^LOOKSTRUCT_DECODE__SEED: decode\.seed cannot be 'many'"):
        load_settings()
    monkeypatch.delenv("LOOKSTRUCT_DECODE__SEED")
    monkeypatch.setenv("LOOKSTRUCT_DECODE__SEDE", "1")
    with pytest.raises(UsageError, match=r"LOOKSTRUCT_DECODE__SEDE: .*did you mean decode.seed\?"):
        load_settings()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"decode": {"max_new_tokens": "0"}}, "^--max-new-tokens: decode.max_new_tokens cannot be '0'"),
        ({"decode": {"window": "8,4"}}, "^--window"),
        ({"decode": {"decoding": "fast"}}, "^--decoding: .*'auto', 'lookahead' or 'autoregressive'"),
        ({"model": {"dtype": "int3"}}, "^--dtype"),
        ({"decode": {"top_p": 2}}, "^The setting decode.top_p"),
    ],
)
def test_a_fault_in_a_flag_names_the_flag(flags: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_settings(flags=flags)


def test_a_named_file_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"gone.toml does not exist; check --config"):
        load_settings(Path("gone.toml"))


def test_lists_may_be_written_with_commas() -> None:
    decode = load_settings(flags={"decode": {"sources": "window, records", "window": "8,4,6", "nodes": "16"}}).decode
    options = decode.options()
    assert (options.sources, options.window, options.nodes) == (("window", "records"), Window(8, 4, 6), 16)


def test_decode_settings_become_the_decoders_options() -> None:
    options = load_settings(flags={"decode": {"decoding": "autoregressive", "temperature": "0.5", "seed": "7"}}).decode
    made = options.options()
    assert (made.mode, made.temperature, made.seed, made.max_new_tokens) == ("autoregressive", 0.5, 7, 2048)


def test_every_setting_has_a_description() -> None:
    for name, field in Settings.model_fields.items():
        group: Any = field.annotation
        for setting, inner in group.model_fields.items():
            assert inner.description, f"{name}.{setting}"

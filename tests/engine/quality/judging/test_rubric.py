"""Rubrics: the two that ship, a person's own file, and mistakes in it."""

from pathlib import Path

import pytest

from engine.errors import ConfigError
from engine.quality.judging.rubric import FOLDER, parse_rubric, read_rubric, template

TEXT = (FOLDER / "memory.toml").read_text(encoding="utf-8")


def test_the_shipped_rubrics_have_the_criteria_that_are_promised() -> None:
    found = {name: [key for key, _ in read_rubric(name).criteria] for name in ("memory", "idea")}
    assert found["memory"] == ["specific", "actionable", "still_true", "stands_alone", "worth_its_tokens"]
    assert found["idea"] == ["originality", "technical_feasibility", "impact", "substance"]


@pytest.mark.parametrize("is_structured", [True, False])
def test_the_instructions_hold_each_criterion_each_band_and_the_rule_on_meta_content(*, is_structured: bool) -> None:
    rubric = read_rubric("idea")
    system = template(rubric, is_structured=is_structured).system
    assert all(f"- {name}: {question}" in system for name, question in rubric.criteria)
    assert all(f"- {band}: " in system for band in ("0-2", "3-4", "5-6", "7-8", "9-10"))
    assert "Meta-content" in system
    assert ("### REJECTED:" in system) is not is_structured


def test_a_file_of_ones_own_is_a_rubric(tmp_path: Path) -> None:
    path = tmp_path / "runbooks.toml"
    path.write_text(TEXT.replace("still_true =", "safe_to_run ="), encoding="utf-8")
    rubric = read_rubric(str(path))
    assert rubric.name == "runbooks"
    assert "safe_to_run" in [name for name, _ in rubric.criteria]
    hashes = {template(one, is_structured=True).hash for one in (rubric, read_rubric("memory"))}
    assert len(hashes) == 2  # answers by two rubrics are never mixed


def test_a_mistake_is_named_with_its_file_and_key() -> None:
    for text, said in [
        ("purpose = ", "not TOML: "),
        (TEXT.replace("purpose", "porpose"), "the key 'porpose' is unknown; known are purpose, criteria, bands"),
        (TEXT.replace("[criteria]", "[criteria]\nUpper = 'x'"), "criteria.Upper: a name is lower-case letters"),
        (TEXT.replace("[criteria]", "[criteria]\nnumber = 3"), "criteria.number: a text of 1 to 500 characters"),
        (TEXT.replace('"3-4"', '"3-5"'), "bands: the keys must be 0-2, 3-4, 5-6, 7-8, 9-10"),
        (TEXT.partition("[bands]")[0], "bands: a table is needed"),
        ("purpose = 3\n", "purpose: a text is needed"),
        (TEXT.replace("[bands]", "".join(f"c{n} = 'x'\n" for n in range(9)) + "[bands]"), "criteria: at most 12"),
    ]:
        with pytest.raises(ConfigError) as error:
            parse_rubric(text, "own", "own.toml")
        assert str(error.value).startswith("The rubric own.toml: "), text
        assert said in str(error.value), text


def test_a_missing_or_too_large_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"There is no rubric 'ide'\. Known are memory and idea; for your own"):
        read_rubric("ide")
    (tmp_path / "large.toml").write_bytes(b"#" * 9_000)
    with pytest.raises(ConfigError, match="larger than 8,000 bytes"):
        read_rubric(str(tmp_path / "large.toml"))

"""Text for people: counted nouns, names in a row, and aligned columns."""

from engine.wording import aligned, cells, counted, cut, listed


def test_a_noun_agrees_with_its_number_and_a_long_row_of_names_ends_with_one() -> None:
    assert [counted(number, "memory") for number in (0, 1, 2000)] == ["0 memories", "1 memory", "2,000 memories"]
    assert counted(2, "prompt") == "2 prompts"
    assert [counted(number, "person", "people") for number in (1, 2)] == ["1 person", "2 people"]
    assert [listed(names) for names in ((), ("a",), ("a", "b"), ("a", "b", "c"))] == ["", "a", "a and b", "a, b and c"]
    assert listed(("a", "b"), 2) == "a and b"
    assert listed(("a", "b", "c", "d"), 2) == "a, b and 2 more"


def test_columns_are_aligned_and_texts_cut_by_cells_and_not_by_characters() -> None:
    assert aligned([("図書", "x"), ("abcde", "y")]) == ["図書   x", "abcde  y"]
    assert aligned([("1", "20"), ("300", "4")], right=True) == ["  1  20", "300   4"]
    assert aligned([]) == []
    assert [cut("図書館", width) for width in (6, 5, 4)] == ["図書館", "図書…", "図…"]
    assert cells("e\u0301") == 1

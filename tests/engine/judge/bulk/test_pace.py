"""The number of questions at once, by how the server fares."""

from engine.judge.retries import FIRST, Pace


def after(pace: Pace, answers: int, elapsed_s: float = 1.0) -> int:
    for _ in range(answers):
        pace.answered(elapsed_s, 10.0)
    return pace.limit


def test_answers_in_time_let_more_jobs_run_and_late_ones_do_not() -> None:
    pace = Pace(8)
    assert pace.limit == FIRST == 2
    assert [after(pace, 1), after(pace, 1), after(pace, 4), after(pace, 99)] == [2, 4, 8, 8]
    assert after(Pace(8), 99, elapsed_s=6.0) == 2
    assert Pace(1).limit == 1


def test_calls_that_fail_together_halve_the_number_once_and_it_grows_slowly_again() -> None:
    pace = Pace(8)
    after(pace, 6)
    before = pace.troubles
    for _ in range(8):
        pace.slowed(before)
    assert pace.limit == 4
    assert [after(pace, 4), after(pace, 5)] == [5, 6]
    for _ in range(5):
        pace.slowed(pace.troubles)
    assert pace.limit == 1

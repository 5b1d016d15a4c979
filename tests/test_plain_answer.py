"""The answer about queries, keys and values follows the numbers, however they lie."""

import pytest

from reattn.report.plain_answer import plain_answer
from reattn.tables.cells import NOT_AVAILABLE
from reattn.tables.differences import OVER_IMAGES, WELCH

LOWER, OPEN, HIGHER = ("-3.0", "-1.0"), ("-1.0", "1.0"), ("1.0", "3.0")


def row(scores: str, ends: tuple[str, str], values: str = "own", kind: str = WELCH):
    low, high = ends
    return {
        **{"scores": scores, "values": values, "label": f"Model {scores} {values}"},
        **{"difference_low": low, "difference_high": high, "difference_kind": kind},
    }


def test_symmetric_scores_that_lose_confirm_the_argument():
    """And a map on one side, which does not, is said to be enough."""
    told = plain_answer([row("dot", LOWER), row("tied", LOWER), row("no-key", OPEN)])
    assert "every model that compares features by symmetric scores" in told
    assert "*Model no-key own* is not shown to be less accurate" in told


def test_symmetric_scores_that_lose_nothing_are_said_to():
    """The text never argues against the table."""
    told = plain_answer([row("dot", OPEN), row("tied", HIGHER), row("no-query", LOWER)])
    assert "do not show on images" in told
    assert "and yet *Model no-query own* is less accurate" in told


def test_what_holds_in_part_is_told_by_name():
    """Which models follow the argument, and which do not."""
    told = plain_answer([row("dot", LOWER), row("tied", OPEN), row("cosine", OPEN)])
    assert "*Model dot own* is less accurate" in told
    assert "*Model tied own* and *Model cosine own* not shown to be" in told


@pytest.mark.parametrize(
    ("ends", "words"), [(LOWER, "the course of training"), (OPEN, "show no loss")]
)
def test_merged_values_are_judged_by_training_alone(ends, words):
    """Their function is the same, so no text may speak of what they can express."""
    told = plain_answer([row("dot", LOWER), row("separate", ends, "merged")])
    assert words in told


def test_without_intervals_over_seeds_nothing_is_claimed():
    """One run each, or none, answers nothing."""
    single = row("dot", LOWER, kind=OVER_IMAGES)
    missing = row("tied", (NOT_AVAILABLE, NOT_AVAILABLE), kind=NOT_AVAILABLE)
    assert plain_answer([single, missing]) == ""

"""What a verdict promises: numbers alone decide, and what is lacking is named."""

import csv
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
import yaml
from made_up_study import made_up_study, write_run

from reattn.attention.metric_files import (
    METRICS,
    metric_row,
    metrics_path,
    write_attention_metrics,
)
from reattn.claims import judge_claims
from reattn.claims.numbers import published_numbers
from reattn.claims.verdicts import EXACT, Finding, all_of, within
from reattn.claims.wording import LAYERS, WORDS
from reattn.cli.claims import claims
from reattn.cli.studies import check
from reattn.config import load_resolved, results_folder
from reattn.config.claims import load_claims
from reattn.config.predicates import Layers, Metric
from reattn.errors import ConfigError, ReattnError
from reattn.tables import make_tables
from reattn.tables.cells import NOT_AVAILABLE, split_reasons
from reattn.tables.differences import OVER_IMAGES, PAIRED, PREDICTION, WELCH

ORDINARY, HIERARCHICAL = "learned2d-9h-content", "ha-learned2d-9h-content"
PAIR = [ORDINARY, HIERARCHICAL]
FULL = {
    "reduced": None,
    "data": {"source": "cifar10"},
    "training": {"device": "cpu"},
}
VERDICTS = (
    *("supported", "contradicted", "inconclusive", "not tested"),
    "true by construction",
)
SPREAD = (-0.1, 0.0, 0.1)  # around a mean: half a 95 % interval of 0.25


def claim(name: str = "it", scale: str = "any", seeds: int = 1, **predicate) -> dict:
    """One claim as YAML holds it."""
    return {
        "id": name,
        "statement": "It is so.",
        "source": "a paper",
        "predicate": predicate,
        "evidence": {"scale": scale, "seeds": seeds},
    }


def gain(*, seeds: int = 2, scale: str = "any", pairs=(PAIR,), **bounds) -> dict:
    """The claim that the second of each pair is more accurate."""
    pairs = [list(pair) for pair in pairs]
    return claim(kind="gain", seeds=seeds, scale=scale, pairs=pairs, **bounds)


def judged(results: Path, *asked: dict, **study: object) -> dict[str, dict[str, str]]:
    """Rows of claims.csv by claim, for what lies in a study's folder."""
    changes = {"groups": [], "variants": PAIR, "seeds": [0, 1, 2], **study}
    settings, variants = made_up_study(**changes)
    make_tables(settings, variants, results)
    path = results / "claims.yaml"
    path.write_text(yaml.safe_dump({"claims": list(asked)}))
    judge_claims(settings, variants, results, path)
    return {row["claim"]: row for row in rows_of(results, "claims")}


def rows_of(results: Path, table: str) -> list[dict[str, str]]:
    with (results / "tables" / f"{table}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def reason(row: dict[str, str]) -> str:
    return split_reasons(row["reason"])["verdict"]


def write_accuracies(results: Path, variant: str, centre: float, **metrics) -> None:
    """Three runs around an accuracy."""
    for seed, offset in enumerate(SPREAD):
        accuracy = centre + offset
        write_run(
            *(results, variant, seed),
            **{"accuracy": accuracy, "accuracy_authors": accuracy, **metrics},
        )


def write_attention(
    results: Path,
    variant: str,
    trained: list[float],
    initial: list[float],
    *,
    metric: str = "distance",
    seeds: int = 3,
    spread: float | str = 0.1,
) -> None:
    """A metric by layer, in both states, of some runs that differ a little."""
    rows = [
        metric_row(
            {
                **{"variant": variant, "seed": seed, "state": state},
                **{"layer": layer, "head": "all", "images": 100},
            },
            {metric: value + sign * SPREAD[seed], f"{metric}_std": spread},
            "not made up",
        )
        for seed in range(seeds)
        for state, values, sign in (("trained", trained, 1), ("initial", initial, -1))
        for layer, value in enumerate(values, start=1)
    ]
    write_attention_metrics(metrics_path(results, variant), rows)


def write_memory(results: Path, megabytes: list[int], images: list[int]) -> None:
    """Measurements of both variants."""
    lines = [
        f"{name},{10 * (place + 1)},{megabytes[place]},{images[place]},"
        for place, name in enumerate(PAIR)
    ]
    folder = results / "measure"
    folder.mkdir()
    head = "variant,params,training_memory_mb,memory_batch,reason"
    (folder / "measurements.csv").write_text("\n".join([head, *lines]) + "\n")


@pytest.mark.parametrize(
    ("low", "high", "at_least", "at_most", "strict", "verdict"),
    [
        (5.0, 6.0, 5, None, False, "supported"),
        (5.0, 6.0, 5, None, True, "inconclusive"),
        (4.9, 6.0, 5, None, False, "inconclusive"),
        (3.0, 4.9, 5, None, False, "contradicted"),
        (0.0, 0.0, 0, None, True, "contradicted"),
        (0.0, 0.0, 0, None, False, "supported"),
        (-0.9, 0.9, -1, 1, False, "supported"),
        (-1.1, 0.9, -1, 1, False, "inconclusive"),
        (1.1, 1.2, -1, 1, False, "contradicted"),
        (-2.0, 2.0, -1, 1, False, "inconclusive"),
        (-2.0, -0.1, None, 0, True, "supported"),
        (None, None, 0, None, False, "inconclusive"),
    ],
)
def test_the_interval_decides(low, high, at_least, at_most, strict, verdict):
    """Wholly on the claim's side, wholly on the other, or over the threshold."""
    finding = Finding("a", 1.0, low, high, {"a": 3}, "an interval")
    assert within(finding, at_least, at_most, strict=strict) == verdict


def test_exact_numbers_and_absent_ones():
    """An exact number is its own interval; an absent one is never judged."""
    assert within(Finding("a", 4.64, kind=EXACT), 5) == "contradicted"
    assert within(Finding("a", 5.0, kind=EXACT), 5) == "supported"
    assert within(Finding("a", None), 5) == "not tested"
    assert all_of([]) == "not tested"


@pytest.mark.parametrize(
    ("higher", "verdict"),
    [(76.0, "supported"), (75.0, "inconclusive"), (74.0, "contradicted")],
)
def test_a_gain_in_points(tmp_path: Path, higher: float, verdict: str):
    """Welch's interval of the difference against five points."""
    write_accuracies(tmp_path, ORDINARY, 70)
    write_accuracies(tmp_path, HIERARCHICAL, higher)
    row = judged(tmp_path, gain(at_least=5), **FULL)["it"]
    assert row["verdict"] == verdict
    assert float(row["low"]) < higher - 70 < float(row["high"])
    assert (row["n"], row["interval_kind"], row["scale"]) == ("3", WELCH, "full")
    assert f"{HIERARCHICAL} (seeds 0, 1, 2)" in row["evidence"]


def test_a_gain_in_percent_is_of_the_first(tmp_path: Path):
    """Four points of 70 are more than five percent and less than six."""
    write_accuracies(tmp_path, ORDINARY, 70)
    write_accuracies(tmp_path, HIERARCHICAL, 74)
    row = judged(tmp_path, gain(at_least=5, unit="percent"))["it"]
    assert row["verdict"] == "supported"
    assert "5.71 (" in row["measured"]
    assert "percent of the first mean" in row["interval_kind"]
    row = judged(tmp_path, gain(at_least=6.5, unit="percent"))["it"]
    assert row["verdict"] == "contradicted"


def test_more_than_nothing_is_not_nothing(tmp_path: Path):
    """Equal runs gain nothing; a claim of any gain is contradicted by them."""
    for variant in PAIR:
        write_accuracies(tmp_path, variant, 70, initial_weights="the same")
    row = judged(tmp_path, gain(more_than=0))["it"]
    assert (row["verdict"], row["interval_kind"]) == ("contradicted", PAIRED)


def test_in_each_case_is_every_pair(tmp_path: Path):
    """One pair decides against it; one that is absent leaves it open and is named."""
    write_accuracies(tmp_path, ORDINARY, 70)
    write_accuracies(tmp_path, HIERARCHICAL, 76)
    pairs = [PAIR, ["vit", "ha-vit"]]
    row = judged(tmp_path, gain(at_least=5, pairs=pairs))["it"]
    assert row["verdict"] == "not tested"
    assert reason(row) == "not in this study: vit, ha-vit"
    row = judged(tmp_path, gain(at_least=7, pairs=pairs))["it"]
    assert row["verdict"] == "contradicted"
    row = judged(tmp_path, gain(at_least=5, pairs=[PAIR, PAIR[::-1]]))["it"]
    assert row["verdict"] == "contradicted"
    assert row["low"] == NOT_AVAILABLE
    assert row["measured"].count(" to ") == 2


def test_too_few_runs_do_not_judge(tmp_path: Path):
    """Two are asked for; whose is missing is said, and what there is, told."""
    write_accuracies(tmp_path, ORDINARY, 70)
    write_run(tmp_path, HIERARCHICAL, 0, accuracy=90.0)
    row = judged(tmp_path, gain(at_least=5, seeds=2), **FULL)["it"]
    assert row["verdict"] == "not tested"
    assert reason(row).endswith(f"{HIERARCHICAL} has 1")
    assert row["n"] == "1"


def test_one_run_each_is_judged_over_images_where_that_is_enough(tmp_path: Path):
    """The interval says that it is over images."""
    write_run(tmp_path, ORDINARY, 0, accuracy=70.0)
    write_run(tmp_path, HIERARCHICAL, 0, accuracy=80.0)
    row = judged(tmp_path, gain(at_least=5, seeds=1), seeds=[0])["it"]
    assert (row["verdict"], row["interval_kind"]) == ("supported", OVER_IMAGES)


def test_a_reduced_study_says_nothing_of_the_papers_accuracies(tmp_path: Path):
    """However clear its own numbers are; they are told."""
    write_accuracies(tmp_path, ORDINARY, 70)
    write_accuracies(tmp_path, HIERARCHICAL, 90)
    row = judged(tmp_path, gain(at_least=5, scale="full"))["it"]
    assert (row["verdict"], row["scale"]) == ("not tested", "reduced")
    assert reason(row) == "not tested at this scale"
    assert "+20.00 (" in row["measured"]
    row = judged(tmp_path, gain(at_least=5))["it"]
    assert (row["verdict"], reason(row)) == ("supported", "in this reduced setting")


@pytest.mark.parametrize("status", ["diverged", "failed", "imported", "missing"])
def test_only_runs_that_ended_well_count(tmp_path: Path, status: str):
    """A diverged run with a splendid accuracy supports nothing."""
    write_accuracies(tmp_path, ORDINARY, 70)
    if status != "missing":
        write_accuracies(
            tmp_path, HIERARCHICAL, 99, status=status, reason="it was made up"
        )
    write_attention(tmp_path, HIERARCHICAL, [1, 2], [3, 4])
    nearer = claim(
        *("nearer", "any", 1),
        **{"kind": "attention", "variants": [HIERARCHICAL], "metric": "distance"},
        **{"layers": "all", "change_less_than": 0},
    )
    rows = judged(tmp_path, gain(at_least=5), nearer, **FULL)
    for row in rows.values():
        assert row["verdict"] == "not tested"
        assert f"no run of {HIERARCHICAL} ended well: seed 0 {status}" in reason(row)


def test_one_that_diverged_among_others_changes_nothing(tmp_path: Path):
    """Neither its accuracy by any protocol nor its attention is among the evidence."""
    far = claim(
        *("far", "any", 2),
        **{"kind": "attention", "variants": [ORDINARY], "metric": "distance"},
        **{"layers": "all", "trained_at_least": 0, "change_more_than": 9},
    )
    matches = claim("matches", kind="matches-published", variants=[ORDINARY])
    write_accuracies(tmp_path, ORDINARY, 86.36)
    write_run(tmp_path, ORDINARY, 2, "diverged", accuracy=1.0, accuracy_authors=1.0)
    write_attention(tmp_path, ORDINARY, [1, 5, 6], [4, 4, 4])
    rows = judged(tmp_path, far, matches)
    assert [row["n"] for row in rows.values()] == ["2", "2"]
    assert "seeds 0, 1," in rows["far"]["evidence"]
    assert rows["matches"]["verdict"] == "supported"


def test_runs_of_other_code_are_named(tmp_path: Path):
    """They count, as in the other tables, and the reader is told."""
    write_accuracies(tmp_path, ORDINARY, 70)
    write_accuracies(tmp_path, HIERARCHICAL, 90, code_hash="another")
    row = judged(tmp_path, gain(at_least=5), **FULL)["it"]
    assert row["verdict"] == "supported"
    assert reason(row).endswith(f"other code than today's: {HIERARCHICAL}")


@pytest.mark.parametrize(
    ("other", "verdict"),
    [
        (70.2, "supported"),
        (71.0, "inconclusive"),
        (69.0, "inconclusive"),
        (72.0, "contradicted"),
        (68.0, "contradicted"),
    ],
)
def test_equivalence_has_two_sides(tmp_path: Path, other: float, verdict: str):
    """Within a point, whichever is better."""
    write_accuracies(tmp_path, ORDINARY, 70)
    write_accuracies(tmp_path, HIERARCHICAL, other)
    same = claim(kind="equivalent", pairs=[PAIR], within=1)
    assert judged(tmp_path, same)["it"]["verdict"] == verdict


def test_ratios_of_sizes_need_no_run(tmp_path: Path):
    """They are exact, in a study of any scale and before any training."""
    write_memory(tmp_path, [100, 105], [8, 8])
    asked = {"kind": "ratio", "pairs": [PAIR]}
    rows = judged(
        tmp_path,
        claim("twice", column="params", at_least=2, at_most=2, **asked),
        claim("less", column="params", at_most=1, **asked),
        claim("memory", column="training_memory_mb", at_most=1.1, **asked),
        claim("flops", column="flops", at_most=1, **asked),
    )
    verdicts = {name: row["verdict"] for name, row in rows.items()}
    assert verdicts == {
        **{"twice": "supported", "less": "contradicted"},
        **{"memory": "supported", "flops": "not tested"},
    }
    assert rows["twice"]["interval_kind"] == EXACT
    assert rows["twice"]["n"] == NOT_AVAILABLE


def test_memory_of_unlike_steps_is_not_compared(tmp_path: Path):
    """Four images take less than eight, whatever the model."""
    write_memory(tmp_path, [100, 60], [8, 4])
    asked = claim(kind="ratio", pairs=[PAIR], column="training_memory_mb", at_most=1)
    row = judged(tmp_path, asked)["it"]
    assert row["verdict"] == "not tested"
    assert f"{ORDINARY} 8, {HIERARCHICAL} 4" in reason(row)


@pytest.mark.parametrize(
    ("layers", "bounds", "verdict"),
    [
        ("first", {"change_less_than": 0}, "supported"),
        ("first", {"change_more_than": 0}, "contradicted"),
        ("last", {"change_more_than": 1}, "supported"),
        ("last", {"change_more_than": 2}, "inconclusive"),
        ("last", {"change_more_than": 3}, "contradicted"),
        ("last-two", {"trained_at_least": 5, "change_more_than": 0}, "supported"),
        ("last-two", {"trained_at_least": 6, "change_more_than": 0}, "contradicted"),
        ("last-two", {"trained_at_least": 5.5, "change_more_than": 0}, "inconclusive"),
        ("all", {"change_more_than": 0}, "inconclusive"),
        ("last-minus-first", {"change_more_than": 4.9}, "supported"),
        ("last-two-minus-first", {"change_less_than": 4.4}, "contradicted"),
    ],
)
def test_attention_of_layers(tmp_path: Path, layers: str, bounds: dict, verdict: str):
    """Layers 1, 5 and 6 pixels after training; 4, 4 and 4 before."""
    for seed in range(3):
        write_run(tmp_path, ORDINARY, seed)
    write_attention(tmp_path, ORDINARY, [1, 5, 6], [4, 4, 4])
    asked = {"kind": "attention", "variants": [ORDINARY], "metric": "distance"}
    row = judged(tmp_path, claim(seeds=3, layers=layers, **asked, **bounds))["it"]
    assert row["verdict"] == verdict
    assert f"measure/attention/{ORDINARY}.csv, distance" in row["evidence"]


def test_what_was_there_before_training_is_no_evidence(tmp_path: Path):
    """The deeper layers look farther, but did so at random already."""
    write_run(tmp_path, ORDINARY)
    write_attention(tmp_path, ORDINARY, [1, 6], [1, 6], seeds=1, spread=0.0)
    asked = claim(
        **{"kind": "attention", "variants": [ORDINARY], "metric": "distance"},
        **{"layers": "last-minus-first", "trained_at_least": 0, "change_more_than": 0},
    )
    assert judged(tmp_path, asked)["it"]["verdict"] == "contradicted"


def test_attention_that_cannot_be_judged(tmp_path: Path):
    """Not measured, too few layers, one run without a spread: each says so."""
    asked = {"kind": "attention", "variants": [ORDINARY], "change_more_than": 0}
    far = claim("far", metric="distance", layers="last-two-minus-first", **asked)
    one = claim("one", metric="distance", layers="all", **asked)
    mass = claim("mass", metric="self_mass", layers="all", **asked)
    several = claim("several", seeds=2, metric="distance", layers="all", **asked)
    write_run(tmp_path, ORDINARY)
    row = judged(tmp_path, far)["far"]
    assert reason(row) == f"attention is not measured: {ORDINARY}"
    write_attention(tmp_path, ORDINARY, [1, 2], [0, 0], seeds=1, spread="one image")
    rows = judged(tmp_path, far, one, mass, several)
    assert reason(rows["far"]) == f"{ORDINARY}: fewer than 3 layers"
    assert rows["one"]["verdict"] == "inconclusive"
    assert "one run, no interval" in reason(rows["one"])
    assert reason(rows["mass"]) == f"{ORDINARY}: not made up"
    assert reason(rows["several"]).endswith(f"{ORDINARY} has 1")
    undecided = ["not tested", "inconclusive", "not tested", "not tested"]
    assert [row["verdict"] for row in rows.values()] == undecided


@pytest.mark.parametrize(
    ("centre", "verdict"),
    [(86.36, "supported"), (86.0, "supported"), (80.0, "contradicted")],
)
def test_a_published_number_in_the_interval_for_one_run(
    tmp_path: Path, centre: float, verdict: str
):
    """86.36 is published; +-0.5 is the interval of three runs that spread by 0.1."""
    write_accuracies(tmp_path, ORDINARY, centre, accuracy=12.0)
    matches = claim(kind="matches-published", scale="full", variants=[ORDINARY])
    row = judged(tmp_path, matches, **FULL)["it"]
    assert (row["verdict"], row["interval_kind"]) == (verdict, PREDICTION)
    half = 4.302653 * 0.1 * (1 + 1 / 3) ** 0.5
    assert float(row["low"]) == pytest.approx(centre - half, abs=1e-4)
    published = {row["variant"]: row for row in rows_of(tmp_path, "published")}
    assert published[ORDINARY]["verdict"] == verdict
    assert published[ORDINARY]["half_digit"] == "0.005"


def test_half_of_the_last_digit_is_conceded(tmp_path: Path):
    """86.36 may have been 86.3551 or 86.3649; a number beside those is another."""
    matches = claim(kind="matches-published", scale="full", variants=[ORDINARY])
    fitting, other = (86.3551, 86.3649), (86.3549, 86.3651)
    for accuracy in (*fitting, *other):
        verdict = "supported" if accuracy in fitting else "contradicted"
        for seed in range(3):
            write_run(tmp_path, ORDINARY, seed, accuracy_authors=accuracy)
        row = judged(tmp_path, matches, **FULL)["it"]
        assert row["verdict"] == verdict


def test_published_numbers_and_what_lacks_to_compare_them(tmp_path: Path):
    """One run, a reduced study, no variant: each has its own words."""
    write_run(tmp_path, ORDINARY, accuracy_authors=86.36)
    matches = claim(kind="matches-published", scale="full", variants=[ORDINARY])
    row = judged(tmp_path, matches, **FULL)["it"]
    assert (row["verdict"], row["n"]) == ("inconclusive", "1")
    row = judged(tmp_path, matches)["it"]
    assert reason(row) == "not tested at this scale"
    table = rows_of(tmp_path, "published")
    assert {row["verdict"] for row in table} == {"not tested"}
    reasons = {row["variant"]: reason(row) for row in table}
    assert reasons["resnet18"] == "not in this study: resnet18"
    assert reasons["SA quadratic embedding"].startswith("another training recipe")


def test_digits_are_counted_as_printed(tmp_path: Path):
    """91.00 is known to a hundredth, 93.8 to a tenth, and 91 to one."""
    numbers = {number.name: number for number in published_numbers()}
    assert numbers[HIERARCHICAL].half_digit == pytest.approx(0.005)
    assert numbers["SA quadratic embedding"].half_digit == pytest.approx(0.05)
    path = tmp_path / "published.yaml"
    entry = {"accuracy": 91, "source": "a", "status": "printed"}
    content = {"sources": {"a": {"where": "b"}}, "variants": {ORDINARY: entry}}
    path.write_text(yaml.safe_dump(content))
    assert [number.half_digit for number in published_numbers(path)] == [0.5]


def test_the_authors_own_numbers(tmp_path: Path):
    """+4.64 and +2.12 are not five each; content lowers; one number has no source."""
    sixteen = ["learned2d-16h-content", "ha-learned2d-16h-content"]
    bare = ["resnet18", "quadratic-9h-isotropic"]
    asked = {"kind": "gain", "numbers": "published"}
    rows = judged(
        tmp_path,
        claim("points", pairs=[PAIR, sixteen], at_least=5, **asked),
        claim("nine", pairs=[PAIR], at_least=5, unit="percent", **asked),
        claim("lower", pairs=[PAIR, sixteen], more_than=0, **asked),
        claim("bare", pairs=[bare], more_than=0, **asked),
    )
    verdicts = {name: row["verdict"] for name, row in rows.items()}
    assert verdicts == {
        **{"points": "contradicted", "nine": "supported"},
        **{"lower": "supported", "bare": "not tested"},
    }
    assert ": +4.64;" in rows["points"]["measured"]
    assert rows["points"]["measured"].endswith(": +2.12")
    assert rows["points"]["n"] == "1"
    assert "quadratic-9h-isotropic" in reason(rows["bare"])


def test_true_by_construction(tmp_path: Path):
    """No number could decide it, and none is asked for."""
    row = judged(tmp_path, claim(kind="by-construction", reason="so it is built"))["it"]
    assert row["verdict"] == "true by construction"
    assert reason(row) == "so it is built"


@pytest.mark.parametrize("changes", [{}, FULL], ids=["reduced", "full"])
@pytest.mark.parametrize("runs", [False, True], ids=["empty", "trained"])
def test_the_claims_of_the_project(tmp_path: Path, changes: dict, runs: bool):
    """No cell is empty, each n/a has a reason; no verdict without evidence."""
    study, variants = made_up_study(seeds=[0, 1, 2], **changes)
    for place, variant in enumerate(variants if runs else []):
        write_accuracies(tmp_path, variant, 60 + 2 * place)
    make_tables(study, variants, tmp_path)
    judge_claims(study, variants, tmp_path)
    known = {entry.id: entry for entry in load_claims()}
    for row in [*rows_of(tmp_path, "claims"), *rows_of(tmp_path, "published")]:
        assert "" not in row.values()
        absent = {column for column, cell in row.items() if cell == NOT_AVAILABLE}
        assert absent == set(split_reasons(row["reason"])) - {"verdict"}
        assert row["verdict"] in VERDICTS
        entry = known.get(row.get("claim", ""))
        if row["verdict"] in ("not tested", "inconclusive"):
            assert reason(row)
        elif entry and getattr(entry.predicate, "numbers", "measured") == "measured":
            built = row["verdict"] == "true by construction"
            built |= getattr(entry.predicate, "column", "") == "params_full_size"
            assert built or (runs and (changes or entry.evidence.scale == "any"))


FAULTY = """
claims:
  - id: once
    statement: x
    source: y
    predicate: {kind: gain, unit: point, at_leest: 5, pairs: [[vit, ha-vt]]}
    evidence: {scale: any}
  - id: once
    statement: x
    source: y
    predicate: {kind: attention, variants: [vit], metric: entropy, layers: last}
    evidence: {scale: some, seeds: 0}
  - id: magical
    statement: x
    source: y
    predicate: {kind: magic}
    evidence: {scale: any}
"""
FAULTS = (
    "claims.once.predicate.unit = 'point': Input should be 'points' or 'percent'",
    "claims.once.predicate.at_leest is not a known key. Did you mean at_least?",
    "'ha-vt': there is no such variant; did you mean ha-vit",
    "claims.once.predicate.more_than = null: give either at_least or more_than",
    "claims.once.predicate.change_less_than = null: a claim about attention is",
    "claims.once.evidence.scale = 'some'",
    "claims.once.evidence.seeds = 0",
    "claims.magical.predicate.kind = 'magic' does not exist. Known: attention,",
    "2 claims are named once",
)


def test_all_faults_of_the_file_are_told_at_once(tmp_path: Path):
    """Each with its claim and key."""
    path = tmp_path / "claims.yaml"
    path.write_text(FAULTY)
    with pytest.raises(ConfigError) as caught:
        load_claims(path)
    for fault in FAULTS:
        assert fault in str(caught.value)
    assert len(caught.value.problems) == len(FAULTS)


@pytest.mark.parametrize("text", ["", "claims: 5", "claims: [5]", "claim: []", "- 1"])
def test_a_file_of_another_form_is_told(tmp_path: Path, text: str):
    """Never a traceback."""
    path = tmp_path / "claims.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"claims\.yaml"):
        load_claims(path)


def test_missing_tables_are_told(tmp_path: Path):
    """With the verb that makes them."""
    study, variants = made_up_study()
    with pytest.raises(ReattnError, match="python -m reattn tables"):
        judge_claims(study, variants, tmp_path)


def test_every_measure_of_attention_can_be_claimed():
    """Names, words and columns keep in step."""
    assert get_args(Metric) == METRICS == tuple(WORDS)
    assert get_args(Layers) == tuple(LAYERS)


def test_claims_are_judged_without_torch():
    """A light job, on any machine."""
    code = "import sys, reattn.claims; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_verbs_read_the_project(project: Path):
    """`check` tells a fault of the claims before anything is trained."""
    make_tables(*load_resolved("demo"), results_folder("demo"))
    claims("demo")
    assert len(rows_of(results_folder("demo"), "claims")) == len(load_claims())
    check("demo")
    (project / "config" / "claims.yaml").write_text(FAULTY)
    with pytest.raises(ConfigError, match="2 claims are named once"):
        check("demo")

"""Why queries and keys have maps of their own: the constructed task, its tables."""

import csv
import re
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_study import made_up_study

from reattn.attention.metric_files import (
    metric_row,
    metrics_path,
    write_attention_metrics,
)
from reattn.config.variants import Variant
from reattn.errors import ConfigError, ReattnError
from reattn.figures.constructed import draw_constructed
from reattn.files import read_json
from reattn.measure.constructed import measure_constructed, train_form
from reattn.measure.constructed_forms import (
    COLUMNS,
    KINDS,
    LABELS,
    STATES,
    accuracy_bound,
)
from reattn.measure.constructed_scores import ConstructedAttention
from reattn.measure.constructed_task import (
    TOKENS,
    best_matches_itself,
    draw_sets,
    mass_by_kind,
    right_answers,
    right_mass,
)
from reattn.tables import constructed as summary
from reattn.tables import projections
from reattn.tables.cells import NOT_AVAILABLE, read_table, split_reasons, write_table
from reattn.tables.models import model_rows
from reattn.tables.runs import RunRecord

SPREAD = ("min", "mean", "max")
SYMMETRIC = ("dot", "cosine", "tied", "shared")
Seeds = st.integers(0, 2**32 - 1)


def random(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def attention(scores: torch.Tensor) -> torch.Tensor:
    return scores.double().softmax(dim=-1)


@given(Seeds, st.sampled_from([0.1, 1.0, 10.0]))
@settings(deadline=None, max_examples=50)
def test_no_symmetric_scores_answer_a_whole_set(seed: int, scale: float) -> None:
    """Whatever the scores of tokens, contents too: two answers of three at most."""
    sets = draw_sets(200, random(seed))
    scores = scale * torch.randn(200, TOKENS, TOKENS, generator=random(seed))
    right = right_answers(attention(scores + scores.mT), sets)
    assert right.sum(dim=-1).max() <= 2


@given(Seeds)
@settings(deadline=None, max_examples=20)
def test_features_of_equal_length_match_themselves_best(seed: int) -> None:
    """No embedding lets the dot product give a right answer, or look elsewhere."""
    torch.manual_seed(seed)
    sets = draw_sets(100, random(seed))
    for scores in ("dot", "cosine"):
        weights = ConstructedAttention(scores)(sets)
        assert best_matches_itself(weights).all()
        assert not right_answers(weights, sets).any()


def test_two_answers_of_three_are_within_reach_of_one_map() -> None:
    """The bound is no lower: the example of the proof reaches it."""
    features = torch.zeros(TOKENS, 2)
    features[:3] = torch.tensor([[1.0, 0.0], [1.5, 1.5], [1.0, 4.0]])
    sets = draw_sets(5, random(0))
    right = right_answers(attention(features @ features.T).expand(5, -1, -1), sets)
    assert right.tolist() == [[True, True, False]] * 5
    assert accuracy_bound("tied") == right[0].double().mean()


def test_scores_with_a_direction_answer_everything() -> None:
    """A cycle of preferences needs s(x, y) to differ from s(y, x), and no more."""
    scores = torch.zeros(TOKENS, TOKENS)
    scores[[0, 1, 2], [1, 2, 0]] = 9.0
    weights, sets = attention(scores).expand(3, -1, -1), draw_sets(3, random(0))
    assert right_answers(weights, sets).all()
    assert right_mass(weights).min() > 0.99
    table = mass_by_kind(weights)
    assert table.sum(dim=-1).tolist() == pytest.approx([1] * 4)
    assert table[0, 1] > 0.99
    assert table[3].tolist() == pytest.approx([1 / 8] * 3 + [5 / 8])


def test_no_two_tokens_of_a_set_carry_the_same() -> None:
    """An answer names one token, so that it can be right by attention alone."""
    carried = draw_sets(50, random(0))[..., len(KINDS) :]
    assert (carried.sum(dim=1) == 1).all()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study's folder with the constructed task trained, and its table."""
    folder = tmp_path_factory.mktemp("results") / "made-up"
    measure_constructed(folder / "measure", seeds=(0, 1), progress=lambda line: None)
    make_table(folder)
    return folder


def make_table(folder: Path) -> list[dict[str, str]]:
    path = folder / "tables" / "constructed.csv"
    rows = [row.as_dict() for row in summary.constructed_rows(folder)]
    write_table(path, rows, summary.COLUMNS)
    return read_table(path)


def test_every_form_is_trained_and_only_symmetric_ones_fail(results: Path) -> None:
    """All forms, all seeds: right where the proof allows it, bounded where not."""
    rows = read_table(results / "measure" / "constructed.csv")
    assert [row["scores"] for row in rows[::2]] == list(LABELS)
    assert list(rows[0]) == list(COLUMNS)
    for row in rows:
        symmetric = row["scores"] in SYMMETRIC
        assert row["symmetric"] == ("yes" if symmetric else "no")
        absent = {column for column, cell in row.items() if cell == NOT_AVAILABLE}
        assert absent == set(split_reasons(row["reason"]))
        assert absent == (set() if symmetric else {"accuracy_bound"})
        if symmetric:
            assert float(row["accuracy"]) <= float(row["accuracy_bound"])
            assert float(row["self_largest_initial"]) > 0.9
            assert float(row["mass_on_right"]) < 0.67
        else:
            assert float(row["accuracy"]) > 0.95
            assert float(row["self_largest_initial"]) < 0.5
            assert float(row["self_largest_trained"]) < 0.05


def test_training_reaches_the_bound_of_one_map(results: Path) -> None:
    """Symmetric scores fail by what they are, not because they were trained badly."""
    rows = read_table(results / "measure" / "constructed.csv")
    tied = [float(row["accuracy"]) for row in rows if row["scores"] == "tied"]
    assert max(tied) == pytest.approx(2 / 3, abs=1e-3)


def test_attention_by_kind_sums_to_one(results: Path) -> None:
    """Every form, seed and state has all of its attention in the second file."""
    with (results / "measure" / "constructed-attention.csv").open() as file:
        rows = list(csv.DictReader(file))
    sums: dict[tuple[str, ...], float] = {}
    for row in rows:
        key = (row["scores"], row["seed"], row["state"], row["query"])
        sums[key] = sums.get(key, 0) + float(row["mass"])
    assert len(sums) == len(LABELS) * 2 * len(STATES) * len(KINDS)
    assert list(sums.values()) == pytest.approx([1] * len(sums), abs=1e-5)


def test_same_seed_same_bits() -> None:
    """A form trained again is the same to the last digit; another seed is not."""
    torch.manual_seed(1)
    first = train_form("separate", [3], steps=10)
    torch.manual_seed(2)
    assert train_form("separate", [3], steps=10) == first
    assert train_form("separate", [4], steps=10) != first


@pytest.mark.parametrize("scores", LABELS)
def test_seeds_are_trained_side_by_side_as_each_alone(scores: str) -> None:
    """What one seed's weights are told never changes another's."""
    together = train_form(scores, [3, 4], steps=20)
    assert together == [train_form(scores, [seed], steps=20)[0] for seed in (3, 4)]


def test_the_table_has_means_and_extremes(results: Path) -> None:
    """One row a form, means between extremes, and a reason for each n/a."""
    rows = make_table(results)
    assert [row["scores"] for row in rows] == list(LABELS)
    for row in rows:
        low, middle, high = (
            float(row[f"accuracy_{p}"]) for p in ("min", "mean", "max")
        )
        assert low <= middle <= high
        assert row["n_seeds"] == "2"
        absent = {column for column, cell in row.items() if cell == NOT_AVAILABLE}
        assert absent == set(split_reasons(row["reason"]))


@pytest.mark.parametrize("content", [None, "", "scores\ntied\n", "a,b\n1", "\0\n"])
def test_an_untrained_task_is_not_available(
    tmp_path: Path, content: str | None
) -> None:
    """A missing, torn or foreign file gives n/a with a reason, and no figure."""
    path = tmp_path / "measure" / "constructed.csv"
    if content is not None:
        path.parent.mkdir()
        path.write_text(content)
    for row in make_table(tmp_path):
        assert row["accuracy_mean"] == row["symmetric"] == NOT_AVAILABLE
        assert "" not in split_reasons(row["reason"]).values()
        assert "" not in row.values()
    draw_constructed(tmp_path)
    (entry,) = read_json(tmp_path / "figures" / "constructed" / "figures.json")
    assert (entry["kind"], entry["file"]) == ("none", None)


def test_a_torn_file_is_not_read_as_a_smaller_one(
    results: Path, tmp_path: Path
) -> None:
    """A last row that breaks off in a number is no number."""
    whole = (results / "measure" / "constructed.csv").read_text()
    (tmp_path / "measure").mkdir()
    (tmp_path / "measure" / "constructed.csv").write_text(whole[:-1])
    assert all(row["n_seeds"] == "0" for row in make_table(tmp_path))


def test_the_figure_shows_its_numbers_and_is_the_same_again(results: Path) -> None:
    """Every form by name, the bound, and equal bytes for equal files."""
    folder = results / "figures" / "constructed"
    draw_constructed(results)
    (entry,) = read_json(folder / "figures.json")
    first = (folder / entry["file"]).read_bytes()
    draw_constructed(results)
    assert (folder / entry["file"]).read_bytes() == first
    texts = re.findall(r">([^<>]+)</text>", first.decode())
    assert set(LABELS.values()) <= set(texts)
    assert texts.count("At most: 67 %") == texts.count("At most: 0 %") == 2
    assert texts.count("100") >= 9  # trained: all that the last three attend to
    assert "mean of 2 seeds" in entry["caption"]


@pytest.mark.parametrize("content", [None, "", "scores,seed\n", "a\n1"])
def test_a_figure_without_its_file_says_what_makes_it(
    results: Path, tmp_path: Path, content: str | None
) -> None:
    """A missing or foreign file of attention ends in a message, not a traceback."""
    (tmp_path / "measure").mkdir()
    source = results / "measure" / "constructed.csv"
    (tmp_path / "measure" / "constructed.csv").write_bytes(source.read_bytes())
    if content is not None:
        (tmp_path / "measure" / "constructed-attention.csv").write_text(content)
    make_table(tmp_path)
    with pytest.raises(ReattnError, match="python -m reattn constructed"):
        draw_constructed(tmp_path)


def test_the_verb_knows_its_study(project: Path) -> None:
    """A study that does not exist is a fault with a message, before any training."""
    from reattn.cli.constructed import constructed

    with pytest.raises(ConfigError, match="no-such"):
        constructed("no-such")


def variant(scores: str, values: str, other: str | None, **changes: object) -> Variant:
    model = {
        "family": "projections",
        "heads": 4,
        "width": 32,
        "feed_forward": 64,
        "layers": 2,
        "patch_size": 4,
        "scores": scores,
        "values": values,
    }
    recipe = {"epochs": 3, "batch": 100, "learning_rate": 0.1, "warmup_epochs": 1}
    return Variant.model_validate(
        {
            "label": f"{scores}, {values}",
            "group": "projections",
            "order": 1,
            "compared_with": other,
            "source": "a test",
            "model": {**model, **changes},
            "recipe": {**recipe, "augmentation": "flip"},
        }
    )


VARIANTS = {
    "all": variant("separate", "separate", None),
    "tied": variant("tied", "separate", "all"),
    "tied-matched": variant("tied", "separate", "all", matched=True),
    "dot": variant("dot", "none", "all"),
    "merged": variant("separate", "merged", "elsewhere"),
    "shared": variant("shared", "shared", "all"),
}
ACCURACIES = {"all": [60.0, 61.0, 62.0], "tied": [50.0, 52.0, 51.0], "dot": [40.0]}


def projection_rows(folder: Path) -> dict[str, dict]:
    study, report = made_up_study(seeds=[0, 1, 2])
    variants = {**report, **VARIANTS}
    runs = [
        RunRecord(name, seed, "ok", metrics={"accuracy": accuracy}, test_images=1000)
        for name, accuracies in ACCURACIES.items()
        for seed, accuracy in enumerate(accuracies)
    ]
    models = model_rows(study, variants, runs, folder, {})
    found = projections.projection_rows(study, variants, runs, models, folder)
    path = folder / "tables" / "projections.csv"
    write_table(path, [row.as_dict() for row in found], projections.COLUMNS)
    return {row["variant"]: row for row in read_table(path)}


def test_projections_are_compared_with_all_maps(tmp_path: Path) -> None:
    """Maps in words, the width that is built, and differences by Welch's interval."""
    rows = projection_rows(tmp_path)
    assert list(rows) == list(VARIANTS)
    assert rows["all"]["projections"] == "Q, K, V"
    assert rows["tied"]["projections"] == "Q = K, V"
    assert rows["dot"]["projections"] == "none"
    assert rows["shared"]["projections"] == "Q = K = V"
    assert rows["merged"]["projections"] == "Q, K (V within the output map)"
    assert rows["tied"]["position_term"] == "of the query"
    assert rows["dot"]["position_term"] == "one vector a head"
    assert rows["tied"]["width"] == "32"
    assert int(rows["tied-matched"]["width"]) > 32
    tied = rows["tied"]
    assert float(tied["difference"]) == pytest.approx(-10)
    assert float(tied["difference_low"]) < -10 < float(tied["difference_high"]) < 0
    assert "Welch" in tied["difference_kind"]


def test_projections_without_a_number_say_why(tmp_path: Path) -> None:
    """No empty cell, and a reason for every n/a, whatever is missing."""
    rows = projection_rows(tmp_path)
    for row in rows.values():
        absent = {column for column, cell in row.items() if cell == NOT_AVAILABLE}
        reasons = split_reasons(row["reason"])
        assert absent == set(reasons)
        assert all(reasons.values())
        assert "" not in row.values()
    assert "elsewhere is not in this study" in rows["merged"]["reason"]
    assert "what others compare with" in rows["all"]["reason"]
    assert rows["dot"]["difference_low"] == NOT_AVAILABLE
    assert rows["shared"]["difference"] == NOT_AVAILABLE


def test_projections_average_attention_over_seeds_and_layers(tmp_path: Path) -> None:
    """Rows of whole layers count, those of single heads do not; states stay apart."""
    rows = []
    for state, shift in (("trained", 0.0), ("initial", 0.5)):
        for seed in (0, 1):
            for layer in (1, 2):
                keys = {"variant": "tied", "seed": seed, "state": state, "images": 9}
                keys |= {"layer": layer}
                value = shift + 0.1 * seed + 0.2 * (layer - 1)
                whole = {"self_mass": value, "entropy": "no softmax"}
                rows.append(metric_row({**keys, "head": "all"}, whole, "made up"))
                rows.append(metric_row({**keys, "head": 1}, {"self_mass": 7.0}, "-"))
    write_attention_metrics(metrics_path(tmp_path, "tied"), rows)
    tied = projection_rows(tmp_path)["tied"]
    assert float(tied["self_mass"]) == pytest.approx(0.15)
    assert float(tied["self_mass_initial"]) == pytest.approx(0.65)
    assert split_reasons(tied["reason"])["entropy"] == "no softmax"
    assert split_reasons(tied["reason"])["distance_initial"] == "made up"
    metrics_path(tmp_path, "tied").write_text("torn")
    assert "Measure again" in projection_rows(tmp_path)["tied"]["reason"]

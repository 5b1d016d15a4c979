"""Attention metrics: known answers, files, the table, and the figure."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from conftest import write_study

from reattn.attention.looking import Looker
from reattn.attention.measuring import measure_attention
from reattn.attention.measuring_images import measure_images
from reattn.attention.metric_files import (
    ALL,
    COLUMNS,
    INITIAL,
    METRICS,
    NO_SOFTMAX,
    NOT_AVAILABLE,
    TRAINED,
    metric_row,
    metrics_path,
    read_attention_metrics,
    write_attention_metrics,
)
from reattn.attention.metrics import (
    elsewhere,
    entropy,
    layer_differences,
    mean_distance,
    over_image_keys,
    self_mass,
)
from reattn.attention.metrics_shifts import concentration, shares_by_shift
from reattn.attention.metrics_symmetry import asymmetry, share_of_known
from reattn.cli.main import app
from reattn.config import load_resolved, results_folder
from reattn.config.paths import data_folder
from reattn.config.runs import find_run
from reattn.data import prepare
from reattn.errors import ReattnError
from reattn.figures.attention_metrics import draw_attention_metrics
from reattn.figures.attention_metrics_study import uniform_metrics
from reattn.files import write_json
from reattn.models.build import build_model
from reattn.tables import attention as table
from reattn.training import checkpoints
from reattn.training.fresh import fresh_model
from reattn.training.state import weights_digest

H, W, N = 6, 7, 42
PATCH = (2, 2)


def of_matrix(matrix: torch.Tensor) -> torch.Tensor:
    """(..., n, n) as attention over the grid."""
    return matrix.reshape(*matrix.shape[:-2], H, W, H, W)


def softmax(scores: torch.Tensor) -> torch.Tensor:
    return of_matrix(scores.softmax(-1))


def places() -> torch.Tensor:
    """Row and column of every position, (n, 2)."""
    return torch.cartesian_prod(torch.arange(H), torch.arange(W)).double()


def uniform() -> torch.Tensor:
    return of_matrix(torch.full((N, N), 1 / N, dtype=torch.float64))


def identity() -> torch.Tensor:
    return of_matrix(torch.eye(N, dtype=torch.float64))


def shifted(row: int, column: int) -> torch.Tensor:
    """Each query attends to one shift; to itself where that leaves the map."""
    matrix = torch.zeros(N, N, dtype=torch.float64)
    for query, (r, c) in enumerate(places().long().tolist()):
        inside = 0 <= r + row < H and 0 <= c + column < W
        matrix[query, (r + row) * W + c + column if inside else query] = 1
    return of_matrix(matrix)


def block(side: int) -> torch.Tensor:
    """Each query attends alike to the square around it, as far as the map goes."""
    apart = (places()[:, None] - places()).abs().amax(-1)
    near = (apart <= side // 2).double()
    return of_matrix(near / near.sum(-1, keepdim=True))


def random_scores(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=_generator())


def _generator() -> torch.Generator:
    return torch.Generator().manual_seed(3)


def test_uniform_attention():
    """All keys alike: 1/n on itself and at any shift, entropy ln n, no largest."""
    attention = uniform()
    assert self_mass(attention).item() == pytest.approx(1 / N)
    assert entropy(attention).item() == pytest.approx(math.log(N))
    assert concentration(attention)[0].item() == pytest.approx(1 / N)
    assert elsewhere(attention).item() == 0
    apart = 2 * np.hypot(*(places().numpy()[:, None] - places().numpy()).T)
    assert mean_distance(attention, PATCH).item() == pytest.approx(apart.mean())


def test_uniform_lines_of_the_figure_are_the_metrics_of_uniform_attention():
    """What the figure draws as `all keys alike` is what the metrics say of it."""
    side = torch.full((1, 8, 8, 8, 8), 1 / 64, dtype=torch.float64)
    _, variants = load_resolved("demo")
    known = uniform_metrics(variants["vit"].model, 16)
    assert known["distance"] == pytest.approx(mean_distance(side, PATCH).item())
    assert known["entropy"] == pytest.approx(entropy(side).item())
    assert known["concentration"] == pytest.approx(concentration(side)[0].item())
    assert uniform_metrics(variants["resnet18"].model, 16) == {}


def test_identity_attention():
    """Everything on oneself: a convolution's centre tap."""
    attention = identity()
    assert self_mass(attention).item() == 1
    assert entropy(attention).item() == 0
    assert mean_distance(attention, PATCH).item() == 0
    assert elsewhere(attention).item() == 0
    share, shift = concentration(attention)
    assert (share.item(), shift.tolist()) == (1, [0, 0])


def test_a_fixed_shift_is_found_with_its_direction():
    """A shift by (1, -2) is one tap: row first, key minus query, in pixels far."""
    attention = shifted(1, -2)
    inside = (H - 1) * (W - 2) / N
    share, shift = concentration(attention)
    assert (share.item(), shift.tolist()) == (1, [1, -2])
    assert self_mass(attention).item() == pytest.approx(1 - inside)
    assert elsewhere(attention).item() == pytest.approx(inside)
    far = mean_distance(attention, (3, 5)).item()
    assert far == pytest.approx(inside * math.hypot(3, 10))
    assert shares_by_shift(attention)[H - 1 + 1, W - 1 - 2].item() == 1


def test_a_block_of_keys():
    """A k x k block: 1/k^2 inside, more at a border, where fewer keys share."""
    attention = block(3)
    sizes = torch.outer(
        torch.tensor([2, 3, 3, 3, 3, 2]), torch.tensor([2, *[3] * 5, 2])
    )
    assert self_mass(attention).item() == pytest.approx((1 / sizes).mean().item())
    assert entropy(attention).item() == pytest.approx(sizes.log().mean().item())
    assert elsewhere(attention).item() == 0
    share, shift = concentration(attention)
    assert 1 / 9 < share.item() < 1 / 4
    assert max(map(abs, shift.tolist())) <= 1


def test_one_key_for_all_queries_is_no_convolution():
    """The shift from corner to corner, of one query alone, does not count."""
    attention = torch.zeros(H, W, H, W, dtype=torch.float64)
    attention[..., H - 1, W - 1] = 1
    assert concentration(attention)[0].item() <= 1 / (0.25 * N)


def test_leading_axes_stay_and_heads_do_not_mix():
    """Metrics of a batch are those of its members."""
    stack = torch.stack([uniform(), identity(), block(3), block(5)]).unflatten(
        0, (2, 2)
    )
    for metric in (self_mass, entropy, elsewhere, asymmetry):
        assert metric(stack).shape == (2, 2)
        assert torch.allclose(metric(stack)[1, 0], metric(block(3)), equal_nan=True)
    shares, shifts = concentration(torch.stack([shifted(1, -2), shifted(0, 1)]))
    assert shares.tolist() == [1, 1]
    assert shifts.tolist() == [[1, -2], [0, 1]]


@pytest.mark.parametrize("scale", [1, 20])
def test_asymmetry_of_scores_that_are_known(scale: int):
    """Symmetric: 0; antisymmetric: 1; also where single precision loses some pairs."""
    scores = scale * random_scores(N, N)
    for dtype in (torch.float32, torch.float64):
        zero = asymmetry(softmax((scores + scores.T).to(dtype))).item()
        one = asymmetry(softmax((scores - scores.T).to(dtype))).item()
        probabilities = softmax((scores + scores.T).to(dtype))
        lost = (probabilities < torch.finfo(dtype).tiny).any()
        assert lost == (scale == 20 and dtype == torch.float32)
        assert zero == pytest.approx(0, abs=1e-6)
        assert one == pytest.approx(1, abs=1e-6)


def test_asymmetry_is_the_share_of_the_scores_variance():
    """Mixed scores have the share that their centred parts have; noise has half."""
    scores = random_scores(N, N)
    symmetric, other = (scores + scores.T) / 2, (scores - scores.T) / 2
    centred = [
        part - part.mean(0) - part.mean(1)[:, None] for part in (symmetric, other)
    ]
    first, second = ((part - part.mean()) ** 2 for part in centred)
    expected = (second.sum() / (first.sum() + second.sum())).item()
    assert asymmetry(softmax(scores)).item() == pytest.approx(expected)
    assert expected == pytest.approx(0.5, abs=0.05)
    numbers_of_queries = 5 * random_scores(N, 1)
    moved = asymmetry(softmax(scores + numbers_of_queries)).item()
    assert moved == pytest.approx(expected)


def test_asymmetry_of_a_gaussian_with_its_centre_aside_is_zero():
    """Such scores differ from symmetric ones by a number of the key alone."""
    apart = places() - places()[:, None]
    aside = apart - torch.tensor([1.0, -2.0])
    assert asymmetry(softmax(-0.5 * (aside**2).sum(-1))).item() < 1e-6


def test_asymmetry_where_pairs_are_left_out():
    """With all pairs the linear systems give what the means give; a fit stays exact."""
    scores = random_scores(N, N)
    logarithms = scores.log_softmax(-1)
    everything = torch.ones(N, N, dtype=torch.bool)
    whole = asymmetry(softmax(scores)).item()
    assert share_of_known(logarithms, everything).item() == pytest.approx(whole)
    known = random_scores(N, N) > 0
    known = known | known.T
    noisy = torch.where(known, (scores - scores.T).log_softmax(-1), -99)
    assert share_of_known(noisy, known).item() == pytest.approx(1)


def test_asymmetry_without_variance_is_not_a_number():
    """Uniform and identical attention say nothing of symmetry."""
    assert asymmetry(uniform()).isnan()
    assert asymmetry(identity()).isnan()


def test_differences_of_layers():
    """Equal layers: 0 bits; no key in common: 1; another size: not compared."""
    layers = [block(3)[None], block(3)[None], shifted(1, -2)[None]]
    smaller = torch.full((1, 2, 2, 2, 2), 0.25)
    first, second, third, fourth = layer_differences([*layers, smaller])
    assert fourth is None
    assert first.item() == pytest.approx(second.item())
    assert third.item() == pytest.approx(2 * first.item())
    same, also = layer_differences([block(3)[None], block(3)[None]])
    assert same.item() == also.item() == 0
    apart, _ = layer_differences([identity()[None], shifted(1, 0)[None]])
    assert apart.item() == pytest.approx((H - 1) / H)
    heads = torch.stack([identity(), shifted(1, 0)])
    mixed, _ = layer_differences([heads, heads.flip(0)])
    assert mixed.item() == pytest.approx(0)


def test_local_weights():
    """A neighbourhood's middle is the query; what a border mirrors is no shift."""
    uniform = torch.full((1, 2, 4, 5, 3, 3), 1 / 9, dtype=torch.float64)
    assert torch.allclose(self_mass(uniform, local=True), torch.tensor(1 / 9).double())
    assert entropy(uniform)[0, 0].item() == pytest.approx(math.log(9))
    assert elsewhere(uniform, local=True)[0, 0].item() == 0
    far = mean_distance(uniform, (2, 2), local=True)[0, 0].item()
    assert far == pytest.approx(2 * (4 + 4 * math.sqrt(2)) / 9)
    weights = torch.zeros(1, 1, 4, 5, 3, 3, dtype=torch.float64)
    weights[..., 2, 0] = 0.75
    weights[..., 1, 1] = 0.25
    weights[0, 0, 3, :, 2, 0], weights[0, 0, 3, :, 1, 1] = 0, 1  # leaves the map
    weights[0, 0, :, 0, 2, 0], weights[0, 0, :, 0, 1, 1] = 0, 1
    share, shift = concentration(weights, local=True)
    assert (share.item(), shift.tolist()) == (0.75, [[[1, -1]]])
    assert elsewhere(weights, local=True).item() == pytest.approx(12 / 20)


def test_a_class_token_is_left_out():
    """What is not the token's adds up to 1, in the proportions that it had."""
    attention = over_image_keys(0.3 * block(3))
    assert torch.allclose(attention, block(3))


def images(count: int = 5) -> np.ndarray:
    generator = np.random.default_rng(0)
    return generator.integers(0, 256, (count, 3, 16, 16), dtype=np.uint8)


def measured(variant: str, count: int = 5, **settings):
    torch.manual_seed(1)
    small = {"width": 8, "feed_forward": 8, "layers": 2, "heads": 3} | settings
    model = build_model(variant, image_size=16, **small)
    return measure_images(Looker(model, (0.5,) * 3, (0.2,) * 3, 0), images(count))


def test_batches_give_what_images_give_alone(monkeypatch: pytest.MonkeyPatch):
    """The size of a batch changes no metric."""
    alone = measured("learned2d-9h-content")
    monkeypatch.setattr("reattn.attention.measuring_images.MOST_WEIGHTS", 1)
    single = measured("learned2d-9h-content")
    for first, second in zip(alone.layers, single.layers, strict=True):
        pairs = [(first.at_best_shift()[0], second.at_best_shift()[0])]
        for metric in set(METRICS) - {"concentration"}:
            pairs.append((first.by_image(metric), second.by_image(metric)))
        for values, others in pairs:
            assert len(values) == 5
            assert torch.allclose(values, others, atol=1e-6)
    assert not alone.independent


def test_attention_that_no_image_changes_is_measured_once():
    """One look stands for all images."""
    found = measured("quadratic-9h-isotropic")
    assert (found.independent, found.images) == (True, 5)
    assert found.layers[0].by_image("entropy").shape == (1, 3)
    assert found.layers[0].by_image("asymmetry").abs().max() < 1e-4


@pytest.fixture
def study(project) -> str:
    """A study with a run of four variants, whose weights are as drawn, or doubled."""
    variants = ["learned2d-9h-content", "vit", "san-patchwise", "resnet18"]
    attention = {"images": [0], "queries": [[3, 4]], "metric_images": 3}
    name = write_study(project, variants=variants, seeds=[0, 1], attention=attention)
    prepare(load_resolved(name)[0].data, data_folder(name))
    for variant in variants:
        for seed in (0, 1):
            run = find_run(name, variant, seed)
            model = fresh_model(run, (16, 16), 10)
            start = {"initial_weights": weights_digest(model)}
            write_json(run.folder / "metrics.json", start)
            for parameter in model.parameters():
                parameter.data.mul_(2)
            checkpoints.save(run.folder / "model.pt", {"model": model.state_dict()})
            write_json(run.folder / "status.json", {"status": "ok"})
    return name


def test_a_file_has_every_seed_state_layer_and_head(study: str):
    """The contract's rows and columns; the same bytes when measured again."""
    path = measure_attention(study, "learned2d-9h-content")
    assert path == metrics_path(results_folder(study), "learned2d-9h-content")
    assert path.read_text().splitlines()[0] == ",".join(COLUMNS)
    rows = read_attention_metrics(path)
    heads = [*map(str, range(1, 10)), ALL]
    assert [(r["seed"], r["state"], r["layer"], r["head"]) for r in rows] == [
        (seed, state, layer, head)
        for seed in "01"
        for state in (TRAINED, INITIAL)
        for layer in "12"
        for head in heads
    ]
    assert {row["images"] for row in rows} == {"3"}
    first, last = rows[0], rows[9]
    assert first["layer_difference"] == last["shift_row"] == NOT_AVAILABLE
    mean = sum(float(row["entropy"]) for row in rows[:9]) / 9
    assert float(last["entropy"]) == pytest.approx(mean, rel=1e-4)
    text = path.read_bytes()
    assert measure_attention(study, "learned2d-9h-content").read_bytes() == text


def test_what_training_changed_is_seen(study: str):
    """Trained and initial rows are of different weights, and of the right ones."""
    rows = read_attention_metrics(measure_attention(study, "vit"))
    cells = {(r["seed"], r["state"], r["layer"], r["head"]): r["entropy"] for r in rows}
    own = [cells["0", state, "2", ALL] for state in (TRAINED, INITIAL)]
    assert own[0] != own[1] != cells["1", INITIAL, "2", ALL]
    run = find_run(study, "vit", 0)
    model = fresh_model(run, (16, 16), 10)
    checkpoints.save(run.folder / "model.pt", {"model": model.state_dict()})
    rows = read_attention_metrics(measure_attention(study, "vit"))
    cells = {(r["seed"], r["state"], r["layer"], r["head"]): r["entropy"] for r in rows}
    assert cells["0", TRAINED, "2", ALL] == cells["0", INITIAL, "2", ALL] == own[1]


def test_a_beginning_that_cannot_be_drawn_again_is_said(study: str):
    """Of older runs, and where today's code draws other weights: n/a, and why."""
    for content, words in (
        ({"params": 1}, "did not record"),
        ({"initial_weights": "0" * 16}, "other initial weights"),
    ):
        write_json(find_run(study, "vit", 0).folder / "metrics.json", content)
        rows = read_attention_metrics(measure_attention(study, "vit"))
        (row,) = (r for r in rows if (r["seed"], r["state"]) == ("0", INITIAL))
        assert row["entropy"] == NOT_AVAILABLE
        assert words in row["reason"]


def test_what_has_no_softmax_or_no_attention_says_so(study: str):
    """Patchwise SAN: rows of n/a; a convolutional network: one row."""
    rows = read_attention_metrics(measure_attention(study, "san-patchwise"))
    assert all(row[metric] == NOT_AVAILABLE for row in rows for metric in METRICS)
    assert all(row["reason"].endswith(f": {NO_SOFTMAX}") for row in rows)
    (row,) = read_attention_metrics(measure_attention(study, "resnet18"))
    assert "no attention" in row["reason"]


def test_runs_without_weights_keep_their_rows(study: str):
    """Committed results have no weights; what was measured of them stays."""
    path = measure_attention(study, "vit")
    before = path.read_bytes()
    runs = [find_run(study, "vit", seed) for seed in (0, 1)]
    (runs[0].folder / "model.pt").unlink()
    assert measure_attention(study, "vit").read_bytes() == before
    (runs[1].folder / "model.pt").unlink()
    for file in runs[0].data.iterdir():
        file.unlink()  # without weights nobody asks for images
    assert measure_attention(study, "vit").read_bytes() == before
    write_json(runs[1].folder / "status.json", {"status": "diverged"})
    rows = read_attention_metrics(measure_attention(study, "vit"))
    (gone,) = (row for row in rows if row["seed"] == "1")
    assert gone["reason"].endswith("diverged")
    path.unlink()
    rows = read_attention_metrics(measure_attention(study, "vit"))
    assert "not kept" in rows[0]["reason"]


@pytest.mark.parametrize(
    "text",
    ["", "a,b\n1,2\n", "{head}\n", "{whole}x", "{cut}", "{word}"],
    ids=["empty", "foreign", "head alone", "no end", "half a row", "a word"],
)
def test_a_torn_file_is_told_from_a_good_one(tmp_path, text: str):
    """The message names the file and the verb that makes it again."""
    path = metrics_path(tmp_path / "a-study", "vit")
    write_attention_metrics(path, [row_of(0, TRAINED, 1, 1, 0.5)])
    head, row = path.read_text().splitlines()
    forms = {
        "head": head,
        "whole": f"{head}\n{row}\n",
        "cut": f"{head}\n{row[:40]}\n",
        "word": f"{head}\n{row.replace('0.5', 'half')}\n",
    }
    path.write_text(text.format(**forms))
    with pytest.raises(ReattnError, match=r"vit\.csv.*measure-attention a-study vit"):
        read_attention_metrics(path)


def row_of(seed: int, state: str, layer: int, head: object, value: float) -> dict:
    """A row whose metrics are all one value, with a deviation of 0.1."""
    values = dict.fromkeys(METRICS, value)
    deviations = {f"{metric}_std": 0.1 for metric in METRICS}
    keys = {"variant": "vit", "seed": seed, "state": state, "layer": layer}
    shift = {"shift_row": 1, "shift_column": -2}
    keys |= {"head": head, "images": 25}
    return metric_row(keys, {**values, **deviations, **shift})


def table_of(results, trained: list[float]) -> list[dict]:
    """The table's rows of a ViT with two layers, one run a value."""
    rows = [
        row_of(seed, state, layer, head, layer * value)
        for seed, after in enumerate(trained)
        for state, value in ((TRAINED, after), (INITIAL, 0.1))
        for layer in (1, 2)
        for head in (1, ALL)
    ]
    write_attention_metrics(metrics_path(results, "vit"), rows)
    _, variants = load_resolved("demo")
    chosen = {name: variants[name] for name in ("resnet18", "vit")}
    return [row.as_dict() for row in table.attention_rows(chosen, results)]


def test_the_table_over_seeds(tmp_path):
    """Changes within seeds, their mean, and Student's interval of it."""
    from scipy.stats import t

    absent, first, second, whole = table_of(tmp_path, [0.4, 0.6, 0.5])
    assert list(first) == list(table.COLUMNS)
    assert [row["layer"] for row in (first, second, whole)] == ["1", "2", ALL]
    assert (first["n_seeds"], first["images"]) == (3, "25")
    assert first["entropy_change"] == pytest.approx(0.4)
    half = t.ppf(0.975, 2) * 0.1 / math.sqrt(3)
    assert first["entropy_change_low"] == pytest.approx(0.4 - half, abs=1e-6)
    assert first["entropy_change_high"] == pytest.approx(0.4 + half, abs=1e-6)
    assert first["interval_kind"] == table.OVER_SEEDS
    assert whole["self_mass_trained"] == pytest.approx(0.75)
    assert absent["entropy_trained"] == NOT_AVAILABLE
    assert "not measured yet" in absent["reason"]


def test_the_table_of_one_seed(tmp_path):
    """One run: an interval over images, and named so."""
    _, first, _, whole = table_of(tmp_path, [0.4])
    half = 1.959964 * (0.1 + 0.1) / 5
    assert first["entropy_change_low"] == pytest.approx(0.3 - half, abs=1e-5)
    assert whole["entropy_change_high"] == pytest.approx(0.45 + half, abs=1e-5)
    assert first["interval_kind"] == table.OVER_IMAGES


def test_the_table_of_runs_with_imported_weights(tmp_path):
    """What nobody saw before training has no change; those seen pair by seed."""
    path = metrics_path(tmp_path, "vit")
    rows = [row_of(0, TRAINED, 1, ALL, 0.5), row_of(1, TRAINED, 1, ALL, 0.7)]
    _, variants = load_resolved("demo")
    chosen = {"vit": variants["vit"]}
    write_attention_metrics(path, rows)
    first = table.attention_rows(chosen, tmp_path)[0]
    assert (first["entropy_trained"], first["entropy_change"]) == (0.6, NOT_AVAILABLE)
    assert first["interval_kind"] == NOT_AVAILABLE
    write_attention_metrics(path, [*rows, row_of(1, INITIAL, 1, ALL, 0.1)])
    first = table.attention_rows(chosen, tmp_path)[0]
    assert first["entropy_change"] == pytest.approx(0.6)
    assert first["interval_kind"] == table.OVER_IMAGES


def test_the_figure_and_its_words(tmp_path):
    """One SVG; caption with images, seeds and the reduced note; or a reason."""
    table_of(tmp_path, [0.4, 0.6])
    (entry,) = draw_attention_metrics(tmp_path, "vit", "ViT", reduced="small")
    folder = tmp_path / "figures" / "attention-metrics" / "vit"
    assert json.loads((folder / "figures.json").read_text()) == [entry]
    assert entry["kind"] == "attention-metrics"
    assert (folder / entry["file"]).read_text().count("Layer 2") == 1
    for words in ("25 test images", "seeds 0, 1", "Reduced study: small."):
        assert words in entry["caption"]
    why = metric_row({"variant": "vit"}, {}, NO_SOFTMAX)
    write_attention_metrics(metrics_path(tmp_path, "vit"), [why])
    (entry,) = draw_attention_metrics(tmp_path, "vit", "ViT")
    assert (entry["kind"], entry["file"]) == ("none", None)
    assert NO_SOFTMAX in entry["caption"]


def test_verbs_say_what_to_do(study: str):
    """An unknown variant, and a file that is not there yet."""
    app(["measure-attention", study, "vit"], standalone_mode=False)
    app(["draw-attention-metrics", study, "vit"], standalone_mode=False)
    folder = results_folder(study) / "figures" / "attention-metrics" / "vit"
    assert (folder / "metrics.svg").is_file()
    for verb in ("measure-attention", "draw-attention-metrics"):
        with pytest.raises(ReattnError, match="no variant 'wit'"):
            app([verb, study, "wit"], standalone_mode=False)
    with pytest.raises(ReattnError, match="measure-attention tiny resnet18"):
        app(["draw-attention-metrics", study, "resnet18"], standalone_mode=False)


def test_tables_and_figures_of_metrics_do_not_load_torch():
    """They start in a moment."""
    modules = "reattn.tables.attention, reattn.figures.attention_metrics_study"
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0

"""Training: the recipe, the loss, micro-batches, resuming, and how runs end."""

import contextlib
import json
import math

import numpy as np
import pandas as pd
import pytest
import torch
from conftest import TINY, write_study
from run_numbers import assert_equal_bit_for_bit, numbers_of
from torch import nn

from reattn.config import load_resolved
from reattn.config.budget import budget_of
from reattn.config.paths import data_folder
from reattn.config.runs import find_run, runs_of
from reattn.data import open_data, prepare
from reattn.errors import CheckpointError, ConfigError, DataError, DeviceError
from reattn.models.build import build_model
from reattn.training import checkpoints, loop, steps
from reattn.training.accuracy import authors_accuracy, log_probabilities
from reattn.training.history import Epoch
from reattn.training.loss import classification_loss
from reattn.training.metrics import BATCH_NORMALISATION_NOTE
from reattn.training.randomness import generator_for, training_order
from reattn.training.run import train_run
from reattn.training.schedule import learning_rate
from reattn.training.sets import open_sets
from reattn.training.steps import DivergenceError, Step
from reattn.training.tracking import Tracker
from reattn.training.weights import evaluate_run

CPU = torch.device("cpu")
REPORT = list(load_resolved("paper")[1])


@pytest.fixture
def tiny(project) -> str:
    """A study that trains in seconds, with its data prepared."""
    name = write_study(project)
    prepare_data(name)
    return name


def prepare_data(name: str) -> None:
    """Prepare the digits of a study."""
    study, _ = load_resolved(name)
    prepare(study.data, data_folder(name), None)


# The recipe


@pytest.mark.parametrize("variant_id", REPORT)
def test_the_learning_rate_follows_the_authors(variant_id: str):
    """Linear to W, then a cosine of length E - W chained from the last value."""
    study, variants = load_resolved("paper")
    recipe = variants[variant_id].recipe
    budget = budget_of(recipe, study.training)
    total, warmup = recipe.epochs, recipe.warmup_epochs
    # torch's chained form of CosineAnnealingLR, made before the warm-up and stepped
    # after it, as the authors do.
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=recipe.learning_rate)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, total - warmup)
    for group in optimizer.param_groups:
        group["lr"] = recipe.learning_rate * (warmup - 1) / warmup
    for epoch in range(1, total + 2):
        if epoch < warmup:
            expected = recipe.learning_rate * epoch / warmup
        else:
            optimizer.step()
            cosine.step()
            expected = optimizer.param_groups[0]["lr"]
        found = learning_rate(budget, recipe.learning_rate, epoch)
        assert math.isclose(found, expected, rel_tol=1e-4, abs_tol=1e-12), epoch


def test_a_scaled_schedule_ends_low():
    """The restart after the authors' cosine is not blown up by few epochs."""
    study, variants = load_resolved("demo")
    recipe = variants["vit"].recipe
    budget = budget_of(recipe, study.training)
    rates = [
        learning_rate(budget, recipe.learning_rate, epoch)
        for epoch in range(1, budget.last_epoch + 1)
    ]
    assert rates == sorted(rates, reverse=True)
    assert 0 < rates[-1] < 0.2 * recipe.learning_rate


def test_smoothing_leaves_the_label_its_share():
    """0.9 on the label, 0.1 / 9 on each other class (their losses.py)."""
    outputs = torch.randn(5, 10, dtype=torch.float64)
    labels = torch.tensor([0, 3, 9, 5, 5])
    target = torch.full((5, 10), 0.1 / 9, dtype=torch.float64)
    target[torch.arange(5), labels] = 0.9
    expected = -(target * outputs.log_softmax(1)).sum()
    found = classification_loss(outputs, labels, 0.1)
    assert torch.allclose(found.double(), expected, rtol=1e-6)


def test_log_probabilities_may_stand_for_logits():
    """The authors apply log_softmax twice, which changes nothing."""
    outputs, labels = torch.randn(4, 10), torch.tensor([1, 2, 3, 4])
    once = classification_loss(outputs, labels, 0.1)
    twice = classification_loss(outputs.log_softmax(1), labels, 0.1)
    assert torch.allclose(once, twice)


# The order of images


def test_an_epoch_shows_every_image_once():
    """Shuffled anew each epoch, the same for the same seed."""
    first, second = (training_order(0, epoch, 50, 50) for epoch in (1, 2))
    assert sorted(first) == sorted(second) == list(range(50))
    assert list(first) != list(second)
    assert list(first) == list(training_order(0, 1, 50, 50))
    assert list(first) != list(training_order(1, 1, 50, 50))


def test_short_epochs_go_on_where_the_last_one_ended():
    """No image is repeated before all have been seen."""
    parts = [training_order(3, epoch, 10, 4) for epoch in range(1, 6)]
    seen = np.concatenate(parts)
    assert sorted(seen[:10]) == sorted(seen[10:]) == list(range(10))


# Micro-batches


def gradients(variant_id: str, micro_batch: int, **overrides) -> dict:
    """The gradients of one step in micro-batches, without dropout."""
    _, variants = load_resolved("demo")
    torch.manual_seed(0)
    model = build_model(variants[variant_id], image_size=16, **overrides).double()
    images = torch.randn(10, 3, 16, 16, dtype=torch.float64)
    labels = torch.randint(10, (10,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    step = Step(model.train(), optimizer, 0.1, micro_batch, contextlib.nullcontext)
    step.take(images, labels)
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize(
    "variant_id", ["learned2d-9h-content", "quadratic-9h-isotropic"]
)
@pytest.mark.parametrize("micro_batch", [1, 3, 5])
def test_gradients_do_not_depend_on_the_micro_batch(variant_id: str, micro_batch: int):
    """Case R1: a recipe's batch means the same on a small card."""
    whole = gradients(variant_id, 10, attention_dropout=0.0)
    parts = gradients(variant_id, micro_batch, attention_dropout=0.0)
    for name, gradient in whole.items():
        assert torch.allclose(gradient, parts[name], rtol=1e-5, atol=1e-9), name


class Hungry(nn.Module):
    """A model that runs out of memory above a number of images."""

    def __init__(self, most: int):
        super().__init__()
        self.most = most
        self.scale = nn.Parameter(torch.ones(1))
        self.norm = nn.BatchNorm2d(3)
        self.seen: list[int] = []

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        self.seen.append(len(images))
        normed = self.norm(images)
        torch.rand(1)
        if len(images) > self.most:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return self.scale * normed.mean((2, 3)).repeat(1, 4)[:, :10]


def hungry_step(model: Hungry, micro_batch: int) -> Step:
    """A step of a hungry model."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return Step(model.train(), optimizer, 0.0, micro_batch, contextlib.nullcontext)


def test_running_out_of_memory_halves_the_micro_batch_and_goes_on():
    """The step begins anew: buffers and random streams as if it had fitted."""
    images, labels = torch.randn(8, 3, 4, 4), torch.arange(8) % 10
    struggling, fitting = Hungry(most=2), Hungry(most=8)
    torch.manual_seed(5)
    step = hungry_step(struggling, 8)
    step.take(images, labels)
    after_struggling = torch.rand(1)
    torch.manual_seed(5)
    hungry_step(fitting, 2).take(images, labels)
    assert step.micro_batch == 2
    assert struggling.seen == [8, 4, 2, 2, 2, 2]
    assert torch.equal(after_struggling, torch.rand(1))
    assert torch.equal(struggling.scale, fitting.scale)
    assert torch.equal(struggling.norm.running_mean, fitting.norm.running_mean)


def test_not_even_one_image_is_a_fault_with_a_fix():
    """There is nothing left to halve."""
    with pytest.raises(DeviceError, match="more memory"):
        hungry_step(Hungry(most=0), 4).take(
            torch.randn(4, 3, 4, 4), torch.zeros(4).long()
        )


def test_other_errors_are_not_taken_for_a_lack_of_memory():
    """A bug must not be answered by smaller batches for ever."""
    model = Hungry(most=8)
    with pytest.raises(RuntimeError, match="elements"):
        hungry_step(model, 8).take(torch.randn(4, 5, 4, 4), torch.zeros(4).long())


# Whole runs


@pytest.mark.parametrize("variant_id", ["learned2d-9h-content", "vit"])
def test_equal_runs_are_equal_bit_for_bit(tiny: str, variant_id: str):
    """Case D13: on one machine a seed is all that it takes."""
    run = find_run(tiny, variant_id, 0)
    train_run(run)
    first = numbers_of(run.folder)
    (run.work / "checkpoint.pt").unlink()
    train_run(run)
    assert_equal_bit_for_bit(first, numbers_of(run.folder))


class Killed(BaseException):
    """Stands for a kill: nothing may catch it."""


@pytest.mark.parametrize(
    "variant_id",
    ["learned2d-9h-content", "quadratic-9h-isotropic", "san-pairwise", "vit"],
)
def test_an_interrupted_run_ends_as_an_unbroken_one(project, monkeypatch, variant_id):
    """Case D05: it continues after its last epoch and ends with the same bits."""
    name = write_study(project, variants=[variant_id])
    prepare_data(name)
    run = find_run(name, variant_id, 0)
    train_run(run)
    unbroken = numbers_of(run.folder)
    (run.work / "checkpoint.pt").unlink()
    taken = []

    def killed_in_the_second_epoch(self, epoch, progress):
        taken.append(epoch)
        if len(taken) == 2:
            raise Killed
        return original(self, epoch, progress)

    original = loop.Loop._epoch
    monkeypatch.setattr(loop.Loop, "_epoch", killed_in_the_second_epoch)
    with pytest.raises(Killed):
        train_run(run)
    train_run(run)
    assert taken == [1, 2, 2, 3]
    assert_equal_bit_for_bit(unbroken, numbers_of(run.folder))


def test_a_checkpoint_of_other_settings_is_set_aside(project):
    """Changed settings start afresh; nothing is thrown away."""
    name = write_study(project)
    prepare_data(name)
    train_run(find_run(name, "vit", 0))
    write_study(
        project, overrides={**TINY["overrides"], "variants": {"vit": {"width": 12}}}
    )
    run = find_run(name, "vit", 0)
    with pytest.warns(UserWarning, match="other settings"):
        train_run(run)
    assert (run.work / "checkpoint.pt.set-aside-1").exists()
    assert json.loads((run.folder / "metrics.json").read_text())["epochs_run"] == 3


def test_a_torn_checkpoint_is_named_and_survived(tiny: str):
    """Case D07: half a file neither crashes a run nor is resumed."""
    run = find_run(tiny, "vit", 0)
    train_run(run)
    checkpoint = run.work / "checkpoint.pt"
    checkpoint.write_bytes(checkpoint.read_bytes()[:300])
    with pytest.warns(UserWarning, match=r"checkpoint\.pt cannot be read"):
        metrics = train_run(run)
    assert metrics["status"] == "ok"


@pytest.mark.parametrize("content", [b"", b"<html>", "a list", "no history"])
def test_foreign_checkpoints_are_set_aside(tiny: str, content):
    """Empty, not ours, or ours of another time: the run starts afresh."""
    run = find_run(tiny, "vit", 0)
    train_run(run)
    checkpoint = run.work / "checkpoint.pt"
    if isinstance(content, bytes):
        checkpoint.write_bytes(content)
    else:
        state = checkpoints.load(checkpoint)
        del state["history"]
        torch.save([1] if content == "a list" else state, checkpoint)
    with pytest.warns(UserWarning, match="starting afresh"):
        metrics = train_run(run)
    assert metrics["status"] == "ok"
    assert (run.work / "checkpoint.pt.set-aside-1").exists()


def test_looking_at_a_finished_run_does_not_change_where_it_came_from(
    tiny: str, monkeypatch
):
    """Its commit is that of the process that trained it."""
    from reattn.training import provenance

    monkeypatch.setattr(provenance, "commit", lambda: "first")
    run = find_run(tiny, "vit", 0)
    train_run(run)
    monkeypatch.setattr(provenance, "commit", lambda: "second")
    metrics = train_run(run)
    assert metrics["commit"] == "first"
    assert [session["first_epoch"] for session in metrics["sessions"]] == [1]


def test_a_checkpoint_holds_plain_values_only(tmp_path):
    """Case D14: what could not be loaded again is refused when it is saved."""
    for value in (np.float64(1.0), tmp_path, {"a": [np.int64(3)]}):
        with pytest.raises(TypeError, match="could not be loaded"):
            checkpoints.save(tmp_path / "c.pt", {"value": value})
    assert list(tmp_path.iterdir()) == []


def test_a_loss_that_is_not_finite_ends_the_run_as_diverged(project):
    """Case D17: at once, with the place, and with every output in place."""
    path = project / "config" / "variants" / "learned2d-9h-nocontent.yaml"
    path.write_text(path.read_text().replace("rate: 0.1", "rate: 1e12"))
    name = write_study(project, variants=["learned2d-9h-nocontent"])
    prepare_data(name)
    run = find_run(name, "learned2d-9h-nocontent", 0)
    metrics = train_run(run)
    status = json.loads((run.folder / "status.json").read_text())
    assert (metrics["status"], metrics["accuracy"]) == ("diverged", None)
    assert "in epoch" in status["reason"]
    assert {path.name for path in run.folder.iterdir()} == {
        *("metrics.json", "model.pt", "history.csv", "predictions.npz", "status.json")
    }
    assert len(np.load(run.folder / "predictions.npz")["label"]) == 0
    weights = checkpoints.load(run.folder / "model.pt")["model"]
    assert all(torch.isfinite(value.float()).all() for value in weights.values())


def test_a_diverged_step_leaves_the_weights_alone():
    """The last good weights are what the run is remembered by."""
    model = Hungry(most=8)
    with torch.no_grad():
        model.scale.fill_(float("nan"))
        before = model.norm.weight.clone()
    with pytest.raises(DivergenceError):
        hungry_step(model, 4).take(torch.randn(4, 3, 4, 4), torch.zeros(4).long())
    assert torch.equal(model.norm.weight, before)


def test_weights_that_break_after_the_last_loss_are_not_ok(tiny: str, monkeypatch):
    """A finite loss says nothing of the step that follows it."""
    run = find_run(tiny, "vit", 0)

    def breaking(self, epoch, progress):
        result = original(self, epoch, progress)
        next(self.state.model.parameters()).data.fill_(float("inf"))
        return result

    original = loop.Loop._steps
    monkeypatch.setattr(loop.Loop, "_steps", breaking)
    assert train_run(run)["status"] == "diverged"


class ShortOfMemory(nn.Module):
    """A classifier that holds a limited number of images at once."""

    def forward(self, pixels):
        if len(pixels) > 40:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return pixels.mean((2, 3)).repeat(1, 4)[:, :10]


def test_evaluation_that_runs_out_of_memory_takes_smaller_batches(tiny: str):
    """In eval mode the batch changes nothing; in training mode it would."""
    images = open_sets(find_run(tiny, "vit", 0), CPU).evaluation
    outputs = log_probabilities(ShortOfMemory(), images, seed=0)
    assert outputs.shape == (len(images), 10)
    assert authors_accuracy(ShortOfMemory(), images, 64, seed=0) is None


def test_the_authors_protocol_touches_nothing(tiny: str):
    """Weights, buffers and the training's randomness are as before."""
    run = find_run(tiny, "vit", 0)
    model = build_model(run.variant, image_size=16).train()
    images = open_sets(run, CPU).evaluation
    before = {name: value.clone() for name, value in model.state_dict().items()}
    stream = torch.get_rng_state()
    first = authors_accuracy(model, images, 32, seed=1)
    assert torch.equal(stream, torch.get_rng_state())
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name
    assert first == authors_accuracy(model, images, 32, seed=1)


def test_the_authors_accuracy_is_the_mean_over_batches():
    """D17: a smaller last batch weighs as much as a full one."""

    class First(nn.Module):
        def forward(self, pixels):
            return nn.functional.one_hot(pixels[:, 0, 0, 0].long(), 10).float()

    from reattn.training.batches import Images

    labels = torch.tensor([0, 0, 0, 0, 1])
    pixels = torch.zeros(5, 3, 2, 2, dtype=torch.uint8)
    images = Images(pixels, labels, (0.0,) * 3, (1.0,) * 3)
    assert authors_accuracy(First(), images, 4, seed=0) == 50.0


def test_metrics_say_where_they_come_from(tiny: str):
    """A reviewer can trace every number."""
    run = find_run(tiny, "vit", 0)
    metrics = train_run(run)
    for key in (
        *("seed", "commit", "code_hash", "fingerprint", "device", "threads"),
        *("micro_batch", "versions", "data_checksum", "precision", "overrides"),
    ):
        assert key in metrics
    predictions = np.load(run.folder / "predictions.npz")
    share = 100 * np.mean(predictions["label"] == predictions["prediction"])
    assert metrics["accuracy"] == pytest.approx(share)
    sums = np.exp(predictions["log_probability"]).sum(axis=1)
    np.testing.assert_allclose(sums, 1, rtol=1e-5)
    assert evaluate_run(run) == metrics["accuracy"]


def test_validation_images_are_not_trained_on(project):
    """Held out by one split for all seeds."""
    name = write_study(project, validation={"images": 100})
    prepare_data(name)
    sets = open_sets(find_run(name, "vit", 0), CPU)
    dataset = open_data(data_folder(name))
    assert len(sets.validation) == 100
    assert len(sets.train) == len(dataset.train_labels) - 100
    whole = np.sort([*map(bytes, dataset.train_images)])
    parts = np.sort(
        [bytes(p.numpy()) for p in (*sets.train.pixels, *sets.validation.pixels)]
    )
    assert (whole == parts).all()


def test_more_images_than_there_are_is_refused(project):
    """All such keys are reported together, with what there is."""
    training = {**TINY["training"], "epoch_images": 5000, "evaluation_images": 999}
    name = write_study(project, training=training)
    prepare_data(name)
    with pytest.raises(ConfigError) as caught:
        open_sets(find_run(name, "vit", 0), CPU)
    assert len(caught.value.problems) == 2
    assert "at most 1437" in str(caught.value)


def test_training_without_data_is_one_sentence(project):
    """Case D11: a training never downloads."""
    name = write_study(project)
    with pytest.raises(DataError, match=r"data\.json"):
        train_run(find_run(name, "vit", 0))


def test_a_gpu_study_without_a_gpu_says_what_works(project, monkeypatch):
    """The message names torch's build and a study that runs here."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    name = write_study(project, training={**TINY["training"], "device": "gpu"})
    prepare_data(name)
    with pytest.raises(DeviceError, match="study=demo"):
        train_run(find_run(name, "vit", 0))


def test_weights_of_another_model_are_refused(project):
    """A file that does not fit is named, not loaded in part."""
    name = write_study(project)
    prepare_data(name)
    train_run(find_run(name, "vit", 0))
    write_study(
        project, overrides={**TINY["overrides"], "variants": {"vit": {"width": 12}}}
    )
    with pytest.raises(CheckpointError, match="another model"):
        evaluate_run(find_run(name, "vit", 0))


def test_batch_normalisation_over_micro_batches_is_stated(project):
    """R1: its statistics then come from fewer images than the recipe's."""
    training = {**TINY["training"], "micro_batch": 16}
    name = write_study(project, variants=["resnet18"], training=training)
    prepare_data(name)
    metrics = train_run(find_run(name, "resnet18", 0))
    assert metrics["micro_batch"] == 16
    assert metrics["batch_normalisation_note"] == BATCH_NORMALISATION_NOTE


def test_evaluation_does_not_depend_on_the_global_stream(tiny: str):
    """ViT's noise token comes from the evaluation's own seed."""
    run = find_run(tiny, "vit", 0)
    model = build_model(run.variant, image_size=16)
    images = open_sets(run, CPU).test
    torch.manual_seed(1)
    first = log_probabilities(model, images, seed=7)
    torch.manual_seed(2)
    np.testing.assert_array_equal(first, log_probabilities(model, images, seed=7))
    assert not np.array_equal(first, log_probabilities(model, images, seed=8))


def test_generators_of_different_purposes_differ():
    """Augmentation does not repeat what the order has drawn."""
    draws = {
        torch.rand(1, generator=generator_for(0, purpose, epoch)).item()
        for purpose in ("augmentation", "dropout")
        for epoch in (1, 2)
    }
    assert len(draws) == 4


# Tracking


def wandb_records(path):
    """The records of a .wandb file, parsed by W&B's own protocol classes.

    The file is a LevelDB log: blocks of 32 KiB after a header of 7 bytes, in which
    a record has a checksum (4 bytes), a length (2) and a type (1: whole; 2, 3 and 4:
    first, middle and last part).
    """
    from wandb.proto.wandb_internal_pb2 import Record

    content, position, part = path.read_bytes(), 7, b""
    while position + 7 <= len(content):
        if 32768 - position % 32768 < 7:
            position += 32768 - position % 32768
            continue
        length = int.from_bytes(content[position + 4 : position + 6], "little")
        kind = content[position + 6]
        part += content[position + 7 : position + 7 + length]
        position += 7 + length
        if kind in (1, 4):
            yield Record.FromString(part)
            part = b""


def test_an_offline_run_can_be_read_back(project):
    """Settings and the metrics of every epoch are in W&B's file."""
    training = {**TINY["training"], "wandb": "offline"}
    name = write_study(project, variants=["vit"], training=training)
    prepare_data(name)
    run = find_run(name, "vit", 0)
    metrics = train_run(run)
    (path,) = (project / metrics["wandb_run"]).glob("*.wandb")
    records = list(wandb_records(path))
    config = {
        item.key: item.value_json
        for record in records
        for item in record.run.config.update
    }
    losses = [
        float(item.value_json)
        for record in records
        for item in record.history.item
        if "train/loss" in (item.key, *item.nested_key)
    ]
    history = pd.read_csv(run.folder / "history.csv")
    np.testing.assert_allclose(losses, history["train_loss"])
    assert json.loads(config["fingerprint"]) == run.fingerprint
    assert any(record.run.display_name == run.name for record in records)


@pytest.mark.parametrize("stage", ["init", "log", "finish"])
def test_a_tracker_that_fails_never_touches_training(project, monkeypatch, stage):
    """Case D10: it raises or hangs, and the run ends well all the same."""
    import threading

    import wandb

    from reattn.training import tracking

    class Bad:
        url, dir, summary = None, "/nowhere/run/files", {}

        def log(self, *values, **options):
            if stage == "log":
                raise RuntimeError("no")

        def finish(self):
            if stage == "finish":
                threading.Event().wait()

    def init(**settings):
        if stage == "init":
            raise RuntimeError("no")
        return Bad()

    monkeypatch.setattr(tracking, "PATIENCE", 0.2)
    monkeypatch.setattr(wandb, "init", init)
    training = {**TINY["training"], "wandb": "offline"}
    name = write_study(project, variants=["resnet18"], training=training)
    prepare_data(name)
    assert train_run(find_run(name, "resnet18", 0))["status"] == "ok"


def test_tracking_off_starts_nothing(tmp_path):
    """No file, no process, no link."""
    tracker = Tracker("off", name="a", group="b", config={}, folder=tmp_path / "x")
    tracker.epoch(Epoch(1, 0.1, 2.0, 10.0, None, None, None, 1.0))
    tracker.finish({})
    assert tracker.link is None
    assert not (tmp_path / "x").exists()


def test_runs_of_a_study_are_every_variant_with_every_seed(project):
    """In table order."""
    name = write_study(project, seeds=[3, 1])
    found = [(run.variant_id, run.seed) for run in runs_of(name)]
    assert found == [
        ("learned2d-9h-content", 3),
        ("learned2d-9h-content", 1),
        ("vit", 3),
        ("vit", 1),
    ]


def test_memory_errors_are_recognised():
    """Those of a card and those of the CPU's allocator."""
    assert steps.is_out_of_memory(torch.OutOfMemoryError("x"))
    assert steps.is_out_of_memory(
        RuntimeError("DefaultCPUAllocator: can't allocate memory")
    )
    assert not steps.is_out_of_memory(RuntimeError("shape mismatch"))

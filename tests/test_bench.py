"""The bench: what it counts, and what it writes."""

import csv
import json

import pytest
import torch
from conftest import write_study

from reattn.errors import ConfigError
from reattn.measure.bench import Bench
from reattn.measure.bench_study import SPEEDUPS, bench_study
from reattn.measure.memory import peak_memory
from reattn.measure.products import Shape, products_of, seconds_alone
from reattn.measure.traffic import bytes_moved
from reattn.models.build import build_model


def test_all_products_of_a_model_are_found():
    """Forward and backward: three products a linear map, one less for the first."""
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Linear(16, 4))
    images = torch.randn(5, 8)
    products = products_of(lambda: model(images).sum().backward())
    assert products.total() == 2 * 3 - 1
    assert seconds_alone(products, iterations=1) > 0


@pytest.mark.parametrize("variant", ["learned2d-9h-content", "resnet18", "vit"])
def test_products_are_timed_in_the_layout_that_they_have(variant):
    """A transposed or an expanded argument stays one."""
    model = build_model(variant, image_size=16)
    products = products_of(lambda: model(torch.randn(2, 3, 16, 16)))
    assert products
    for product in products:
        result = product.prepared("cpu")()
        assert torch.is_tensor(result) or len(result)
    expanded = torch.zeros(1, 3).expand(4, 3)
    filled = Shape.of(expanded).filled("cpu")
    assert (filled.shape, filled.stride()) == (expanded.shape, expanded.stride())


def test_bytes_are_those_of_arguments_and_results():
    """A sum reads two tensors and writes one; a view moves nothing."""
    first, second = torch.ones(10, 7), torch.ones(10, 7)
    assert bytes_moved(lambda: first + second) == 3 * 70 * 4
    assert bytes_moved(lambda: first.t().view(7, 10)) == 0
    assert bytes_moved(lambda: first + torch.ones(1).expand(70).view(10, 7)) >= 140 * 4


def test_the_peak_is_seen_though_it_is_gone_at_the_end():
    """What is held for a moment counts."""

    def work():
        held = torch.ones(2**25)
        return float(held.sum())

    assert 100 < peak_memory(work) < 300  # 128 MB


def test_the_bench_writes_a_row_a_variant(project, tmp_path):
    """With all figures, and the conditions beside them."""
    name, said = write_study(project), []
    bench_study(
        name,
        ["vit"],
        Bench(image_size=16, batch=2, latency_passes=1, passes=1),
        threads=1,
        destination=tmp_path / "bench.csv",
        progress=said.append,
    )
    with (tmp_path / "bench.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["variant"] == "vit"
    assert row["floor"] == "matrix products"
    for column in (*SPEEDUPS, "latency_ms", "infer_img_s", "train_img_s"):
        assert float(row[column]) > 0, column
    conditions = json.loads((tmp_path / "bench.json").read_text())
    assert conditions["matrix_product_flops"] > 0
    assert conditions["threads"] == 1
    assert "vit" in said[0]
    assert "geometric means" in said[-1]


def test_an_unknown_variant_is_named(project):
    """Before anything is timed."""
    name = write_study(project)
    with pytest.raises(ConfigError, match="Did you mean vit"):
        bench_study(
            name, ["vitt"], Bench(), threads=1, destination=None, progress=print
        )

"""What a call of Snakemake says, checked before it is followed."""

from collections.abc import Iterable, Mapping
from typing import Any

from reattn.config.faults import suggestion
from reattn.config.paths import config_folder
from reattn.config.yaml_files import read_mapping
from reattn.errors import ConfigError

# Given on the command line alone; everything else has a default in config.yaml.
GIVEN = ("data_path",)
GPU_KEYS = ("gpu", "gpu_model", "gpu_manufacturer")


def require_sound_call(
    config: Mapping[str, Any],
    resources: Mapping[str, Any],
    requests: Iterable[str] = (),
    *,
    needs_gpu: bool,
) -> None:
    """Refuse what Snakemake would silently ignore.

    Args:
        config: The merged configuration.
        resources: What may be used at once, by name.
        requests: Names of what a profile or the command line makes jobs ask for.
        needs_gpu: Whether the study's runs need a GPU.

    Raises:
        ConfigError: all faults: a misspelt key, a misspelt GPU resource, no GPU
            allowed for a study that needs one.
    """
    problems = [*_unknown_keys(config), *_misspelt_gpus([*resources, *requests])]
    if needs_gpu and resources.get("gpu") == 0:
        problems.append(
            "--resources gpu=0 would let all GPU jobs start at once. Give the number "
            "of GPUs, such as gpu=1."
        )
    if problems:
        raise ConfigError(problems)


def _unknown_keys(config: Mapping[str, Any]) -> Iterable[str]:
    known = [*read_mapping(config_folder() / "config.yaml"), *GIVEN]
    for key in config:
        if key not in known:
            yield f"--config {key}: there is no such key. {suggestion(key, known)}"


def _misspelt_gpus(resources: Iterable[str]) -> Iterable[str]:
    for name in resources:
        if "gpu" in name.lower() and name not in GPU_KEYS:
            yield (
                f"resource {name}: no job asks for it by this name, so it would do "
                "nothing or the wrong thing. Write gpu."
            )

"""The ledger of the authors' deviations, as config/deviations.yaml holds it."""

from pathlib import Path
from typing import Any

from reattn.config.paths import config_folder, shown
from reattn.config.yaml_files import read_yaml
from reattn.errors import ConfigError


def read_ledger(path: Path | None = None) -> list[dict[str, Any]]:
    """Every deviation, in the order of the file.

    Args:
        path: The file; None: config/deviations.yaml.

    Raises:
        ConfigError: the file is missing or holds no list of deviations.
    """
    path = path or config_folder() / "deviations.yaml"
    entries = read_yaml(path)
    if isinstance(entries, list) and all(isinstance(e, dict) for e in entries):
        return entries
    raise ConfigError([f"{shown(path)} should hold a list of deviations. Restore it."])

"""Whether a finished run is what its study asks for now."""

from collections.abc import Iterator, Mapping
from typing import Any

from reattn.config.runs import Run


def setting_changes(run: Run, metrics: Mapping[str, Any]) -> list[str]:
    """What the study sets differently from when a run was trained.

    Args:
        run: The run, with the settings of today.
        metrics: The content of its metrics.json.

    Returns:
        A text a setting, such as "recipe.epochs was 100, is 300"; empty where the
        fingerprints agree.
    """
    recorded = metrics.get("fingerprint")
    if recorded in (None, run.fingerprint):
        return []
    before = metrics.get("settings")
    if not isinstance(before, dict):
        return ["other settings"]
    return list(_differences(before, run.settings, _defaults(run)))


def _defaults(run: Run) -> dict[str, Any]:
    """What settings are that nobody sets: a new one at its default changes nothing."""
    parts = {
        "model": run.variant.model,
        "recipe": run.variant.recipe,
        "data": run.study.data,
        "training": run.study.training,
    }
    return {
        part: {key: field.default for key, field in type(of).model_fields.items()}
        for part, of in parts.items()
    }


def _differences(
    before: Any, now: Any, defaults: Any = None, place: str = ""
) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        defaults = defaults if isinstance(defaults, dict) else {}
        for key in dict.fromkeys([*now, *before]):
            default = defaults.get(key)
            was = before.get(key, now.get(key) if now.get(key) == default else None)
            inner = f"{place}.{key}" if place else key
            yield from _differences(was, now.get(key), default, inner)
    elif _plain(before) != _plain(now):
        yield f"{place} was {_plain(before)}, is {_plain(now)}"


def _plain(value: Any) -> Any:
    """A value as JSON gives it back, in which pairs are lists."""
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value


def retraining_reasons(
    run: Run,
    metrics: Mapping[str, Any],
    checksum: str | None,
    *,
    new_images: bool = False,
) -> list[str]:
    """Why a finished run is trained again; empty where it is not.

    Args:
        run: The run, with the settings of today.
        metrics: The content of its metrics.json.
        checksum: That of the prepared images; None while there are none.
        new_images: Whether others are going to be prepared in their place.

    Returns:
        Its `setting_changes`, and that the images are others.
    """
    changes = setting_changes(run, metrics)
    recorded = metrics.get("data_checksum")
    if new_images or (None not in (recorded, checksum) and recorded != checksum):
        changes.append("other images")
    return changes


def code_changed(run: Run, metrics: Mapping[str, Any]) -> bool:
    """Whether any epoch of a run was trained by other code than today's."""
    today = run.code_hash
    sessions = metrics.get("sessions")
    parts = [metrics, *(sessions if isinstance(sessions, list) else [])]
    recorded = [part.get("code_hash") for part in parts if isinstance(part, dict)]
    return any(value not in (None, today) for value in recorded)

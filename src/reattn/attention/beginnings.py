"""Whether the weights that a run began from can be drawn again."""

from reattn.attention.study import run_status
from reattn.config.runs import Run
from reattn.files import read_json
from reattn.training.fresh import fresh_model
from reattn.training.state import weights_digest

IMPORTED = "what imported weights began from is not known"
NOT_RECORDED = "the run did not record what it began from"
OTHER_START = "today's code draws other initial weights than the run began from"


def why_no_start(run: Run, image_size: tuple[int, int], classes: int) -> str | None:
    """Why a run's initial weights cannot be had; None where they can.

    Args:
        run: A run that ended well.
        image_size: Height and width in pixels.
        classes: Of its data.

    Raises:
        ReattnError: its status.json or metrics.json cannot be read.
    """
    if run_status(run) == "imported":
        return IMPORTED
    content = read_json(run.folder / "metrics.json")
    recorded = content.get("initial_weights") if isinstance(content, dict) else None
    if recorded is None:
        return NOT_RECORDED
    same = weights_digest(fresh_model(run, image_size, classes)) == recorded
    return None if same else OTHER_START

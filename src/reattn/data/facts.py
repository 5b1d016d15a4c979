"""What data.json says of prepared images, checked before anything relies on it."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from reattn.config.models import Count
from reattn.errors import DataError, ReattnError
from reattn.files import read_json

FACTS = "data.json"
REMEDY = "Delete the folder and prepare the data again."

_Mean = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Deviation = Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]


class _Counts(BaseModel):
    train: Count
    test: Count


class _Facts(BaseModel):
    """What runs need; whatever else stands in the file is kept as it is."""

    source: str
    classes: Annotated[list[str], Field(min_length=1)]
    counts: _Counts
    image_size: Count
    mean: tuple[_Mean, _Mean, _Mean]
    std: tuple[_Deviation, _Deviation, _Deviation]
    checksum: str
    labels_checksum: str


def read_facts(folder: Path) -> dict[str, Any]:
    """The content of a prepared folder's data.json.

    Raises:
        DataError: the file is missing or torn, or lacks what runs need.
    """
    path = folder / FACTS
    if not path.is_file():
        raise DataError(
            f"{folder} holds no prepared data ({FACTS} is missing). Prepare it first."
        )
    try:
        info = read_json(path)
        _Facts.model_validate(info)
    except ValidationError as fault:
        keys = dict.fromkeys(_key(error["loc"]) for error in fault.errors())
        raise DataError(
            f"{path} lacks {', '.join(keys)}, or holds no usable value there. {REMEDY}"
        ) from None
    except ReattnError as fault:
        raise DataError(f"{fault} {REMEDY}") from None
    return info


def _key(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "its keys"

"""Whether the images and query pixels of a study's attention figures exist."""

from pathlib import Path

from reattn.config.studies import Study

SAMPLE = "sample:"
SAMPLES = ("china.jpg", "flower.jpg")  # scikit-learn's photographs


def attention_faults(study: Study, where: str) -> list[str]:
    """What is wrong with them, as sentences; indices are checked with the data.

    Args:
        study: The study.
        where: File name that the sentences begin with.
    """
    pictures = [image for image in study.attention.images if isinstance(image, str)]
    faults = [_picture_fault(picture) for picture in pictures]
    size = study.data.image_size
    faults += [
        f"attention.queries: {list(query)} lies outside {size}x{size} images; rows and "
        f"columns go from 0 to {size - 1}."
        for query in study.attention.queries
        if max(query) >= size
    ]
    return [f"{where}: {fault}" for fault in faults if fault]


def _picture_fault(picture: str) -> str | None:
    if picture.startswith(SAMPLE):
        if picture.removeprefix(SAMPLE) in SAMPLES:
            return None
        known = ", ".join(f"{SAMPLE}{name}" for name in SAMPLES)
        return f"attention.images: {picture!r} is not a sample. Known: {known}."
    if Path(picture).expanduser().is_file():
        return None
    return f"attention.images: the file {picture!r} does not exist."

"""Whether a study asks for no more than its images can give."""

from reattn.config.studies import Study
from reattn.data.dataset import Dataset
from reattn.errors import ConfigError, DataError


def require_fit(name: str, study: Study, dataset: Dataset) -> None:
    """Check the numbers of a study against its prepared data.

    Args:
        name: The study's name, for messages.
        study: The study.
        dataset: Its data.

    Raises:
        ConfigError: as `require_images`.
        DataError: the data was prepared from another source or at another size.
    """
    settings, info = study.data, dataset.info
    if (settings.source, settings.image_size) != (info["source"], info["image_size"]):
        raise DataError(
            f"The prepared images of study {name} are {info['source']} at "
            f"{info['image_size']} pixels, but config/studies/{name}.yaml asks for "
            f"{settings.source} at {settings.image_size}. Prepare them again: "
            f"python -m reattn prepare {name}"
        )
    require_images(name, study, len(dataset.train_labels), len(dataset.test_labels))


def require_images(name: str, study: Study, train: int, test: int) -> None:
    """Check the numbers of a study against the images that there are.

    Args:
        name: The study's name, for messages.
        study: The study.
        train: Training images, those for validation among them.
        test: Test images.

    Raises:
        ConfigError: it holds out, shows or draws more images than there are; all
            such keys together.
    """
    held_out, training = study.validation.images, study.training
    asked = [
        ("validation.images", held_out, train - 1),
        ("training.epoch_images", training.epoch_images, train - held_out),
        ("training.evaluation_images", training.evaluation_images, test),
        *(("attention.images", image, test - 1) for image in study.attention.images),
    ]
    problems = [
        f"config/studies/{name}.yaml: {key} = {wanted}, but the data allows at most "
        f"{most}. Lower it."
        for key, wanted, most in asked
        if isinstance(wanted, int) and wanted > most
    ]
    if problems:
        raise ConfigError(problems)

"""Whether a study asks for no more than its images can give."""

from reattn.config.studies import Study
from reattn.data.dataset import Dataset
from reattn.errors import ConfigError


def require_fit(name: str, study: Study, dataset: Dataset) -> None:
    """Check the numbers of a study against its prepared data.

    Args:
        name: The study's name, for messages.
        study: The study.
        dataset: Its data.

    Raises:
        ConfigError: it holds out, shows or draws more images than there are; all
            such keys together.
    """
    train, test = len(dataset.train_labels), len(dataset.test_labels)
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

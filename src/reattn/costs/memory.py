"""Memory and operations of training, from the settings alone, before any work.

Nothing here imports torch, so that a plan prints at once. The memory of the
framework itself (a few hundred megabytes) is not included.
"""

from collections.abc import Iterator

from reattn.config.models import ModelSettings
from reattn.costs.activations import saved_activations
from reattn.costs.formulas import flops_by_formula
from reattn.costs.parameters import parameters_by_formula

FULL = 4  # bytes of a number in fp32; tf32 rounds inside products alone
HALF = 2
WEIGHTS_GRADIENT_MOMENTUM = 3
STEP = 4  # the update also holds the gradient with weight decay added
FLOWING = 0.15  # gradients under way, of the activations; 0.03 to 0.12 was measured
FORWARD_AND_BACKWARD = 3  # backward: gradients of the inputs and of the weights
# Memory that a step may take on a CPU; fixed, so that the micro-batch does not depend
# on the machine.
CPU_BYTES = 5 * 2**29
# Images of an evaluation pass; fixed, so that the same machine gives the same bits.
EVALUATION_BATCH = 100
RESNET_STAGES = 4


def estimate_training_flops(
    settings: ModelSettings, image_size: int, num_classes: int
) -> int:
    """Operations of one image in training: three times those of its inference."""
    return FORWARD_AND_BACKWARD * flops_by_formula(settings, image_size, num_classes)


def estimate_training_memory(
    settings: ModelSettings,
    image_size: int,
    num_classes: int,
    batch: int,
    precision: str = "fp32",
) -> int:
    """The most bytes that a training step holds at once.

    During backward: weights, gradients and momentum, the activations saved for
    backward, and the gradients that flow (`FLOWING` of the activations). In the
    update: no activations, but one more copy of the gradients. An upper bound for
    bf16, in which some activations take half the space, and for GPUs, whose dropout
    masks take a quarter.

    Args:
        settings: The `model` block of a variant.
        image_size: Side of the images, in pixels.
        num_classes: Classes to tell apart.
        batch: Images in memory at once: the micro-batch.
        precision: "fp32", "tf32" or "bf16".
    """
    parameters = parameters_by_formula(settings, image_size, num_classes)
    saved = saved_activations(settings, image_size)
    activations = FULL * (saved.once + batch * saved.each)
    copies = HALF * parameters if precision == "bf16" else 0
    backward = FULL * WEIGHTS_GRADIENT_MOMENTUM * parameters + copies
    backward += round((1 + FLOWING) * activations)
    return max(backward, FULL * STEP * parameters)


def estimate_evaluation_memory(
    settings: ModelSettings,
    image_size: int,
    num_classes: int,
    batch: int = EVALUATION_BATCH,
) -> int:
    """The most bytes that an evaluation during training holds at once.

    Weights, gradients and momentum, the copy that is evaluated in training mode, what
    is made of weights, and what one layer, or one stage of SAN and ResNet, would save
    for its backward pass; without one it is freed before the next layer.

    Args:
        settings: The `model` block of a variant.
        image_size: Side of the images, in pixels.
        num_classes: Classes to tell apart.
        batch: Images at once.
    """
    saved = saved_activations(settings, image_size)
    parts = getattr(settings, "layers", None) or getattr(settings, "stages", None)
    layer = batch * saved.each // (parts or RESNET_STAGES)
    parameters = parameters_by_formula(settings, image_size, num_classes)
    copies = WEIGHTS_GRADIENT_MOMENTUM + 1
    return FULL * (copies * parameters + saved.once + layer)


def largest_micro_batch(
    settings: ModelSettings,
    image_size: int,
    num_classes: int,
    batch: int,
    available_bytes: int,
    precision: str = "fp32",
) -> int:
    """The largest of batch, batch / 2, batch / 4, ... (rounded up) that fits.

    Args:
        settings: The `model` block of a variant.
        image_size: Side of the images, in pixels.
        num_classes: Classes to tell apart.
        batch: Images of a step.
        available_bytes: Free memory of the device.
        precision: "fp32", "tf32" or "bf16".

    Returns:
        A micro-batch; 1 if not even one image is estimated to fit.
    """
    for micro_batch in halvings(batch):
        needed = estimate_training_memory(
            settings, image_size, num_classes, micro_batch, precision
        )
        if needed <= available_bytes:
            return micro_batch
    return 1


def halvings(batch: int) -> Iterator[int]:
    """batch, and half of it, rounded up, again and again down to 1."""
    while batch > 1:
        yield batch
        batch = (batch + 1) // 2
    yield 1

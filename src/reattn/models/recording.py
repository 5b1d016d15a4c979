"""Reading attention from a model, at no cost while nobody reads.

A module that attends declares the class attribute `recorder = None` and, in its
forward, hands over what it attends with:

    if recorder_of(self) is not None:
        record(self, probabilities)

`record_attention` puts a list in that attribute for as long as it is open.
"""

import inspect
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn

from reattn.errors import ReattnError
from reattn.models.entering import check_images


class TokenMass(NamedTuple):
    """Attention to and from a class token, in one layer.

    Attributes:
        to_token: Mass of each image position on the token, (batch, heads, h, w).
        from_token: Mass of the token on each position, (batch, heads, h, w).
        on_itself: Mass of the token on itself, (batch, heads).
    """

    to_token: Tensor
    from_token: Tensor
    on_itself: Tensor


class AttentionWithToken(NamedTuple):
    """One layer of a model with a class token.

    Attributes:
        probabilities: Image to image, (batch, heads, h, w, h, w), not
            renormalised: summed over keys and added to `token.to_token`, 1.
        token: What goes to and from the class token.
    """

    probabilities: Tensor
    token: TokenMass


class Recording(list):
    """One tensor an attention call, in the order of the calls.

    Attributes:
        token_masses: One TokenMass a call of a model with a class token.
    """

    def __init__(self) -> None:
        super().__init__()
        self.token_masses: list[TokenMass] = []


def recorder_of(module: nn.Module) -> Recording | None:
    """The recording that wants this module's attention, or None."""
    return module.recorder


def record(
    module: nn.Module, attention: Tensor, token_mass: TokenMass | None = None
) -> None:
    """Hand over one call's attention, without its gradient.

    Args:
        module: The attention module.
        attention: (batch, heads, h, w, h, w) before dropout, or the local
            weights (batch, channels, h, w, 3, 3).
        token_mass: Of a model with a class token.
    """
    recording = recorder_of(module)
    if recording is None:
        return
    recording.append(attention.detach())
    if token_mass is not None:
        recording.token_masses.append(TokenMass(*(m.detach() for m in token_mass)))


@contextmanager
def record_attention(model: nn.Module) -> Iterator[Recording]:
    """Collect the attention of every call made inside the context.

    Yields:
        A list to which each attention call appends its probabilities (batch,
        heads, h, w, h, w) before dropout, or, in a SAN, its local weights
        (batch, channels, h, w, 3, 3).

    Raises:
        ReattnError: the model has no attention.
    """
    recording = Recording()
    modules = [module for module in model.modules() if hasattr(module, "recorder")]
    if not modules:
        raise ReattnError(
            f"{type(model).__name__} has no attention to read: it is convolutional."
        )
    before = [module.recorder for module in modules]
    for module in modules:
        module.recorder = recording
    try:
        yield recording
    finally:
        for module, recorder in zip(modules, before, strict=True):
            module.recorder = recorder


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode without gradients; afterwards every module is as it was."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in modes.items():
            module.training = training


def attention_probabilities(
    model: nn.Module,
    images: Tensor,
    *,
    class_token: bool = False,
    generator: torch.Generator | None = None,
) -> list[Tensor] | list[AttentionWithToken]:
    """Where a model looks: one forward pass in evaluation mode.

    Args:
        model: A module of `build_model`; its mode is left as it was.
        images: Normalised images (batch, 3, height, width).
        class_token: Return AttentionWithToken instead of tensors (ViT only).
        generator: Where a ViT draws its noise token from; none: torch's global
            stream.

    Returns:
        One tensor a layer (batch, heads, h, w, h, w): query row and column, then
        key row and column; a ViT's image-to-image part is not renormalised. From
        a SAN one tensor an attention call (batch, channels, h, w, 3, 3), which
        in patchwise ones are weights that need not sum to 1.

    Raises:
        ReattnError: the model has no attention, no class token to tell of, or
            nothing to draw; or it cannot take such images.
    """
    arguments = {} if generator is None else {"generator": generator}
    with ExitStack() as stack:
        recording = stack.enter_context(record_attention(model))
        _check_generator(model, generator)
        check_images(model, images)
        stack.enter_context(evaluating(model))
        model(images, **arguments)
    if not class_token:
        return list(recording)
    if not recording.token_masses:
        raise ReattnError(
            f"{type(model).__name__} has no class token: leave class_token=False."
        )
    return [
        AttentionWithToken(*call)
        for call in zip(recording, recording.token_masses, strict=True)
    ]


def _check_generator(model: nn.Module, generator: torch.Generator | None) -> None:
    draws = "generator" in inspect.signature(model.forward).parameters
    if generator is not None and not draws:
        raise ReattnError(
            f"{type(model).__name__} draws nothing, a ViT alone does: leave "
            "generator=None."
        )

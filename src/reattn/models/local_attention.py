"""What the two operations of a self-attention network have in common.

Source: Zhao, Jia and Koltun, "Exploring Self-attention for Image Recognition"
(CVPR 2020), equations 2 to 4, and their code hszhao/SAN, model/san.py and
lib/sa. As in Prabhu and Varma's copy of it, the query, key and value maps have
no bias. Here it is plain PyTorch and runs on any device.
"""

import torch
from torch import Tensor, nn

from reattn.models.channel_major import linear_of_pixels
from reattn.models.folded_weights import PairwiseWeights, PatchwiseWeights
from reattn.models.forms import Form
from reattn.models.neighbourhoods import KERNEL, aggregate
from reattn.models.pixel_major import from_images
from reattn.models.recording import record, recorder_of
from reattn.models.weighted_sums import weighted_sum


class LocalAttention(nn.Module):
    """Weights over nine neighbours, and the values gathered with them.

    Args:
        channels: Features of the map, a multiple of 32: a sixteenth of them are
            compared, a quarter are gathered, and one weight serves every
            channel c with the same c mod (channels / 32).
    """

    form: Form = "shipped"
    recorder = None

    def __init__(self, channels: int):
        super().__init__()
        relation, middle = channels // 16, channels // 4
        self.query = conv1x1(channels, relation)
        self.key = conv1x1(channels, relation)
        self.value = conv1x1(channels, middle)

    def forward(
        self, features: Tensor, keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend from each pixel to its neighbourhood.

        Args:
            features: (batch, channels, height, width).
            keys: Those of an earlier call, to be used instead of new ones.

        Returns:
            Gathered values (batch, channels / 4, height, width) and the keys.
        """
        if self.form != "plain":
            gathered, keys = self.of_pixels(from_images(features), keys)
            return gathered.permute(3, 0, 1, 2).contiguous(), keys
        queries, values = self.query(features), self.value(features)
        keys = self.key(features) if keys is None else keys
        weights = self.plain_weights(queries, keys)
        maps = weights.unflatten(3, features.shape[2:]).permute(0, 1, 3, 4, 2)
        record(self, maps.unflatten(4, (KERNEL, KERNEL)))
        return aggregate(values, weights), keys

    def of_pixels(
        self, features: Tensor, keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The same in another layout.

        Args:
            features: (height, width, batch, channels).
            keys: (channels / 16, height, width, batch), or None.

        Returns:
            Gathered values (channels / 4, height, width, batch) and the keys.
        """
        maps = [self.query, self.value] + ([self.key] if keys is None else [])
        # One product reads the features, and their gradient, once.
        weight = torch.cat([one_map.weight for one_map in maps]).flatten(1)
        results = linear_of_pixels(features, weight)
        sizes = [one_map.out_channels for one_map in maps]
        queries, values, *made = results.split(sizes)
        keys = made[0] if made else keys
        weights = self.weights(queries, keys)
        self.record_weights(weights)
        return weighted_sum(values, weights), keys

    def record_weights(self, weights: Tensor) -> None:
        """Hand over weights (channels / 32, 9, height, width, batch)."""
        if recorder_of(self) is not None:
            maps = weights.permute(4, 0, 2, 3, 1)
            record(self, maps.unflatten(4, (KERNEL, KERNEL)))

    def layers(self) -> list[nn.Module]:
        """All that hold parameters or statistics."""
        return [self.query, self.key, self.value, *self.weigh]

    def plain_weights(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Weights (batch, channels / 32, 9, height * width)."""
        raise NotImplementedError

    def weights(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Weights (channels / 32, 9, height, width, batch), from channel-major maps."""
        raise NotImplementedError

    def fold_weights(self, index: Tensor) -> PairwiseWeights | PatchwiseWeights:
        """What makes weights while statistics are fixed.

        Args:
            index: The neighbours of each pixel of the map, (9, height, width).
        """
        raise NotImplementedError


def conv1x1(inputs: int, outputs: int, *, bias: bool = False) -> nn.Conv2d:
    """A linear map of each pixel's channels."""
    return nn.Conv2d(inputs, outputs, kernel_size=1, bias=bias)

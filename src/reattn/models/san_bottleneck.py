"""The residual block of self-attention networks.

Source: hszhao/SAN, model/san.py, and Prabhu and Varma's SAN/models/san_networks.py at
commit 10fce8b.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from reattn.models import channel_major
from reattn.models.channel_major import linear_to_pixels
from reattn.models.folded_attention import Folding, attend
from reattn.models.kept import Kept
from reattn.models.local_attention import conv1x1
from reattn.models.pixel_major import norm_relu
from reattn.models.san_attention import Operation, local_attention
from reattn.models.shifts import neighbour_index


class Bottleneck(nn.Module):
    """x + W relu(norm(attention(relu(norm(x))))), W a 1x1 convolution.

    Args:
        width: Channels of x.
        operation: Which attention.
        pre_activation: Whether attention reads relu(norm(x)); if not, it reads x
            and the first norm is not used (D5).
    """

    def __init__(
        self, width: int, operation: Operation, *, pre_activation: bool = True
    ):
        super().__init__()
        self.pre_activation = pre_activation
        self.norm = nn.BatchNorm2d(width)
        self.attention = local_attention(operation, width)
        self.attention_norm = nn.BatchNorm2d(width // 4)
        self.expand = conv1x1(width // 4, width, bias=True)
        self._folded = Kept()

    def forward(
        self, features: Tensor, keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Features and keys to the same; without keys, own ones are computed."""
        self._forget_if_differentiated()
        read = F.relu(self.norm(features)) if self.pre_activation else features
        gathered, keys = self.attention(read, keys)
        return features + self.expand(F.relu(self.attention_norm(gathered))), keys

    def _forget_if_differentiated(self) -> None:
        if torch.is_grad_enabled():
            self._folded.forget()

    def of_pixels(
        self, features: Tensor, keys: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The same of features (height, width, batch, channels)."""
        read = norm_relu(features, self.norm) if self.pre_activation else features
        gathered, keys = self._gather(read, keys)
        expanded = linear_to_pixels(gathered, self.expand)
        if torch.is_grad_enabled():
            return expanded + features, keys
        return expanded.add_(features), keys

    def _gather(self, read: Tensor, keys: Tensor | None) -> tuple[Tensor, Tensor]:
        """relu(norm(attention(...))), (channels / 4, height, width, batch)."""
        self._forget_if_differentiated()
        index = neighbour_index(*read.shape[:2], read.device)
        folding = Folding(self.attention, self.attention_norm, index)
        if torch.is_grad_enabled() or not folding.possible():
            gathered, keys = self.attention.of_pixels(read, keys)
            return channel_major.norm_relu(gathered, self.attention_norm), keys
        folded = self._folded.get(folding.fold, folding.sources())
        gathered, keys, weights = attend(folded, read, keys)
        self.attention.record_weights(weights)
        return gathered.relu_(), keys

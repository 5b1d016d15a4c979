"""The residual block of ResNet18.

torchvision's class, down to the names of its parameters and the order in which they
draw their first weights. Importing torchvision takes as long as importing torch, for
it loads torch's compiler.

Source: He, Zhang, Ren and Sun, CVPR 2016, figure 2; torchvision, models/resnet.py.
"""

from torch import Tensor, nn
from torch.nn import functional as F


class BasicBlock(nn.Module):
    """relu(x' + BN(conv(relu(BN(conv(x)))))), with x' the input or its shortcut.

    Args:
        inputs: Channels of the input.
        outputs: Channels of the result.
        stride: Of the first convolution.
        downsample: The shortcut, where the shapes differ; None: the input itself.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        stride: int = 1,
        downsample: nn.Module | None = None,
    ):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = downsample

    def forward(self, features: Tensor) -> Tensor:
        """(batch, inputs, h, w) to (batch, outputs, h / stride, w / stride)."""
        shortcut = features if self.downsample is None else self.downsample(features)
        hidden = F.relu(self.bn1(self.conv1(features)), inplace=True)
        return F.relu_(self.bn2(self.conv2(hidden)).add_(shortcut))

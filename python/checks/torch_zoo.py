"""Ten models of PyTorch with random weights, of the kinds that people run: torch_models.py compares engines with them."""

from __future__ import annotations

from typing import Any, Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def conv(inputs: int, outputs: int, size: int = 3, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Returns a convolution with batch normalization."""
    layer = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(outputs))


class Residual(nn.Module):
    """The block of ResNet-18."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.first, self.second = conv(inputs, outputs, 3, stride), conv(outputs, outputs)
        self.short = conv(inputs, outputs, 1, stride) if stride != 1 or inputs != outputs else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.second(F.relu(self.first(x))) + self.short(x))


def resnet18() -> nn.Module:
    """ResNet-18."""
    layers: list[nn.Module] = [conv(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Residual(channels, outputs, stride), Residual(outputs, outputs, 1)]
        channels = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


class Inverted(nn.Module):
    """The block of MobileNetV2."""

    def __init__(self, inputs: int, outputs: int, stride: int, factor: int):
        super().__init__()
        middle = inputs * factor
        self.layers = nn.Sequential(
            conv(inputs, middle, 1), nn.ReLU6(), conv(middle, middle, 3, stride, middle), nn.ReLU6(), conv(middle, outputs, 1)
        )
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x) if self.adds else self.layers(x)


def mobilenet() -> nn.Module:
    """MobileNetV2 with half of its blocks."""
    layers: list[nn.Module] = [conv(3, 32, 3, 2), nn.ReLU6()]
    channels = 32
    for outputs, stride in ((16, 1), (24, 2), (24, 1), (32, 2), (32, 1), (64, 2), (64, 1), (96, 1), (160, 2), (160, 1)):
        layers.append(Inverted(channels, outputs, stride, 6 if channels != 32 or outputs != 16 else 1))
        channels = outputs
    return nn.Sequential(*layers, conv(160, 1280, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))


class UNet(nn.Module):
    """Segmentation: three levels, with transposed convolutions and skips."""

    def __init__(self) -> None:
        super().__init__()

        def block(inputs: int, outputs: int) -> nn.Sequential:
            return nn.Sequential(conv(inputs, outputs), nn.SiLU(), conv(outputs, outputs), nn.SiLU())

        self.down = nn.ModuleList([block(1, 16), block(16, 32), block(32, 64)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)])
        self.join = nn.ModuleList([block(64, 32), block(32, 16)])
        self.last = nn.Conv2d(16, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        skips = []
        for i, block in enumerate(self.down):
            x = block(F.max_pool2d(x, 2) if i else x)
            skips.append(x)
        for up, join, skip in zip(self.up, self.join, (skips[1], skips[0])):
            x = join(torch.cat([up(x), skip], 1))
        return self.last(F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False))


class Bert(nn.Module):
    """A text encoder of four layers with a padding mask."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(1000, 256), nn.Embedding(128, 256)
        self.norm = nn.LayerNorm(256)
        layer = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, activation="gelu")
        self.layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(256, 2)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1])))
        return self.head(self.layers(x, src_key_padding_mask=mask)[:, 0])


class Block(nn.Module):
    """A layer of a decoder: RMS norm, causal attention, SwiGLU."""

    def __init__(self, size: int, heads: int):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.Parameter(torch.ones(size)), nn.Parameter(torch.ones(size))
        self.qkv, self.out = nn.Linear(size, 3 * size, bias=False), nn.Linear(size, size, bias=False)
        self.gate, self.up = nn.Linear(size, 3 * size, bias=False), nn.Linear(size, 3 * size, bias=False)
        self.down = nn.Linear(3 * size, size, bias=False)

    @staticmethod
    def norm(x: Tensor, weight: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        batch, length, size = x.shape
        parts = self.qkv(self.norm(x, self.before)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = parts.unbind(0)

        def rotate(t: Tensor) -> Tensor:
            a, b = t.chunk(2, -1)
            return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

        y = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, size))
        h = self.norm(x, self.after)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Decoder(nn.Module):
    """A language model of four layers with rotary positions."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(2000, 256)
        self.layers = nn.ModuleList([Block(256, 4) for _ in range(4)])
        angles = torch.outer(torch.arange(256.0), 10000 ** (-torch.arange(0, 32) / 32))
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, ids: Tensor) -> Tensor:
        length = ids.shape[1]
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x, self.cos[:length], self.sin[:length])
        return x[:, -1] @ self.words.weight.T


class Vit(nn.Module):
    """A vision transformer of four layers."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 192, 16, 16)
        self.token, self.places = nn.Parameter(torch.randn(1, 1, 192)), nn.Parameter(torch.randn(1, 50, 192))
        layer = nn.TransformerEncoderLayer(192, 3, 768, batch_first=True, norm_first=True, activation="gelu")
        self.layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.LayerNorm(192), nn.Linear(192, 1000))

    def forward(self, x: Tensor) -> Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
        return self.head(self.layers(x)[:, 0])


class Lstm(nn.Module):
    """A classifier of sequences: two directions, 32 steps."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.LSTM(40, 64, batch_first=True, bidirectional=True)
        self.head = nn.Linear(128, 10)

    def forward(self, x: Tensor) -> Tensor:
        y, _ = self.layers(x)
        return F.log_softmax(self.head(y.mean(1)), -1)


class Recommender(nn.Module):
    """A click model: bags of embeddings, pairs of dot products, an MLP."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(500, 32) for _ in range(6)])
        self.bottom = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(32 + 21, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, numbers: Tensor, ids: Tensor) -> Tensor:
        dense = self.bottom(numbers)
        rows = torch.stack([dense] + [table(ids[:, i]).mean(1) for i, table in enumerate(self.tables)], 1)
        pairs = torch.bmm(rows, rows.transpose(1, 2))
        i, j = torch.tril_indices(7, 7, -1)
        return torch.sigmoid(self.top(torch.cat([dense, pairs[:, i, j]], 1)))


class Wave(nn.Module):
    """A network for sound: dilated, gated convolutions over 2,000 samples."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(1, 32, 1)
        self.layers = nn.ModuleList([nn.Conv1d(32, 64, 3, padding=2**i, dilation=2**i) for i in range(6)])
        self.last = nn.Conv1d(32, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        for layer in self.layers:
            a, b = layer(x).chunk(2, 1)
            x = x + torch.tanh(a) * torch.sigmoid(b)
        return self.last(x)


def mlp() -> nn.Module:
    """A perceptron with three layers."""
    return nn.Sequential(nn.Linear(784, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 10), nn.Softmax(-1))


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[Any, ...]]]] = {
    "mlp": (mlp, lambda: (torch.randn(16, 784),)),
    "resnet18": (resnet18, lambda: (torch.randn(1, 3, 128, 128),)),
    "mobilenet": (mobilenet, lambda: (torch.randn(1, 3, 128, 128),)),
    "unet": (UNet, lambda: (torch.randn(1, 1, 96, 96),)),
    "bert": (Bert, lambda: (torch.randint(0, 1000, (2, 64)), torch.arange(64).expand(2, 64) > torch.tensor([[40], [60]]))),
    "decoder": (Decoder, lambda: (torch.randint(0, 2000, (1, 96)),)),
    "vit": (Vit, lambda: (torch.randn(1, 3, 112, 112),)),
    "lstm": (Lstm, lambda: (torch.randn(4, 32, 40),)),
    "recommender": (Recommender, lambda: (torch.randn(64, 13), torch.randint(0, 500, (64, 6, 4)))),
    "wave": (Wave, lambda: (torch.randn(1, 1, 2000),)),
}


def make(name: str) -> tuple[nn.Module, tuple[Any, ...]]:
    """Returns a model in evaluation mode, and inputs. Both are the same in each call."""
    torch.manual_seed(7)
    model, inputs = MODELS[name]
    made = model().eval()
    # Gives batch normalisations random statistics, like those of a trained model: with the initial
    # ones (mean 0, variance 1) they would compute almost nothing.
    for module in made.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    return made, inputs()

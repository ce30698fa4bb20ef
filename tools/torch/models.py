"""Makes the models that tools/compare_torch.py runs on both sides, with random weights.

    module, inputs = make("bert_base", batch=1, dtype=torch.float16)
    export(module, inputs, "bert.onnx")

They are plain torch.nn with the shapes of ResNet-50, BERT-base (128 tokens) and GPT-2 (one
token after 256 cached ones), so that eager, torch.compile and the ONNX file have the same
graph. Modules take and return tuples of tensors.
"""

import time

import torch
from torch import nn
from torch.nn import functional as F

NAMES = ("resnet50", "bert_base", "gpt2_step")


class Bottleneck(nn.Module):
    def __init__(self, before, width, stride):
        super().__init__()
        after = 4 * width
        self.layers = nn.Sequential(
            nn.Conv2d(before, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, after, 1, bias=False), nn.BatchNorm2d(after))
        self.shortcut = nn.Identity() if before == after and stride == 1 else nn.Sequential(
            nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        return F.relu(self.layers(x) + self.shortcut(x))


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
        before = 64
        for stage, blocks in enumerate((3, 4, 6, 3)):
            for block in range(blocks):
                layers.append(Bottleneck(before, 64 << stage, 2 if block == 0 and stage > 0 else 1))
                before = 256 << stage
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 1000))

    def forward(self, x):
        return (self.layers(x),)


def split_heads(x, heads):
    return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


class Layer(nn.Module):
    """A layer of a transformer, with the norm first as in GPT-2, or last as in BERT."""

    def __init__(self, width, heads, norm_first):
        super().__init__()
        self.heads, self.norm_first = heads, norm_first
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x, past_k, past_v):
        q, k, v = (split_heads(part, self.heads) for part in self.qkv(x).chunk(3, -1))
        if past_k is not None:
            k, v = torch.cat([past_k, k], 2), torch.cat([past_v, v], 2)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(x.shape)), k, v

    def forward(self, x, past_k=None, past_v=None):
        y, k, v = self.attend(self.norm1(x) if self.norm_first else x, past_k, past_v)
        x = x + y
        if not self.norm_first:
            x = self.norm1(x)
        y = self.down(F.gelu(self.up(self.norm2(x) if self.norm_first else x)))
        return (x + y if self.norm_first else self.norm2(x + y)), k, v


class Bert(nn.Module):
    def __init__(self, width=768, heads=12, layers=12):
        super().__init__()
        self.words, self.places = nn.Embedding(30522, width), nn.Parameter(torch.randn(128, width) * 0.02)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(Layer(width, heads, False) for _ in range(layers))

    def forward(self, ids):
        x = self.norm(self.words(ids) + self.places)
        for layer in self.layers:
            x = layer(x)[0]
        return (x,)


class Gpt2Step(nn.Module):
    def __init__(self, width=768, heads=12, layers=12):
        super().__init__()
        self.words, self.places = nn.Embedding(50257, width), nn.Embedding(1024, width)
        self.layers = nn.ModuleList(Layer(width, heads, True) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 50257, bias=False)

    def forward(self, ids, position, past):
        x = self.words(ids) + self.places(position)
        for number, layer in enumerate(self.layers):
            x = layer(x, past[number, 0], past[number, 1])[0]
        return (self.head(self.norm(x)),)


def make(name, batch, dtype):
    torch.manual_seed(1)
    if name == "resnet50":
        module, inputs = ResNet50(), [torch.randn(batch, 3, 224, 224).to(dtype)]
    elif name == "bert_base":
        module, inputs = Bert(), [torch.randint(0, 30522, (batch, 128))]
    else:
        module, inputs = Gpt2Step(), [torch.randint(0, 50257, (batch, 1)), torch.full((1, 1), 256),
                                      torch.randn(12, 2, batch, 12, 256, 64).to(dtype)]
    return module.to(dtype).eval(), inputs


def export(module, inputs, path):
    with torch.inference_mode():
        torch.onnx.export(module, tuple(inputs), path, dynamo=False, opset_version=17)


def median_milliseconds(call, seconds):
    for _ in range(5):
        call()
    torch.cuda.synchronize()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        begin = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return sorted(times)[len(times) // 2]

#!/usr/bin/env python3
"""Scripts many small modules with PyTorch, runs them with Ember and compares the results.

    apt-get install python3-torch python3-torchvision
    bazel build //tools:vm-run
    /usr/bin/python3 tools/torch_modules.py [--only=REGEX] [--tiers=0,2] [-v]

Each case is a line of TorchScript on tensors x, y, z, or a module: what it gives in PyTorch is what vm-run has to give.
Cases are scripted, and traced where --traced is given. Types of inputs come from the values alone, as a user would give
them. Prints what fails, and how many cases are right, refused, wrong or not there in this PyTorch.

Exits 1 where a case is wrong or refused, 2 where the command line is, or where there is no PyTorch.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
try:
    import numpy
    import torch
except ImportError as error:
    print(f"torch_modules: expected PyTorch in this python3 ({sys.executable}), found none: {error}", file=sys.stderr)
    sys.exit(2)
try:
    import torchvision
except ImportError:
    torchvision = None

nn = torch.nn
F = torch.nn.functional


def numbers(*shape, seed=0):
    torch.manual_seed(seed + sum(shape))
    return torch.randn(*shape)


def whole(*shape, low=0, high=5, seed=0):
    torch.manual_seed(seed + sum(shape))
    return torch.randint(low, high, shape)


A, B, C = numbers(3, 4), numbers(3, 4, seed=1), numbers(3, 4, seed=2)
POSITIVE = A.abs() + 0.1
SHARE = torch.sigmoid(A)
CUBE = numbers(2, 3, 4)
IMAGE = numbers(2, 3, 6, 8)
GRID = numbers(2, 5, 4, 2).clamp(-1.4, 1.4)
NANS = torch.tensor([[1.0, float("nan"), 3.0, 2.0], [4.0, 0.5, -1.0, 7.0], [float("nan")] * 4])
BOXES = torch.tensor([[0.0, 1.0, 1.0, 6.0, 5.0], [1.0, 0.0, 0.5, 3.5, 4.0], [1.0, 2.0, 2.0, 2.5, 2.25]])
MASK = A > 0
SMALL = whole(3, 4)
SIGNAL = numbers(2, 40)

# Each entry has a line of TorchScript that computes the result, and the operands x, y and z
# that it uses.
LINES = [
    # Sampling and images.
    *[(f"torch.grid_sampler(x, y, {mode}, {padding}, {corners})", IMAGE, GRID)
      for mode in (0, 1, 2) for padding in (0, 1, 2) for corners in (True, False)],
    ("torch.grid_sampler(x, y, 0, 0, False)", numbers(1, 2, 3, 4, 5), numbers(1, 2, 3, 2, 3)),
    ("F.affine_grid(x, [2, 3, 4, 5], False)", numbers(2, 2, 3)),
    ("F.affine_grid(x, [2, 3, 4, 5], True)", numbers(2, 2, 3)),
    ("F.affine_grid(x, [2, 3, 1, 5], True)", numbers(2, 2, 3)),
    ("F.affine_grid(x, [2, 3, 2, 4, 5], False)", numbers(2, 3, 4)),
    ("F.fold(x, [4, 5], [2, 2])", numbers(2, 12, 12)),
    ("F.fold(x, [6, 5], [3, 2], dilation=1, padding=1, stride=2)", numbers(2, 18, 9)),
    *[(f"F.interpolate(x, scale_factor=[{h}, {w}], mode='{mode}', align_corners={corners})", IMAGE)
      for h, w in ((2.5, 1.7), (0.6, 0.5)) for mode in ("bilinear", "bicubic") for corners in (True, False)],
    ("F.interpolate(x, scale_factor=[2.5], mode='linear', align_corners=True)", CUBE),
    ("F.interpolate(x, scale_factor=[1.5, 2.5, 1.3], mode='trilinear', align_corners=True)", numbers(1, 2, 3, 4, 5)),
    ("F.interpolate(x, scale_factor=[2.5, 1.7], mode='nearest')", IMAGE),
    ("F.interpolate(x, scale_factor=[2.5, 1.7], mode='nearest-exact')", IMAGE),
    ("F.interpolate(x, size=[4, 5], mode='bilinear', antialias=True)", IMAGE),
    ("F.interpolate(x, size=[4, 5], mode='bilinear', antialias=True, align_corners=True)", IMAGE),
    ("F.interpolate(x, scale_factor=[0.6, 0.7], mode='bicubic', antialias=True)", IMAGE),
    # Statistics.
    ("torch.cummax(x, 1)", A), ("torch.cummin(x, 0)", A), ("torch.cummax(x, 1)", SMALL), ("torch.cummin(x, -1)", SMALL),
    ("torch.cummax(x, 1)", NANS),
    *[(f"torch.quantile(x, {q}, dim={dim}, keepdim={keep}, interpolation='{mode}')", A)
      for q, dim, keep, mode in ((0.3, 1, False, "linear"), (0.3, 0, True, "lower"), (0.7, 1, False, "higher"),
                                 (0.41, 1, True, "midpoint"), (0.5, 0, False, "nearest"))],
    ("torch.quantile(x, 0.25)", A), ("torch.quantile(x, 0.25, keepdim=True)", A),
    ("torch.quantile(x, y, dim=1)", A, torch.tensor([0.1, 0.5, 0.9])),
    ("torch.quantile(x, y, dim=0, keepdim=True)", A, torch.tensor([0.1, 0.9])),
    ("torch.quantile(x, 0.5, dim=1)", NANS), ("torch.nanquantile(x, 0.5, dim=1)", NANS),
    ("torch.nanmean(x, dim=1)", NANS), ("torch.nanmean(x)", NANS),
    ("torch.linalg.norm(x)", A), ("torch.linalg.norm(x, 1)", A), ("torch.linalg.norm(x, inf)", A),
    ("torch.linalg.norm(x, -1)", A), ("torch.linalg.norm(x, 3, dim=[1])", A), ("torch.linalg.norm(x, 'fro')", A),
    ("torch.linalg.norm(x, dim=[0, 1], keepdim=True)", A), ("torch.linalg.matrix_norm(x)", CUBE),
    ("torch.linalg.vector_norm(x, 2., [0, 1])", A), ("torch.norm(x, 2, 1)", A), ("torch.norm(x)", A),
    ("torch.dist(x, y, 2)", A, B), ("torch.pdist(x)", A), ("F.pairwise_distance(x, y)", A, B), ("torch.cdist(x, y)", A, B),
    ("torch.cov(x)", A), ("torch.corrcoef(x)", A), ("torch.histc(x, 5, -1, 1)", A), ("torch.histc(x, 4)", A),
    ("torch.equal(x, y)", A, A.clone()), ("torch.equal(x, y)", A, B), ("torch.allclose(x, y)", A, A + 1e-9),
    ("torch.std(x, 1)", A), ("torch.var_mean(x, [1], unbiased=False)", A), ("torch.std_mean(x, [0])", A),
    ("torch.var_mean(x)", A), ("torch.std_mean(x)", A), ("torch.median(x, 1)", A), ("torch.aminmax(x)", A),
    ("torch.msort(x)", A), ("torch.logcumsumexp(x, 1)", A), ("torch.count_nonzero(x)", SMALL),
    # Special functions.
    *[(f"torch.{name}(x)".replace("special_", "special."), POSITIVE) for name in
      ("lgamma", "digamma", "special_gammaln", "special_psi", "special_entr", "special_ndtr", "special_erfcx", "erfc",
       "special_erfc", "special_expit", "special_log1p", "special_exp2", "special_sinc", "arccosh", "arcsinh",
       "signbit", "isposinf", "isneginf", "isreal")],
    *[(f"torch.{name}(x)".replace("special_", "special."), A * 2) for name in ("lgamma", "erfc", "special_erf", "signbit", "erfinv", "special_ndtr")],
    ("torch.erfinv(x)", SHARE * 2 - 1), ("torch.special.ndtri(x)", SHARE), ("torch.arctanh(x)", SHARE * 2 - 1),
    ("torch.special.xlog1py(x, y)", SHARE, POSITIVE), ("torch.special.xlogy(x, y)", SHARE, POSITIVE),
    ("torch.special.softmax(x, 1)", A), ("torch.special.log_softmax(x, 1)", A), ("torch.special.logsumexp(x, [1])", A),
    ("torch.logaddexp2(x, y)", A, B), ("torch.ldexp(x, y)", A, SMALL), ("torch.heaviside(x, y)", SMALL - 2.0, A),
    *[(f"torch.{name}_window(7)", ) for name in ("hann", "hamming", "blackman", "bartlett")],
    *[(f"torch.{name}_window(8, False)", ) for name in ("hann", "hamming", "blackman", "bartlett")],
    ("torch.hamming_window(8, True, 0.5)", ), ("torch.hamming_window(8, True, 0.5, 0.4)", ),
    # Operators that read or write elements at given indices.
    ("F.embedding_bag(x, y)", A, whole(2, 3, high=3)), ("F.embedding_bag(x, y, mode='sum')", A, whole(2, 3, high=3)),
    ("F.embedding_bag(x, y, mode='max')", A, whole(2, 3, high=3)),
    ("F.embedding_bag(x, y, mode='mean')", A, whole(4, 3, high=3)),
    ("F.embedding_bag(y, x, z, mode='mean')", A, whole(6, high=3), torch.tensor([0, 2, 2])),
    ("F.embedding_bag(y, x, z, mode='sum')", A, whole(6, high=3), torch.tensor([0, 2, 2])),
    ("F.embedding_bag(x, y, mode='sum', per_sample_weights=z)", A, whole(2, 3, high=3), numbers(2, 3)),
    ("F.embedding_bag(x, y, mode='mean', padding_idx=1)", A, whole(2, 3, high=3)),
    ("torch.repeat_interleave(x, y, 0)", A, torch.tensor([2, 0, 3])), ("torch.repeat_interleave(x, 2, 1)", A),
    ("torch.repeat_interleave(x, y)", numbers(3), torch.tensor([2, 0, 3])), ("torch.repeat_interleave(x, 2)", A),
    ("torch.repeat_interleave(x)", torch.tensor([2, 0, 3])),
    ("torch.repeat_interleave(x, torch.tensor([1, 2, 1]), 0)", A),
    ("torch.masked_scatter(x, y, z)", A, MASK, B), ("torch.isin(x, y)", SMALL, torch.tensor([1, 3])),
    ("torch.isin(x, y, invert=True)", SMALL, torch.tensor([1, 3])), ("torch.isin(x, 3)", SMALL),
    ("torch.put(x, y, z)", A, torch.tensor([0, 5]), numbers(2)), ("torch.tril_indices(3, 4, 1)", ),
    ("torch.triu_indices(4, 3, -1)", ), ("torch.masked_select(x, y)", A, MASK), ("torch.take(x, y)", A, torch.tensor([0, 5, -1])),
    ("torch.index_add(x, 0, y, z)", A, torch.tensor([0, 2]), numbers(2, 4)), ("torch.bucketize(x, y)", A, torch.tensor([-1.0, 0.0, 1.0])),
    ("torch.scatter_reduce(x, 1, y, z, 'amax')", A, whole(3, 4, high=4), B),
    ("torch.unique(x)", SMALL), ("torch.unique(x, return_inverse=True, return_counts=True)", SMALL),
    ("torch.unique_consecutive(x, return_inverse=True, return_counts=True)", torch.tensor([3, 3, 1, 1, 1, 3])),
    ("torch.bincount(x)", whole(7)), ("torch.bincount(x, y, 6)", whole(7), numbers(7)), ("torch._shape_as_tensor(x)", A),
    # Arrangements.
    ("torch.kron(x, y)", A, numbers(2, 3)), ("torch.kron(x, y)", numbers(3), numbers(2, 3)), ("torch.diff(x)", A),
    ("torch.diff(x, 2, 0)", A), ("torch.diff(x, prepend=y)", A, numbers(3, 1)), ("torch.diff(x)", MASK),
    ("torch.diff(x, 1, -1, None, y)", A, numbers(3, 2)),
    ("torch.tensor_split(x, [1, 3], 1)", A), ("torch.tensor_split(x, 3, 1)", A), ("torch.tensor_split(x, [1, -1])", A),
    ("torch.tensor_split(x, torch.tensor([1, 2]), 1)", A), ("torch.hsplit(x, 2)", A), ("torch.vsplit(x, [1, 2])", A),
    ("torch.dsplit(x, [1, 3])", CUBE), ("torch.diag_embed(x)", A), ("torch.diag_embed(x, 1, 0, 2)", A),
    ("torch.diag_embed(x, -1)", A), ("torch.diagflat(x)", A), ("torch.block_diag([x, y])", A, numbers(2, 2)),
    ("torch.cartesian_prod([x, y])", numbers(3), numbers(2)), ("torch.fliplr(x)", A), ("torch.flipud(x)", A),
    ("torch.dstack([x, y])", A, B), ("torch.column_stack([x, y])", numbers(3), A), ("torch.row_stack([x, y])", A, B),
    ("torch.atleast_3d(x)", A), ("torch.atleast_3d(x)", numbers(3)), ("torch.rot90(x, 1, [0, 1])", A),
    ("torch.linalg.diagonal(x)", CUBE), ("torch.as_strided(x, [2, 3], [1, 2], 1)", A), ("x.unfold(1, 2, 1)", A),
    ("torch.nn.utils.rnn.pad_sequence([x, y])", A, numbers(2, 4)), ("torch.linalg.vecdot(x, y)", A, B), ("torch.vdot(x, y)", numbers(3), numbers(3, seed=1)),
    ("F.max_pool2d(x, 2, return_indices=True)", IMAGE), ("F.max_pool2d(x, [3, 2], [2, 1], [1, 0], 1, True, return_indices=True)", IMAGE),
    ("F.max_pool1d(x, 2, return_indices=True)", CUBE), ("torch.inverse(x)", numbers(2, 4, 4)),
    ("F.max_unpool2d(x, y, [2, 2])", numbers(1, 1, 2, 2), torch.tensor([[[[0, 7], [12, 15]]]])),
    ("torch.linalg.solve(x, y)", numbers(4, 4), numbers(4, 2)), ("torch.linalg.det(x)", numbers(2, 4, 4)),
    ("torch.linalg.cholesky(x @ x.t() + torch.eye(3))", A), ("torch.matrix_power(x, -2)", numbers(4, 4)), ("torch.slogdet(x)", numbers(4, 4)),
    # Losses.
    *[(f"F.{name}(x, y, reduction='{reduction}')", SHARE, torch.sigmoid(B))
      for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
                   "binary_cross_entropy_with_logits", "kl_div", "poisson_nll_loss", "soft_margin_loss")
      for reduction in ("none", "mean", "sum")],
    ("F.smooth_l1_loss(x, y, beta=0.3)", A, B), ("F.huber_loss(x, y, delta=0.3)", A, B),
    ("F.kl_div(x, y, log_target=True)", A, B), ("F.poisson_nll_loss(x, y, full=True)", A, POSITIVE * 3),
    ("F.binary_cross_entropy_with_logits(x, y, pos_weight=z)", A, SHARE, POSITIVE[0]),
    ("F.binary_cross_entropy(x, y, weight=z)", SHARE, torch.sigmoid(B), POSITIVE),
    *[(f"F.cross_entropy(x, y, reduction='{reduction}'{rest})", A, torch.tensor([1, 3, 0]), POSITIVE[0])
      for reduction in ("none", "mean", "sum") for rest in ("", ", weight=z", ", ignore_index=3", ", label_smoothing=0.1",
                                                            ", weight=z, label_smoothing=0.1, ignore_index=3")],
    ("F.cross_entropy(x, y)", A, torch.softmax(B, 1)), ("F.cross_entropy(x, y)", IMAGE, whole(2, 6, 8, high=3)),
    ("F.nll_loss(torch.log_softmax(x, 1), y, weight=z)", A, torch.tensor([1, 3, 0]), POSITIVE[0]),
    ("F.margin_ranking_loss(x, y, z, margin=0.1)", A, B, torch.sign(C)),
    ("F.hinge_embedding_loss(x, y)", A, torch.sign(B)),
    ("F.cosine_embedding_loss(x, y, z)", A, B, torch.tensor([1.0, -1.0, 1.0])),
    ("F.triplet_margin_loss(x, y, z)", A, B, C), ("F.triplet_margin_loss(x, y, z, swap=True, p=1.)", A, B, C),
    # Convolutions.
    ("torch.conv2d(x, y, None, 1, 'same')", IMAGE, numbers(4, 3, 3, 2)), ("torch.conv1d(x, y, None, [1], 'valid')", CUBE, numbers(2, 3, 2)),
    ("torch._convolution_mode(x, y, None, [1, 1], 'same', [2, 1], 1)", IMAGE, numbers(4, 3, 3, 2)),
    ("torch._weight_norm(x, y, 0)", A, numbers(3, 1)), ("torch._weight_norm(x, y, 1)", A, numbers(1, 4)),
    ("torch.norm_except_dim(x, 2, 0)", A), ("F.local_response_norm(x, 2)", IMAGE),
    # Fourier transforms.
    ("torch.view_as_real(torch.stft(x, 16, return_complex=True))", SIGNAL),
    ("torch.view_as_real(torch.stft(x, 16, 5, 12, y, center=True, return_complex=True))", SIGNAL, torch.hann_window(12)),
    ("torch.view_as_real(torch.stft(x, 16, 4, center=False, normalized=True, return_complex=True))", SIGNAL),
    ("torch.view_as_real(torch.stft(x, 16, 4, onesided=False, return_complex=True))", SIGNAL),
    ("torch.stft(x, 16, 4, return_complex=True).abs()", SIGNAL), ("torch.stft(x, 16, 4, return_complex=False)", SIGNAL),
    ("torch.stft(x, 16, 4, pad_mode='constant', return_complex=True).abs()", SIGNAL),
    ("torch.istft(torch.stft(x, 16, 4, window=y, return_complex=True), 16, 4, window=y)", SIGNAL, torch.hann_window(16)),
    ("torch.istft(torch.stft(x, 16, 4, window=y, return_complex=True), 16, 4, window=y, length=40)", SIGNAL, torch.hann_window(16)),
    ("torch.fft.rfft(x).abs()", SIGNAL), ("torch.view_as_real(torch.fft.rfft(x, 30, 1, 'ortho'))", SIGNAL),
    ("torch.fft.irfft(torch.fft.rfft(x))", SIGNAL), ("torch.fft.irfft(torch.fft.rfft(x), 39)", SIGNAL),
    ("torch.view_as_real(torch.fft.fft(x))", SIGNAL), ("torch.real(torch.fft.ifft(torch.fft.fft(x)))", SIGNAL),
    ("torch.view_as_real(torch.fft.rfft2(x))", A), ("torch.fft.irfft2(torch.fft.rfft2(x))", A),
    ("torch.view_as_real(torch.fft.fft2(x))", A), ("torch.view_as_real(torch.fft.rfftn(x))", CUBE),
    ("torch.angle(torch.fft.rfft(x, 8)) * (torch.fft.rfft(x, 8).abs() > 1e-3)", A),
    ("torch.view_as_real(torch.polar(x, y))", POSITIVE, A), ("torch.view_as_real(torch.complex(x, y) * torch.complex(y, x))", A, B),
    ("torch.view_as_real(torch.view_as_complex(x) * 2.5)", numbers(3, 4, 2)), ("torch.view_as_complex(x).real", numbers(3, 4, 2)),
    ("torch.view_as_real(torch.view_as_complex(x).transpose(0, 1))", numbers(3, 4, 2)),
    ("torch.view_as_real(torch.conj(torch.view_as_complex(x)) / torch.view_as_complex(y))", numbers(3, 4, 2), numbers(3, 4, 2, seed=1)),
    ("torch.fft.fftshift(x)", A), ("torch.fft.ifftshift(x, [1])", A), ("torch.fft.rfftfreq(8)", ), ("torch.fft.fftfreq(7, 0.5)", ),
    # Conversions.
    ("x.to(y)", SMALL, A), ("x.to(torch.float64)", SMALL), ("x.type_as(y)", SMALL, A), ("x + 1", SMALL), ("x & y", MASK, B > 0),
    ("torch.where(x, y, z)", MASK, A, B), ("x.masked_fill(y, 0.)", A, MASK), ("x * 2", torch.tensor([1, 2], dtype=torch.int32)),
]
if torchvision is not None:
    LINES += [
        *[(f"torch.ops.torchvision.roi_align(x, y, {scale}, 2, 3, {ratio}, {aligned})", IMAGE, BOXES)
          for scale in (1.0, 0.5) for ratio in (-1, 2) for aligned in (True, False)],
        ("torch.ops.torchvision.roi_pool(x, y, 1.0, 2, 3)[0]", IMAGE, BOXES),
        ("torch.ops.torchvision.ps_roi_align(x, y, 0.9, 2, 2, 2)[0]", numbers(2, 8, 6, 8), BOXES),
        ("torch.ops.torchvision.ps_roi_align(x, y, 0.9, 2, 3, -1)[0]", numbers(2, 12, 6, 8), BOXES),
        ("torch.ops.torchvision.ps_roi_pool(x, y, 0.9, 2, 2)[0]", numbers(2, 8, 6, 8), BOXES),
        ("torch.ops.torchvision.nms(x, y, 0.5)", BOXES[:, 1:], torch.tensor([0.3, 0.9, 0.5])),
    ]

# Bodies of scripted functions forward(x, y, z), for cases that need several lines
# of TorchScript.
BODIES = [
    ("y = x.expand(3, 4).contiguous()\ny[0] = 1\nreturn y", numbers(1, 4)),
    ("y = x.t().contiguous()\ny[0] = 1\nreturn x, y", A.clone()),
    ("y = x.t().reshape(12)\ny[0] = 1\nreturn x, y", A.clone()),
    ("y = x.reshape(12)\ny[0] = 1\nreturn x, y", A.clone()),
    ("y = x[:, 1:3].flatten()\ny[0] = 1\nreturn x, y", A.clone()),
    ("y = x[1:3].flatten()\ny[0] = 1\nreturn x, y", A.clone()),
    ("y = x.view(2, 6)[:, 2:4].contiguous()\ny.add_(1)\nreturn x, y", A.clone()),
    ("y = x.contiguous(memory_format=torch.channels_last)\ny.add_(1)\nreturn x, y", IMAGE.clone()),
    ("y = x[:, ::2]\ny.mul_(3)\nreturn x, y.is_contiguous(), x.is_contiguous()", A.clone()),
    ("z = torch.empty(0)\ntorch.add(x, y, out=z)\nreturn z", A, B),
    ("z = torch.empty(3, 4)\ntorch.matmul(x, y.t(), out=z[:, :3])\nreturn z[:, :3]", A, B),
    ("a = [3, 1, 2]\na.sort()\nreturn x * a[0] + a[2]", A),
    ("a = sorted([3, 1, 2], reverse=True)\nreturn x * a[0] + a.index(1) + a.count(2)", A) if False else
    ("a = [3, 1, 2]\na.sort(reverse=True)\nreturn x * a[0] + a.index(1) + a.count(2)", A),
    ("d = {'a': x, 'b': y}\nd.update({'c': x + y})\nd.pop('a')\nreturn d['c'] + len(d)", A, B),
    ("a = torch.jit.annotate(List[Tuple[str, Tensor]], [('p', x), ('q', y)])\nd = dict(a)\nreturn d['p'] - d['q']", A, B),
    ("t = 'a,b'.split(',')\nn = 0\nif '-'.join(t) == 'a-b' and 'abc'.startswith('ab'):\n  n = 2\nreturn x + n", A),
    ("a = torch.jit.fork(helper, x, 3)\nb = torch.jit.fork(helper, y, 2)\nreturn torch.jit.wait(a) + torch.jit.wait(b)", A, B),
    ("n = 0\ny = torch.zeros(4)\nwhile bool(y.sum() < 10):\n  y[n] = x[0, n] + 5\n  n += 1\nreturn y, n", POSITIVE),
    ("n = 0\ns = x\nwhile bool(s.sum() < 10):\n  s = s + 1\n  n += 1\nreturn s, n", A),
]


def helper(x, n: int):
    return x * n + 1


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.embedding = nn.GRUCell(5, 5), nn.Embedding(5, 5)

    def forward(self, h, t):
        out, n = torch.zeros(12, dtype=torch.long), 0
        done = False
        while not done and n < 12:
            h = self.cell(self.embedding(t).unsqueeze(0), h)
            t = h.argmax()
            out[n] = t
            n += 1
            done = bool(t == 0)
        return out, n


class Same(nn.Module):
    """What a wrapped module gives, in evaluation mode."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *inputs):
        return self.module(*inputs)


def encoder(**options):
    torch.manual_seed(0)
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, **options), 2, nn.LayerNorm(8))


class Padded(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.encoder = encoder(**options)

    def forward(self, x, mask):
        return self.encoder(x, src_key_padding_mask=mask)


class Attention(nn.Module):
    def __init__(self, weights, **options):
        super().__init__()
        torch.manual_seed(0)
        self.attention, self.weights = nn.MultiheadAttention(8, 2, batch_first=True, **options), weights

    def forward(self, x):
        y, w = self.attention(x, x, x, need_weights=self.weights)
        return (y, w) if self.weights else y


PADDING = torch.tensor([[False, False, False, True, True], [False] * 5])


def modules():
    """Modules by name: (module, inputs, ways)."""
    x = numbers(2, 5, 8)
    torch.manual_seed(0)
    yield "encoder_layer", nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), [x], "st"
    yield "encoder_layer_gelu_first", nn.TransformerEncoderLayer(8, 2, 16, activation=F.gelu, norm_first=True,
                                                                 batch_first=True), [x], "t"
    yield "encoder", encoder(), [x], "st"
    yield "encoder_padded", Padded(), [x, PADDING], "t"
    yield "attention", Attention(True), [x], "t"
    yield "attention_no_weights", Attention(False), [x], "t"
    yield "transformer", nn.Transformer(8, 2, 1, 1, 16, batch_first=True), [x, numbers(2, 3, 8)], "t"
    yield "decoder_layer", nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), [x, numbers(2, 3, 8)], "st"
    yield "cell_in_while", Cell(), [numbers(1, 5), torch.tensor(3)], "s"
    yield "conv_same", nn.Conv2d(3, 4, (3, 2), padding="same"), [IMAGE], "st"
    yield "weight_norm", nn.utils.weight_norm(nn.Linear(8, 4)), [x], "t"
    yield "weight_norm_conv", nn.utils.weight_norm(nn.Conv1d(5, 4, 3), dim=None), [x], "t"
    yield "embedding_bag", nn.EmbeddingBag(5, 3, mode="mean"), [whole(2, 3), ], "st"
    yield "bilinear", nn.Bilinear(8, 8, 3), [x, x], "st"
    for engine in torch.backends.quantized.supported_engines:
        if engine == "none":
            continue
        torch.backends.quantized.engine = engine
        mlp = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).eval()
        yield f"dynamic_{engine}", torch.ao.quantization.quantize_dynamic(mlp, {nn.Linear}), [x], "st"
        yield f"static_{engine}", static(engine), [IMAGE], "st"
    from torch.utils.mobile_optimizer import optimize_for_mobile
    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 4, 3, groups=2),
                        nn.Hardtanh(0.0, 1.0), nn.ConvTranspose2d(4, 3, 2, 2), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
                        nn.Linear(12, 5), nn.ReLU(), nn.Linear(5, 2)).eval()
    yield "mobile", optimize_for_mobile(torch.jit.script(net)), [IMAGE], "m"
    yield "lite", optimize_for_mobile(torch.jit.script(net)), [IMAGE], "l"


def static(engine):
    from torch.ao import quantization

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
            self.conv = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
            self.second, self.linear = nn.Conv2d(8, 8, 3, groups=2), nn.Linear(8, 4)
            self.sum, self.swish = nn.quantized.FloatFunctional(), nn.Hardswish()

        def forward(self, x):
            x = self.conv(self.quant(x))
            x = F.max_pool2d(self.swish(self.second(x)), 2)
            x = self.sum.add(x, torch.sigmoid(x))
            x = self.sum.cat([x, x], 1)[:, :8].mean([2, 3])
            return self.dequant(self.linear(x))

    torch.manual_seed(0)
    net = Net().eval()
    quantization.fuse_modules(net, [["conv.0", "conv.1", "conv.2"]], inplace=True)
    net.qconfig = quantization.get_default_qconfig("qnnpack" if engine == "qnnpack" else "fbgemm")
    quantization.prepare(net, inplace=True)
    for seed in range(3):
        net(numbers(2, 3, 6, 8, seed=seed))
    return quantization.convert(net)


def script_of(body, inputs):
    names = ["x", "y", "z"][:len(inputs)]
    text = "\n".join("    " + line for line in body.split("\n"))
    source = f"def forward(self{''.join(', ' + name for name in names)}):\n{text}\n"
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "case.py")
    with open(path, "w") as file:
        file.write("import torch, torch.nn as nn\nimport torch.nn.functional as F\nfrom math import inf\n"
                   "from typing import List, Tuple, Dict, Optional\nfrom torch import Tensor\n"
                   "def helper(x, n: int):\n    return x * n + 1\n"
                   "class Case(nn.Module):\n" + "".join("  " + line + "\n" for line in source.split("\n")))
    import importlib.util
    spec = importlib.util.spec_from_file_location("case", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return torch.jit.script(module.Case().eval())


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value.dequantize() if value.is_quantized else value]
    if isinstance(value, bool):
        return [torch.tensor(value)]
    if isinstance(value, int):
        return [torch.tensor(value)]
    if isinstance(value, float):
        return [torch.tensor(value, dtype=torch.float64)]
    if isinstance(value, dict):
        return [part for item in value.values() for part in flat(item)]
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in flat(item)]
    return []


def run(options, name, make, inputs, tolerance):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.ptl" if name.startswith("lite") else "m.pt")
        try:
            with torch.no_grad():
                make(path)
                expected = flat(torch.jit.load(path)(*[one.clone() for one in inputs]))
        except Exception as error:  # noqa: BLE001 (whatever PyTorch raises)
            lines = str(error).strip().splitlines() or [type(error).__name__]
            return "absent", lines[-1]
        command = [options.vm_run, path, "--threads=1", "--print=none", "--no-kernel-cache",
                   f"--rtol={tolerance}", f"--atol={tolerance}"]
        for i, tensor in enumerate(inputs):
            numpy.save(os.path.join(folder, f"in{i}.npy"), tensor.numpy())
            command.append(f"--input=@{folder}/in{i}.npy")
        for i, tensor in enumerate(expected):
            numpy.save(os.path.join(folder, f"out{i}.npy"), numpy.asarray(tensor.detach().numpy(), order="C"))
            command.append(f"--expected=@{folder}/out{i}.npy")
        for tier in options.tiers.split(","):
            done = subprocess.run(command + [f"--tier={tier}"], capture_output=True, text=True)
            if done.returncode != 0:
                lines = (done.stderr + done.stdout).strip().splitlines() or ["no message"]
                wrong = "want" in lines[-1] or "differ" in lines[-1]
                return ("WRONG" if wrong else "REFUSED"), f"tier {tier}: " + lines[-1].replace(folder + "/", "")[:240]
    return "right", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vm-run", default="bazel-bin/tools/vm-run", help="the program (default: %(default)s)")
    parser.add_argument("--only", default="", help="runs only cases whose names this regular expression finds")
    parser.add_argument("--tiers", default="0", help="tiers of vm-run, with commas between them (default: %(default)s)")
    parser.add_argument("-v", "--verbose", action="store_true", help="prints every case")
    options = parser.parse_args()
    if not os.path.exists(options.vm_run):
        parser.error(f"--vm-run: expected a program, found none at {options.vm_run}")
    torch.set_num_threads(1)
    cases = []
    for line, *inputs in LINES:
        cases.append((line, lambda path, line=line, inputs=inputs: script_of("return " + line, inputs).save(path), inputs,
                      1e-4))
    for body, *inputs in BODIES:
        cases.append((body.replace("\n", "; "),
                      lambda path, body=body, inputs=inputs: script_of(body, inputs).save(path), inputs, 1e-4))
    for name, module, inputs, ways in modules():
        module.eval()
        tolerance = 2e-2 if name.startswith("static") else 1e-3 if name.startswith("dynamic") else 1e-4
        if "s" in ways:
            cases.append((name + " scripted", lambda path, m=module: torch.jit.script(m).save(path), inputs, tolerance))
        if "t" in ways:
            cases.append((name + " traced", lambda path, m=module, i=inputs: torch.jit.trace(
                m, tuple(i), check_trace=False).save(path), inputs, tolerance))
        if "m" in ways:
            cases.append((name, lambda path, m=module: m.save(path), inputs, tolerance))
        if "l" in ways:
            cases.append((name, lambda path, m=module: m._save_for_lite_interpreter(path), inputs, tolerance))
    counts = {}
    for name, make, inputs, tolerance in cases:
        if not re.search(options.only, name):
            continue
        verdict, why = run(options, name, make, inputs, tolerance)
        counts[verdict] = counts.get(verdict, 0) + 1
        if options.verbose or verdict != "right":
            print(f"{verdict}: {name}" + (f": {why}" if why else ""), flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    if not counts:
        print("torch_modules: expected a case that --only finds, found none", file=sys.stderr)
        return 2
    return 1 if counts.get("WRONG") or counts.get("REFUSED") else 0


if __name__ == "__main__":
    sys.exit(main())

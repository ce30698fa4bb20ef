"""Programs of torch.export, TorchScript and modules: PyTorch 1.13 and later."""

import unittest

import ember
import numpy as np

try:
    import torch
except ImportError as error:
    raise unittest.SkipTest("python3-torch is not installed") from error

from torch import nn

VERSION = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
HAS_EXPORT = VERSION >= (2, 3)


class Net(nn.Module):
    """A small network with a convolution, and a branch that tracing removes."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        return torch.softmax(self.head(x.mean((2, 3))), -1)


def net():
    torch.manual_seed(3)
    made = Net().eval()
    made.norm.running_mean.normal_()
    made.norm.running_var.uniform_(0.5, 2)
    return made


def close(found, wanted):
    np.testing.assert_allclose(found, wanted.detach().numpy(), rtol=1e-5, atol=1e-6)


class ProgramsTest(unittest.TestCase):
    def setUp(self):
        self.x = torch.randn(2, 1, 8, 8)
        self.net = net()
        self.wanted = self.net(self.x)

    def test_traced(self):
        module = ember.compile(torch.jit.trace(self.net, (self.x,)), inputs={"x": (2, 1, 8, 8)})
        close(module(self.x), self.wanted)
        self.assertEqual(module.inputs[0].name, "x")

    def test_traced_with_tensors_as_inputs(self):
        class Pick(nn.Module):
            def forward(self, x, i):
                return x[i] * 2

        x, i = torch.randn(5, 2), torch.tensor([4, 0])
        module = ember.compile(torch.jit.trace(Pick(), (x, i)), inputs=(x, i))
        self.assertEqual([(v.type, v.shape) for v in module.inputs], [("f32", (5, 2)), ("i64", (2,))])
        close(module(x, i), x[i] * 2)

    def test_scripted(self):
        module = ember.compile(torch.jit.script(self.net), inputs={"x": (None, 1, 8, 8)})
        close(module(self.x), self.wanted)
        close(module(self.x[:1]), self.wanted[:1])

    def test_module(self):
        module = ember.compile(self.net, inputs=(self.x,))
        close(module(self.x), self.wanted)

    def test_wrong_arguments(self):
        with self.assertRaisesRegex(ember.InvalidArgument, "expected inputs for a torch.nn.Module"):
            ember.compile(self.net)
        with self.assertRaisesRegex(ember.InvalidArgument, "expected extents, None or"):
            ember.compile(self.net, inputs={"x": "1xfoo"})
        with self.assertRaisesRegex(ember.Unimplemented, "found one in training"):
            ember.compile(net().train(), inputs=(self.x,))
        with self.assertRaisesRegex(ember.InvalidArgument, "expected a program of torch.export"):
            ember.from_torch(self.net)
        with self.assertRaisesRegex(ember.InvalidArgument, "expected format only with a path or bytes"):
            ember.compile(self.net, inputs=(self.x,), format="onnx")

    def test_lstm_scripted(self):
        torch.manual_seed(3)
        lstm = nn.LSTM(5, 6, batch_first=True).eval()
        x = torch.randn(2, 7, 5)
        wanted, (h, c) = lstm(x)
        found = ember.compile(torch.jit.trace(lstm, (x,)), inputs={"input": (2, 7, 5)})(x)
        for f, w in zip(found, (wanted, h, c)):
            close(f, w)

    @unittest.skipUnless(HAS_EXPORT, "PyTorch is older than 2.3")
    def test_exported(self):
        module = ember.from_torch(torch.export.export(self.net, (self.x,)))
        close(module(self.x), self.wanted)

    @unittest.skipUnless(HAS_EXPORT, "PyTorch is older than 2.3")
    def test_exported_with_open_dims(self):
        shapes = {"x": {0: torch.export.Dim("batch"), 2: torch.export.Dim("height", min=4, max=64)}}
        module = ember.from_torch(torch.export.export(self.net, (self.x,), dynamic_shapes=shapes))
        self.assertIsInstance(module.inputs[0].shape[0], str)
        for x in (self.x, torch.randn(5, 1, 9, 8), torch.randn(3, 1, 4, 8)):
            close(module(x), self.net(x))

    @unittest.skipUnless(HAS_EXPORT, "PyTorch is older than 2.3")
    def test_module_with_open_dims(self):
        module = ember.compile(self.net, inputs={"x": (None, 1, "?", 8)})
        for x in (self.x, torch.randn(5, 1, 9, 8)):
            close(module(x), self.net(x))

    @unittest.skipUnless(HAS_EXPORT, "PyTorch is older than 2.3")
    def test_exported_with_several_values(self):
        class Several(nn.Module):
            def forward(self, a, b, scale: int = 3):
                return {"sum": a + b, "parts": [a * scale, None, b.to(torch.float64)], "count": a.shape[0]}

        a, b = torch.randn(3, 2), torch.randint(0, 9, (3, 2))
        module = ember.from_torch(torch.export.export(Several(), (a, b)))
        found = dict(zip([o.name for o in module.outputs], module(a, b)))
        close(found["sum"], a + b)
        self.assertIn(np.dtype(np.float64), [v.dtype for v in found.values()])

    @unittest.skipUnless(HAS_EXPORT, "PyTorch is older than 2.3")
    def test_bf16(self):
        model = nn.Linear(4, 3).to(torch.bfloat16).eval()
        x = torch.randn(2, 4).to(torch.bfloat16)
        found = ember.from_torch(torch.export.export(model, (x,)))(x)
        found = torch.from_dlpack(ember.Bfloat16(found))
        torch.testing.assert_close(found, model(x), rtol=2e-2, atol=2e-2)


if __name__ == "__main__":
    unittest.main()

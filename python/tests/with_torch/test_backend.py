"""torch.compile(backend="ember"): PyTorch 2.6."""

import subprocess
import sys
import unittest
from unittest import mock

import ember

try:
    import torch
    import torch._dynamo
except ImportError as error:
    raise unittest.SkipTest("PyTorch 2 is not installed") from error

from ember.pytorch import parts
from torch import nn
from torch.nn import functional as F


def fast(function, **options):
    torch._dynamo.reset()
    dynamic = options.pop("dynamic", None)
    return torch.compile(function, backend="ember", dynamic=dynamic, options={"threads": 1, **options})


class Case(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(5)
        self.no_grad = torch.no_grad()
        self.no_grad.__enter__()
        # Counts the compilations.
        real = parts.compiler.compile
        self.compile = mock.patch.object(parts.compiler, "compile", side_effect=real).start()

    def tearDown(self):
        mock.patch.stopall()
        self.no_grad.__exit__(None, None, None)

    def check(self, function, *inputs, compilations=1, **options):
        """Compares a compiled function with the function."""
        made = fast(function, **options)
        for _ in range(2):
            torch.testing.assert_close(made(*inputs), function(*inputs), rtol=1e-4, atol=1e-5)
        self.assertEqual(self.compile.call_count, compilations)
        return made


class GraphsTest(Case):
    def test_a_module(self):
        model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 3), nn.Softmax(-1)).eval()
        self.check(model, torch.randn(4, 8))

    def test_values_of_all_kinds(self):
        def function(a, b):
            return {"sum": a + b, "nothing": None, "parts": (a.amax(1), a.argmax(1), a > 0), "same": a, "view": a.T}

        self.check(function, torch.randn(3, 5), torch.randn(5))

    def test_types(self):
        for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.uint8):
            with self.subTest(dtype):
                self.compile.reset_mock()
                self.check(lambda a: a * 2 + a.flip(0), torch.arange(6).reshape(2, 3).to(dtype))

    def test_strides_of_inputs(self):
        self.check(lambda a: a.softmax(0) + 1, torch.randn(4, 6).T)
        self.compile.reset_mock()
        self.check(lambda a: a * 3, torch.randn(8, 4)[::2, 1:])

    def test_inputs_and_buffers_that_are_written(self):
        class Counter(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("count", torch.zeros(()))

            def forward(self, x):
                self.count += 1
                x.mul_(2)
                return x + self.count

        plain, compiled = Counter(), Counter()
        made = fast(compiled)
        for step in range(5):
            a, b = torch.full((3,), float(step)), torch.full((3,), float(step))
            torch.testing.assert_close(made(a), plain(b))
            torch.testing.assert_close(a, b)
            torch.testing.assert_close(compiled.count, plain.count)
        # The buffer `count` is a constant in the first compilations; after MOST_CHANGES changes it
        # is an input, and compilations end.
        self.assertLessEqual(self.compile.call_count, parts.MOST_CHANGES + 1)

    def test_attention(self):
        model = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
        self.check(model, torch.randn(2, 7, 16))
        self.compile.reset_mock()
        q = torch.randn(2, 2, 5, 8)
        self.check(lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), q)

    def test_recurrent_layers_stay_in_eager(self):
        # Dynamo does not trace an LSTM, so nothing is compiled. With allow_rnn the LSTM becomes an
        # operator of oneDNN, which Ember leaves in eager with a warning.
        model, x = nn.LSTM(5, 6, batch_first=True).eval(), torch.randn(2, 7, 5)
        self.check(model, x, compilations=0)
        with torch._dynamo.config.patch(allow_rnn=True), self.assertLogs("ember.pytorch", "WARNING") as logs:
            torch.testing.assert_close(fast(model)(x), model(x))
        self.assertIn("aten.mkldnn_rnn_layer.default", logs.output[0])

    def test_constants_in_the_code(self):
        self.check(lambda a: a * torch.tensor([1.0, 2.0, 3.0]) + torch.arange(3), torch.randn(2, 3))

    def test_graph_breaks(self):
        def function(a):
            b = a * 2
            if b.sum() > 0:
                return b.exp()
            return b.sin()

        self.check(function, torch.ones(3), compilations=2)


class WeightsTest(Case):
    def test_weights_that_change(self):
        model = nn.Linear(4, 2).eval()
        x = torch.randn(3, 4)
        made = self.check(model, x)
        for step in range(4):
            model.weight.mul_(2)
            torch.testing.assert_close(made(x), model(x))
        self.assertLessEqual(self.compile.call_count, 1 + parts.MOST_CHANGES)

    def test_layers_that_share_a_graph(self):
        layers = [nn.Linear(4, 4).eval() for _ in range(3)]
        x = torch.randn(2, 4)
        torch._dynamo.reset()
        made = [torch.compile(layer, backend="ember", options={"threads": 1}) for layer in layers]
        for _ in range(2):
            for layer, one in zip(layers, made):
                torch.testing.assert_close(one(x), layer(x))
        self.assertEqual(self.compile.call_count, 3)

    def test_weights_as_inputs(self):
        model = nn.Linear(4, 2).eval()
        x = torch.randn(3, 4)
        made = self.check(model, x, freeze=False)
        model.weight.mul_(2)
        torch.testing.assert_close(made(x), model(x))
        self.assertEqual(self.compile.call_count, 1)


class SizesTest(Case):
    def test_symbolic_sizes_are_open_dims(self):
        model = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2)).eval()
        made = fast(model, dynamic=True)
        for batch in (2, 3, 7, 64):
            x = torch.randn(batch, 6)
            torch.testing.assert_close(made(x), model(x), rtol=1e-4, atol=1e-5)
        self.assertEqual(self.compile.call_count, 1)

    def test_sizes_in_formulas(self):
        def function(a, b):
            c = torch.cat([a, b], 0)
            return c.reshape(-1, 2).sum(0) / c.shape[0], c.new_ones(a.shape[0] * 2), a.shape[0] + 1

        made = fast(function, dynamic=True)
        for rows in (2, 5, 9):
            a, b = torch.randn(rows, 4), torch.randn(rows + 1, 4)
            torch.testing.assert_close(made(a, b), function(a, b))
        self.assertLessEqual(self.compile.call_count, 1)

    def test_numbers_that_are_not_sizes(self):
        made = fast(lambda a, n: a * n + n, dynamic=True)
        for n in (3, 4, 5):
            torch.testing.assert_close(made(torch.ones(4), n), torch.full((4,), 2.0 * n))

    def test_automatic_open_dims(self):
        model = nn.Linear(4, 2).eval()
        made = fast(model)
        for batch in (3, 4, 5, 6):
            x = torch.randn(batch, 4)
            torch.testing.assert_close(made(x), model(x))
        # The first graph has the batch of the first call, and the second one an open dim.
        self.assertEqual(self.compile.call_count, 2)


class EagerTest(Case):
    def test_an_operator_that_is_missing_stays_in_eager(self):
        def function(a):
            b = torch.relu(a) + 1
            values, _ = torch.mode(b, 1)
            return torch.exp(values) * 2

        with self.assertLogs("ember.pytorch", "WARNING") as logs:
            self.check(function, torch.randn(3, 5).round(), compilations=3)
        (line,) = logs.output
        self.assertIn("aten.mode.default", line)
        self.assertNotIn("\n", line)

    def test_random_numbers_stay_in_eager(self):
        def function(a):
            return F.dropout(a, 0.5, training=True) * 2

        with self.assertLogs("ember.pytorch", "WARNING") as logs:
            found = fast(function)(torch.ones(1000))
        self.assertIn("dropout", logs.output[0])
        self.assertEqual(set(found.tolist()), {0.0, 4.0})

    def test_control_flow(self):
        def function(a):
            return torch.cond(a.sum() > 0, lambda x: x + 1, lambda x: x - 1, (a,))

        with self.assertLogs("ember.pytorch", "WARNING") as logs:
            self.check(lambda a: function(a) * 2, torch.ones(3), compilations=2)
        self.assertIn("cond", logs.output[0])


class RefusedTest(Case):
    def refused(self, function, *inputs, **options):
        with self.assertRaises(torch._dynamo.exc.BackendCompilerFailed) as caught:
            fast(function, **options)(*inputs)
        return str(caught.exception.inner_exception)

    def test_training(self):
        model = nn.Sequential(nn.Linear(4, 2), nn.ReLU())
        with torch.enable_grad():
            message = self.refused(model, torch.randn(3, 4))
        self.assertIn("expected inference", message)
        self.assertIn("weight", message)
        self.assertIn("and 1 more", message)

    def test_options(self):
        self.assertIn("option 'tires': expected one of tier, threads", self.refused(torch.relu, torch.ones(2), tires=4))
        torch._dynamo.reset()
        with self.assertRaisesRegex(torch._dynamo.exc.BackendCompilerFailed, "found 'reduce-overhead'"):
            torch.compile(torch.relu, backend="ember", mode="reduce-overhead")(torch.ones(2))


class ProcessTest(unittest.TestCase):
    def test_the_backend_is_found_without_an_import_of_ember(self):
        code = (
            "import torch\n"
            "assert 'ember' in torch._dynamo.list_backends()\n"
            "with torch.no_grad():\n"
            "    print(torch.compile(torch.neg, backend='ember')(torch.ones(2)).tolist())\n"
        )
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual((found.returncode, found.stdout), (0, "[-1.0, -1.0]\n"), found.stderr)

    def test_ember_does_not_import_torch(self):
        code = "import sys, ember; ember.formats(); assert 'torch' not in sys.modules"
        subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    unittest.main()

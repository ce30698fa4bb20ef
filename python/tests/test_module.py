"""Loading, saving, describing and compiling modules."""

import gc
import os
import tempfile
import traceback
import unittest
import weakref
from pathlib import Path

import ember
import numpy as np
import sample_models
from ember import errors


class ModuleTest(unittest.TestCase):
    def test_has_inputs_outputs_and_metadata(self):
        module = ember.compile(sample_models.DOUBLE, metadata={"author": "Ada"})
        self.assertEqual([i.name for i in module.inputs], ["x"])
        self.assertEqual(module.inputs[0].type, "f32")
        self.assertEqual(module.inputs[0].dtype, np.float32)
        self.assertEqual(module.inputs[0].shape[1], 3)
        self.assertIsInstance(module.inputs[0].shape[0], str)
        self.assertEqual(module.metadata["author"], "Ada")
        with self.assertRaises(TypeError):
            module.metadata["author"] = "Bob"
        self.assertIn("x: ", repr(module))
        self.assertIn("<table>", module._repr_html_())

    def test_saves_and_loads(self):
        module = ember.compile(sample_models.DOUBLE)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "double.vmfb"
            module.save(path)
            self.assertEqual(os.listdir(folder), ["double.vmfb"])
            loaded = ember.load(path, verify=True)
            again = ember.load(str(path))
            from_bytes = ember.load(path.read_bytes())
            from_bytes.save(path)
            for m in (loaded, again, from_bytes):
                np.testing.assert_array_equal(m([[1, 2, 3]]), [[2, 4, 6]])

    def test_result_shapes(self):
        module = ember.compile(sample_models.DOUBLE)
        self.assertEqual(module.result_shapes((5, 3)), ((5, 3),))
        with self.assertRaisesRegex(ember.InvalidArgument, "expected 1 shapes, found 0"):
            module.result_shapes()
        with self.assertRaises(ember.InvalidArgument):
            module.result_shapes((5, 4))

    def test_errors_are_classes_by_status(self):
        with self.assertRaisesRegex(ember.NotFound, "No such file") as caught:
            ember.load("/nonexistent.vmfb")
        self.assertIsInstance(caught.exception, ember.Error)
        self.assertEqual(caught.exception.status, 2)
        with self.assertRaises(ember.DataLoss):
            ember.load(b"EMBR")

    def test_load_reports_progress_and_can_be_stopped(self):
        module = ember.compile(sample_models.DOUBLE)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "double.vmfb"
            module.save(path)
            events = []
            ember.load(path, progress=events.append)
            self.assertTrue(events and events[0].stage)
            with self.assertRaises(ember.Cancelled):
                ember.load(path, progress=lambda event: False)

    def test_is_collected(self):
        module = ember.compile(sample_models.DOUBLE)
        module([[1, 2, 3]])
        gone = weakref.ref(module)
        del module
        gc.collect()
        self.assertIsNone(gone())


class CompileTest(unittest.TestCase):
    def test_pins_shapes_and_symbols(self):
        self.assertEqual(ember.compile(sample_models.DOUBLE, inputs={"x": (8, 3)}).inputs[0].shape, (8, 3))
        self.assertEqual(ember.compile(sample_models.DOUBLE, inputs=["x=7x3"]).outputs[0].shape, (7, 3))
        symbol = ember.compile(sample_models.DOUBLE).inputs[0].shape[0]
        self.assertEqual(ember.compile(sample_models.DOUBLE, symbols={symbol: 6}).inputs[0].shape, (6, 3))
        open_dim = ember.compile(sample_models.DOUBLE, inputs={"x": (None, 3)}).inputs[0].shape[0]
        self.assertIsInstance(open_dim, str)

    def test_constants(self):
        module = ember.compile(sample_models.TWO_RESULTS, constants={"b": np.ones((2, 2), np.float32)})
        self.assertEqual([i.name for i in module.inputs], ["a"])
        plus, minus = module(np.zeros((2, 2), np.float32))
        self.assertEqual(plus[0, 0], 1)
        self.assertEqual(minus[0, 0], -1)

    def test_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "double.mlir"
            path.write_bytes(sample_models.DOUBLE)
            self.assertEqual(len(ember.compile(path).inputs), 1)
            self.assertEqual(len(ember.compile(str(path)).inputs), 1)
            with self.assertRaisesRegex(ember.InvalidArgument, "only with bytes"):
                ember.compile(path, name="a")
        with self.assertRaises(ember.NotFound):
            ember.compile("/nonexistent.onnx")
        with self.assertRaisesRegex(
            ember.InvalidArgument, "a fitted estimator or a model of PyTorch, found builtins.int"
        ):
            ember.compile(3)

    def test_a_notebook_shows_no_frames_of_the_package(self):
        try:
            ember.compile(3)
        except ember.InvalidArgument as error:
            frames = traceback.extract_tb(errors._outside(error.__traceback__))
        self.assertEqual([frame.filename for frame in frames], [__file__])

    def test_diagnostics(self):
        with self.assertRaisesRegex(ember.CompileError, "frobnicate") as caught:
            ember.compile(sample_models.WRONG, name="wrong.mlir")
        self.assertIsInstance(caught.exception, ember.Unimplemented)
        (found,) = caught.exception.diagnostics
        self.assertEqual((found.severity, found.file), ("error", "wrong.mlir"))
        self.assertIn("frobnicate", str(found))
        self.assertEqual(ember.compile(sample_models.DOUBLE).diagnostics, ())

    def test_progress_cancel_and_limits(self):
        events = []
        ember.compile(sample_models.DOUBLE, progress=events.append)
        self.assertLessEqual({"import", "compile"}, {e.stage for e in events})

        def fail(event):
            raise KeyError(event.stage)

        with self.assertRaises(KeyError):
            ember.compile(sample_models.DOUBLE, progress=fail)
        with self.assertRaises(ember.Cancelled):
            ember.compile(sample_models.DOUBLE, progress=lambda event: event.stage != "compile")
        token = ember.CancelToken()
        ember.compile(sample_models.DOUBLE, cancel=token)
        token.cancel()
        with self.assertRaisesRegex(ember.Cancelled, "by its token"):
            ember.compile(sample_models.DOUBLE, cancel=token)
        with self.assertRaisesRegex(ember.ResourceExhausted, "max_seconds"):
            ember.compile(sample_models.DOUBLE, max_seconds=1e-9)
        with self.assertRaisesRegex(ember.ResourceExhausted, r"at most 1000000 bytes more \(memory_limit\)"):
            ember.compile(sample_models.slow(8, 20000), memory_limit=1_000_000)

    def test_formats(self):
        names = {f.name: f.extensions for f in ember.formats()}
        self.assertEqual(names["onnx"], (".onnx",))
        with self.assertRaisesRegex(ember.InvalidArgument, "found 'onxx'"):
            ember.compile(sample_models.DOUBLE, format="onxx")


if __name__ == "__main__":
    unittest.main()

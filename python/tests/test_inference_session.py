"""ONNX Runtime's surface."""

import tempfile
import threading
import time
import unittest
from pathlib import Path

import ember as ort
import numpy as np
import sample_models


class InferenceSessionTest(unittest.TestCase):
    def setUp(self):
        self.options = ort.SessionOptions()
        self.options.ember_tier = "interpreter"
        self.options.intra_op_num_threads = 1

    def session(self, model=sample_models.TWO_RESULTS, **others):
        return ort.InferenceSession(model, self.options, **others)

    def test_describes_the_model(self):
        session = self.session()
        self.assertEqual(
            [(i.name, i.type, i.shape) for i in session.get_inputs()],
            [("a", "tensor(float)", [2, 2]), ("b", "tensor(float)", [2, 2])],
        )
        self.assertEqual(len(session.get_outputs()), 2)
        self.assertEqual(session.get_overridable_initializers(), [])
        self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])
        self.assertIs(session.get_session_options(), self.options)
        self.assertIsInstance(session.get_modelmeta().custom_metadata_map, dict)
        self.assertIsInstance(self.session(sample_models.DOUBLE).get_inputs()[0].shape[0], str)

    def test_runs(self):
        session = self.session()
        a, b = np.full((2, 2), 3, np.float32), np.ones((2, 2), np.float32)
        names = [o.name for o in session.get_outputs()]
        plus, minus = session.run(None, {"a": a, "b": b})
        np.testing.assert_array_equal(plus, a + b)
        (again,) = session.run([names[1]], {"b": b, "a": a})
        np.testing.assert_array_equal(again, minus)
        with self.assertRaisesRegex(ort.InvalidArgument, "input 'c'"):
            session.run(None, {"a": a, "c": b})
        with self.assertRaisesRegex(ort.InvalidArgument, "input 'b'"):
            session.run(None, {"a": a})
        value = session.run_with_ort_values(None, {"a": ort.OrtValue.ortvalue_from_numpy(a), "b": ort.OrtValue(b)})[0]
        self.assertEqual((value.shape(), value.data_type()), ([2, 2], "tensor(float)"))

    def test_models_and_modules_as_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "two.mlir"
            path.write_bytes(sample_models.TWO_RESULTS)
            self.options.optimized_model_filepath = str(Path(folder) / "two.vmfb")
            self.session(str(path))
            self.options.optimized_model_filepath = ""
            compiled = self.session(self.options.optimized_model_filepath or str(Path(folder) / "two.vmfb"))
            self.assertEqual(len(compiled.get_outputs()), 2)
            data = (Path(folder) / "two.vmfb").read_bytes()
            self.assertEqual(len(self.session(data).get_outputs()), 2)
            self.options.add_free_dimension_override_by_name("N", 3)
            with self.assertRaisesRegex(ort.InvalidArgument, "expected no shapes"):
                self.session(data)
        with self.assertRaises(ort.NotFound):
            self.session("/nonexistent.onnx")

    def test_free_dimensions(self):
        name = self.session(sample_models.DOUBLE).get_inputs()[0].shape[0]
        self.options.add_free_dimension_override_by_name(name, 4)
        self.assertEqual(self.session(sample_models.DOUBLE).get_inputs()[0].shape, [4, 3])

    def test_io_binding(self):
        session = self.session()
        a, b = np.full((2, 2), 3, np.float32), np.ones((2, 2), np.float32)
        plus, minus = (o.name for o in session.get_outputs())
        out = np.empty((2, 2), np.float32)
        binding = session.io_binding()
        binding.bind_cpu_input("a", a)
        binding.bind_input("b", "cpu", 0, np.float32, (2, 2), b.ctypes.data)
        binding.bind_output(minus, "cpu", 0, np.float32, (2, 2), out.ctypes.data)
        binding.bind_output(plus)
        with self.assertRaises(ort.FailedPrecondition):
            binding.get_outputs()
        session.run_with_iobinding(binding)
        np.testing.assert_array_equal(out, a - b)
        first, second = binding.copy_outputs_to_cpu()
        np.testing.assert_array_equal(first, a - b)
        np.testing.assert_array_equal(second, a + b)
        a[:] = 7
        binding.synchronize_inputs()
        session.run_with_iobinding(binding)
        np.testing.assert_array_equal(out, a - b)
        with self.assertRaisesRegex(ort.InvalidArgument, "binding 'z': expected one of a, b"):
            binding.bind_cpu_input("z", a)
        with self.assertRaisesRegex(ort.Unimplemented, "device 'cuda' 0"):
            binding.bind_output(plus, "cuda")
        binding.clear_binding_inputs()
        with self.assertRaises(ort.InvalidArgument):
            session.run_with_iobinding(binding)

    def test_what_has_no_meaning_is_refused_by_name(self):
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        options.inter_op_num_threads = 1
        for name, value in (
            ("graph_optimization_level", ort.GraphOptimizationLevel.ORT_DISABLE_ALL),
            ("execution_mode", ort.ExecutionMode.ORT_PARALLEL),
            ("inter_op_num_threads", 4),
            ("enable_cpu_mem_arena", False),
            ("no_such_option", 1),
        ):
            with self.assertRaisesRegex(ort.Unimplemented, f"SessionOptions.{name}"):
                setattr(options, name, value)
        with self.assertRaisesRegex(ort.Unimplemented, "SessionOptions.add_session_config_entry"):
            options.add_session_config_entry("a", "b")
        with self.assertRaisesRegex(ort.Unimplemented, "InferenceSession.set_providers"):
            self.session().set_providers([])
        with self.assertRaisesRegex(ort.Unimplemented, "'enable_fallback'"):
            self.session(enable_fallback=1)

    def test_providers(self):
        self.assertIn("CPUExecutionProvider", ort.get_available_providers())
        self.assertEqual(
            self.session(providers=["EmberExecutionProvider", ("CPUExecutionProvider", {})]).get_providers(),
            ["EmberExecutionProvider", "CPUExecutionProvider"],
        )
        with self.assertRaisesRegex(ort.Unimplemented, "provider 'OpenVINOExecutionProvider': expected one of"):
            self.session(providers=["OpenVINOExecutionProvider"])
        with self.assertRaisesRegex(ort.Unimplemented, "expected no option 'arena'"):
            self.session(providers=[("CPUExecutionProvider", {"arena": 1})])
        if "CUDAExecutionProvider" not in ort.get_available_providers():
            self.assertEqual(
                self.session(providers=["CUDAExecutionProvider", "CPUExecutionProvider"]).get_providers(),
                ["CPUExecutionProvider"],
            )
            with self.assertRaisesRegex(ort.InvalidArgument, "found CUDAExecutionProvider"):
                self.session(providers=["CUDAExecutionProvider"])

    def test_profiling(self):
        self.options.enable_profiling = True
        session = self.session()
        session.run(None, {"a": np.zeros((2, 2), np.float32), "b": np.zeros((2, 2), np.float32)})
        self.assertIn("dispatches", session.end_profiling())

    def test_run_options_terminate(self):
        session = self.session(sample_models.slow())
        options = ort.RunOptions()
        timer = threading.Timer(0.2, lambda: setattr(options, "terminate", True))
        timer.start()
        start = time.monotonic()
        with self.assertRaises(ort.Cancelled):
            session.run(None, {"x": np.zeros((1200, 1200), np.float32)}, options)
        self.assertLess(time.monotonic() - start, 10)
        timer.join()
        with self.assertRaises(ort.Cancelled):
            session.run(None, {"x": np.zeros((1200, 1200), np.float32)}, options)


if __name__ == "__main__":
    unittest.main()

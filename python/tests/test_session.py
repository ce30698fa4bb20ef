"""Running modules: inputs, results, layouts, types, options."""

import os
import tempfile
import types
import unittest
from unittest import mock

import ember
import numpy as np
import sample_models
from ember import element_types
from ember.arrays import as_input
from ember.element_types import BY_NAME

NUMPY_TYPES = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "ui8": np.uint8,
    "ui16": np.uint16,
    "ui32": np.uint32,
    "ui64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i1": np.bool_,
}


def quick(model, **options):
    return ember.Session(ember.compile(model), tier="interpreter", threads=1, **options)


class InputsTest(unittest.TestCase):
    def test_results_in_memory_that_another_result_had(self):
        session = quick(sample_models.TWO_RESULTS)
        a, b = np.full((2, 2), 3, np.float32), np.ones((2, 2), np.float32)
        first, second = np.empty_like(a), np.empty_like(a)
        for out in ((first, second), (second, first), (first, second)):
            session(a, b, out=out)
            np.testing.assert_array_equal(out[0], a + b)
            np.testing.assert_array_equal(out[1], a - b)

    def test_in_order_and_by_name(self):
        session = quick(sample_models.TWO_RESULTS)
        a, b = np.full((2, 2), 3, np.float32), np.ones((2, 2), np.float32)
        for results in (
            session(a, b),
            session(a, b=b),
            session(b=b, a=a),
            session.run([a, b]),
            session.run({"a": a, "b": b}),
        ):
            np.testing.assert_array_equal(results[0], a + b)
            np.testing.assert_array_equal(results[1], a - b)
        (minus,) = session.run([a, b], [session.module.outputs[1].name])
        np.testing.assert_array_equal(minus, a - b)
        for call, text in (
            (lambda: session(a), "input 'b': expected a value, found none"),
            (lambda: session(a, b, b), "inputs: expected 2, found 3"),
            (lambda: session(a, c=b), "input 'c': expected one of a, b"),
            (lambda: session(a, a=b), "input 'a': expected one value, found two"),
            (lambda: session.run([a, b], ["z"]), "result 'z'"),
        ):
            with self.assertRaisesRegex(ember.InvalidArgument, text):
                call()

    def test_every_numpy_type(self):
        for name, dtype in NUMPY_TYPES.items():
            with self.subTest(name):
                x = np.arange(6).reshape(2, 3).astype(dtype)
                y = quick(sample_models.identity(name))(x)
                self.assertEqual(y.dtype, dtype)
                np.testing.assert_array_equal(y, x)

    def test_scalars_lists_and_empty_arrays(self):
        self.assertEqual(quick(sample_models.identity("f32", ""))(2.5), np.float32(2.5))
        session = quick(sample_models.DOUBLE)
        np.testing.assert_array_equal(session([[1, 2, 3], [4, 5, 6]]), [[2, 4, 6], [8, 10, 12]])
        self.assertEqual(session(np.zeros((0, 3), np.float32)).shape, (0, 3))

    def test_wrong_types_and_shapes_are_refused(self):
        session = quick(sample_models.DOUBLE)
        with self.assertRaisesRegex(
            ember.InvalidArgument, r"input 'x': expected f32 \(float32\), found f64; convert it"
        ):
            session(np.zeros((1, 3)))
        with self.assertRaisesRegex(ember.InvalidArgument, r"input 'x': expected \[x_0, 3\] f32, found 1x4xf32"):
            session(np.zeros((1, 4), np.float32))
        with self.assertRaisesRegex(ember.InvalidArgument, "input 'x'"):
            session(np.zeros((1, 1, 1, 3), np.float32))
        np.testing.assert_array_equal(session([[1, 2, 3]]), [[2, 4, 6]])

    def test_layouts(self):
        session = quick(sample_models.DOUBLE)
        base = np.arange(24, dtype=np.float32).reshape(4, 6)
        for x in (base[:, ::2], base[::-1, :3], np.asfortranarray(base[:, :3]), base[1:, :3].astype(">f4")):
            np.testing.assert_array_equal(session(x), x + x)
        read_only = np.ones((1, 3), np.float32)
        read_only.flags.writeable = False
        np.testing.assert_array_equal(session(read_only), [[2, 2, 2]])

    def test_arrays_are_not_copied(self):
        x = np.ones((2, 3), np.float32)
        self.assertIs(as_input("x", BY_NAME["f32"], x), x)
        x16 = np.ones(3, np.uint16)
        self.assertIs(as_input("x", BY_NAME["bf16"], x16), x16)
        session = quick(sample_models.DOUBLE)
        out = np.empty((2, 3), np.float32)
        self.assertIs(session(x, out=out), out)
        np.testing.assert_array_equal(out, x + x)
        # Each run returns its result in new memory, so the second run does not overwrite the first
        # result.
        first, second = session(x), session(2 * x)
        np.testing.assert_array_equal(first, x + x)
        np.testing.assert_array_equal(second, 4 * x)

    def test_results_in_the_caller_s_arrays(self):
        session = quick(sample_models.TWO_RESULTS)
        a = np.ones((2, 2), np.float32)
        out = np.empty((2, 2), np.float32)
        plus, minus = session(a, a, out=[None, out])
        self.assertIs(minus, out)
        np.testing.assert_array_equal(plus, a + a)
        read_only = np.empty((2, 2), np.float32)
        read_only.flags.writeable = False
        for wrong, text in (
            ([None], "out: expected 2 arrays, found 1"),
            ([None, np.empty((2, 3), np.float32)], r"expected shape \(2, 2\), found \(2, 3\)"),
            ([None, np.empty((2, 2))], "expected f32"),
            ([None, read_only], "writable"),
            ([None, np.empty((4, 4), np.float32)[::2, ::2]], "without gaps"),
            ([None, [1]], "expected a NumPy array to write to, found list"),
        ):
            with self.assertRaisesRegex(ember.InvalidArgument, text):
                session(a, a, out=wrong)

    def test_bindings(self):
        session = quick(sample_models.DOUBLE)
        x, y = np.zeros((2, 3), np.float32), np.empty((2, 3), np.float32)
        run = session.bind([x], [y])
        for value in (1, 5):
            x[:] = value
            run()
            self.assertTrue((y == 2 * value).all())
        np.testing.assert_array_equal(session([[1, 2, 3]]), [[2, 4, 6]])
        run()
        for inputs, outputs in (
            ([], [y]),
            ([x], []),
            ([x.astype(np.float64)], [y]),
            ([x], [y[:1]]),
            ([x.tolist()], [y]),
        ):
            with self.assertRaises(ember.InvalidArgument):
                session.bind(inputs, outputs)


class NarrowTypesTest(unittest.TestCase):
    def test_bf16(self):
        session = quick(sample_models.negate("bf16", 2))
        bits = (np.array([1.5, -2.0], np.float32).view(np.uint32) >> 16).astype(np.uint16)
        result = session(bits)
        np.testing.assert_array_equal(result.view(np.uint16), bits ^ 0x8000)
        info = session.module.inputs[0]
        self.assertEqual(info.type, "bf16")
        try:
            import ml_dtypes
        except ImportError:
            self.assertEqual(result.dtype, np.uint16)
            return
        self.assertEqual(result.dtype, ml_dtypes.bfloat16)
        np.testing.assert_array_equal(session(np.array([1.5, -2.0], ml_dtypes.bfloat16)), result)

    def test_a_dtype_for_bf16(self):
        # Debian has no ml_dtypes, so a NumPy dtype of two bytes takes the place of its bfloat16.
        # Arrays of this dtype must be accepted as inputs and results, with the bits of bf16.
        stand_in = types.SimpleNamespace(bfloat16="V2")
        with mock.patch.dict(element_types._EXTENDED), mock.patch.dict(element_types._BY_DTYPE):
            element_types._use_ml_dtypes(stand_in)
            session = quick(sample_models.negate("bf16", 2))
            x, y = np.array([0x3FC0, 0x4000], np.uint16).view("V2"), np.empty(2, "V2")
            self.assertEqual(session.module.inputs[0].dtype, np.dtype("V2"))
            self.assertIs(session(x, out=y), y)
            np.testing.assert_array_equal(y.view(np.uint16), [0xBFC0, 0xC000])
            self.assertEqual(session(x.view(np.uint16)).dtype, np.dtype("V2"))
            y.view(np.uint16)[:] = 0
            session.bind([x], [y])()
            np.testing.assert_array_equal(y.view(np.uint16), [0xBFC0, 0xC000])
            with self.assertRaisesRegex(ember.InvalidArgument, "found bf16"):
                quick(sample_models.identity("i16"))(x)

    def test_f16(self):
        x = np.array([1.5, -2.0], np.float16)
        np.testing.assert_array_equal(quick(sample_models.negate("f16", 2))(x), -x)

    def test_dlpack(self):
        class Tensor:
            """An object that only DLPack describes."""

            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__()

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        x = np.array([[1, 2, 3]], np.float32)
        result = quick(sample_models.DOUBLE)(Tensor(x))
        np.testing.assert_array_equal(result, [[2, 4, 6]])
        np.testing.assert_array_equal(np.from_dlpack(result), result)
        strided = np.arange(12, dtype=np.float32).reshape(2, 6)[:, ::2]
        np.testing.assert_array_equal(quick(sample_models.DOUBLE)(Tensor(strided)), 2 * strided)
        bits = np.array([0x3FC0, 0x4000], np.uint16)
        negative = quick(sample_models.negate("bf16", 2))(ember.Bfloat16(bits))
        np.testing.assert_array_equal(negative.view(np.uint16), bits | 0x8000)
        again = ember.dlpack.as_array(ember.Bfloat16(negative))
        self.assertEqual(again.ctypes.data, negative.ctypes.data)
        ember.Bfloat16(bits).__dlpack__()  # A capsule that no consumer takes releases its tensor.
        del again
        self.assertEqual(ember.dlpack._given, {})

        class OnDevice(Tensor):
            def __dlpack_device__(self):
                return (2, 0)

        with self.assertRaisesRegex(ember.Unimplemented, r"found device \(2, 0\)"):
            quick(sample_models.DOUBLE)(OnDevice(x))


class OptionsTest(unittest.TestCase):
    def test_info_and_limits(self):
        session = quick(sample_models.DOUBLE)
        self.assertEqual((session.info.device, session.info.tier), ("cpu", "interpreter"))
        session([[1, 2, 3]])
        self.assertEqual(session.progress()[0], session.progress()[1])
        limited = quick(sample_models.DOUBLE, work_limit=1)
        with self.assertRaisesRegex(ember.ResourceExhausted, "--max-work"):
            limited([[1, 2, 3]])
        session.set_max_seconds(1e-9)
        with self.assertRaises(ember.ResourceExhausted):
            session([[1, 2, 3]])
        session.set_max_seconds(0)
        session([[1, 2, 3]])
        for options, text in (
            ({"tier": "fast"}, "tier: expected interpreter, baseline, optimized, auto, found 'fast'"),
            ({"compile_in": "x"}, "compile_in"),
            ({"native_key": b"1"}, "native_key: expected 32 bytes, found 1"),
            ({"device": "abacus"}, "abacus"),
        ):
            with self.assertRaisesRegex(ember.Error, text):
                ember.Session(ember.compile(sample_models.DOUBLE), **options)

    def test_profile(self):
        session = quick(sample_models.DOUBLE, profile=True)
        for _ in range(3):
            session([[1, 2, 3]])
        profile = session.profile()
        self.assertEqual(len(profile), 1)
        self.assertEqual(profile[0].calls, 3)
        self.assertIn(profile[0].dispatch, str(profile))
        self.assertIn("1 dispatches", str(profile))
        page = profile._repr_html_()
        self.assertIn(profile[0].dispatch, page)
        self.assertIn("linear-gradient", page)
        self.assertIn("text-align:right", page)
        session.profile_reset()
        self.assertEqual(sum(row.calls for row in session.profile()), 0)
        self.assertIn("profile=True", str(quick(sample_models.DOUBLE).profile()))

    def test_trace(self):
        session = quick(sample_models.DOUBLE, trace=True)
        session([[1, 2, 3]])
        session([[1, 2, 3]])
        events = session.trace()
        self.assertEqual(len(events), 2)
        self.assertLessEqual(events[0].end_ns, events[1].begin_ns)
        self.assertEqual(events[0].dispatch, session.profile()[0].dispatch)
        session.profile_reset()
        self.assertEqual(session.trace(), [])

    def test_memory_of_modules_outlives_sessions(self):
        for _ in range(20):
            # The module's bytes are in the compilation's memory. Only the session refers to the
            # compilation here, and must keep it alive.
            session = ember.Session(
                ember.compile(sample_models.TWO_RESULTS, constants={"b": np.ones((2, 2), np.float32)}),
                logger=lambda level, line: None,
            )
            session(np.zeros((2, 2), np.float32))
            del session

    def test_logger_and_session_progress(self):
        lines = []
        ember.Session(ember.compile(sample_models.DOUBLE), logger=lambda level, line: lines.append((level, line)))
        self.assertTrue(all(level in ("info", "warning", "error") for level, _ in lines))

    @unittest.skipUnless("EMBER_TEST_MODULES" in os.environ, "EMBER_TEST_MODULES names no folder of modules")
    def test_modules_of_earlier_versions(self):
        folder = os.environ["EMBER_TEST_MODULES"]
        module = ember.load(os.path.join(folder, "metadata.vmfb"))
        self.assertEqual(module.metadata["labels"], "cat\ndog")
        loop = ember.load(os.path.join(folder, "loop.vmfb"))
        inputs = [np.full([d if isinstance(d, int) else 3 for d in i.shape], 2, i.dtype) for i in loop.inputs]
        results = loop.session(tier="interpreter").run(inputs)
        self.assertEqual([r.dtype for r in results], [o.dtype for o in loop.outputs])

    def test_kernel_cache_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            session = ember.Session(ember.compile(sample_models.DOUBLE), kernel_cache=folder)
            np.testing.assert_array_equal(session([[1, 2, 3]]), [[2, 4, 6]])


if __name__ == "__main__":
    unittest.main()

"""ember.te: index notation, expressions, schedules, kernels."""

import html
import os
import random
import signal
import threading
import unittest
from pathlib import Path

import ember
import numpy as np
from ember import te
from ember.te import stage_primitives

PAGE = Path(__file__).resolve().parent.parent / "TE.md"


def rows(heading):
    """Yields the cells of the table of the page whose last column has this heading."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.endswith(f"| {heading} |"))
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return
        inputs, expression, last = line.strip("| ").split(" | ")
        yield eval(f"dict({inputs.strip('`')})"), expression.strip("`"), last.strip("`")  # noqa: S307


def random_inputs(dispatch):
    return {b.name: a for b, a in zip(dispatch.inputs, dispatch.random_inputs(seed=3))}


class NotationTest(unittest.TestCase):
    def test_gives_numpys_results(self):
        found = list(rows("NumPy"))
        self.assertEqual(len(found), 10)
        for inputs, expression, numpy in found:
            with self.subTest(expression):
                dispatch = te.parse(expression, **inputs)
                arrays = random_inputs(dispatch)
                wanted = eval(numpy, {"np": np, **arrays})  # noqa: S307
                evaluated = dispatch.evaluate(*arrays.values())
                np.testing.assert_allclose(evaluated, wanted, rtol=2e-6, atol=2e-6)
                for target in (None, "host"):
                    kernel = te.schedule(dispatch, target).compile()
                    np.testing.assert_allclose(kernel(*arrays.values()), wanted, rtol=2e-6, atol=2e-6)

    def test_says_what_is_wrong(self):
        found = list(rows("message"))
        self.assertEqual(len(found), 10)
        for inputs, expression, message in found:
            with self.subTest(expression), self.assertRaises(ember.InvalidArgument) as raised:
                te.parse(expression, **inputs)
            self.assertEqual(str(raised.exception), message)

    def test_survives_damaged_texts(self):
        """Seed 7; each text gives a dispatch or an error."""
        generator = random.Random(7)
        texts = list(rows("NumPy"))
        pieces = ["[", "]", "(", ")", "sum(k)", "i", "x", "<", "=", "+=", "9" * 19, "-1", "%", "\0", "é", "\n", '"']
        parsed = 0
        for _ in range(1500):
            inputs, expression, _ = generator.choice(texts)
            damaged = list(expression)
            for _ in range(generator.randint(1, 2)):
                at = generator.randrange(len(damaged))
                damaged[at : at + generator.randint(0, 3)] = generator.choice(pieces)
            try:
                te.parse("".join(damaged), **inputs)
                parsed += 1
            except ember.InvalidArgument:
                pass
        self.assertGreater(parsed, 10)

    def test_refuses_wrong_inputs(self):
        for inputs in ({"x": 3}, {"x": (1.5,)}, {"x": ((4,), "f33")}, {"x": (-1,)}, {"x": ("a b",)}):
            with self.subTest(inputs), self.assertRaises(ember.InvalidArgument):
                te.parse("y[i] = x[i]", **inputs)
        with self.assertRaises(ember.InvalidArgument):
            te.parse(b"y[] = 1")

    def test_parses_the_text_of_a_dispatch(self):
        dispatch = te.parse("y[i] = 2 * x[i]", x=("N",))
        self.assertEqual(str(te.parse(str(dispatch))), str(dispatch))
        with self.assertRaisesRegex(ember.InvalidArgument, "^2:3: expected"):
            te.parse("dispatch @y() -> (%y: f32[1]) {\n  ? }")


class ExpressionsTest(unittest.TestCase):
    def test_operators(self):
        x, n = te.tensor("x", (6,)), te.tensor("n", (6,), np.int32)
        i, k, other = te.axes("i k other")
        element, number = x[i], n[i]
        cases = {
            "1 + x": (1 + element, lambda x, n: 1 + x),
            "parentheses": ((element - 1) * (2 - element) / (element + 3), lambda x, n: (x - 1) * (2 - x) / (x + 3)),
            "left to right": (element - (element - 1) - 1, lambda x, n: x - (x - 1) - 1),
            "division": (number // 2 + number % 2 - (-number), lambda x, n: n // 2 + n % 2 + n),
            "compare": (te.where(element > 0, element, -1.0), lambda x, n: np.where(x > 0, x, -1)),
            "and": (te.where((element >= 0) & (number != 2), 1.0, 0.0), lambda x, n: ((x >= 0) & (n != 2)) * 1.0),
            "gather": (x[number], lambda x, n: x[n]),
            "cast": (element.cast("f64") * number.cast("f64"), lambda x, n: x.astype("f8") * n),
            "abs": (abs(element) + te.maximum(element, 0.25), lambda x, n: abs(x) + np.maximum(x, 0.25)),
            "a sum in the middle": (te.sum(k, x[k]) * element - 1, lambda x, n: x.sum() * x - 1),
            "a sum in a maximum": (
                te.max(other, te.sum(k, x[k]) * x[other]) + 0 * element,
                lambda x, n: (x.sum() * x).max() + 0 * x,
            ),
            "power": (te.call("pow", abs(element), 2.0), lambda x, n: abs(x) ** 2),
            "axis": (i.cast("f32") + element, lambda x, n: np.arange(6) + x),
        }
        for name, (expression, numpy) in cases.items():
            with self.subTest(name):
                dispatch = te.dispatch(te.compute("y", (i,), expression))
                arrays = dispatch.random_inputs()
                named = {b.name: a for b, a in zip(dispatch.inputs, arrays)}
                wanted = numpy(named.get("x"), named.get("n"))
                np.testing.assert_allclose(dispatch.evaluate(*arrays), wanted, rtol=1e-5, atol=1e-6)

    def test_a_chain_of_tensors(self):
        x = te.tensor("x", ("N", 8))
        mean = te.compute("mean", lambda i: te.sum(te.axis("k"), x[i, te.axis("k")]) / 8)
        y = te.compute("y", lambda i, j: x[i, j] - mean[i])
        dispatch = te.dispatch(y, mean, name="centre")
        self.assertEqual([b.name for b in dispatch.outputs], ["mean", "y"])
        array = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)
        found_mean, found = dispatch.evaluate(array)
        np.testing.assert_allclose(found, array - array.mean(1, keepdims=True), atol=1e-6)
        self.assertEqual(found_mean.shape, (3,))

    def test_refusals(self):
        x = te.tensor("x", (4,))
        i = te.axis("i")
        for make in (
            lambda: bool(x[i] < 0),
            lambda: te.pad(x[i] + 1),
            lambda: te.sum("i", x[i]),
            lambda: te.compute("y", (i,), x),
            lambda: te.compute("y", (3,), x[i]),
            lambda: te.dispatch(x),
            lambda: te.dispatch(te.compute("y", (i,), x[i]), te.compute("y", (i,), x[i] + 1)),
            lambda: te.tensor("x", (4,), "f33"),
            lambda: te.schedule(3),
        ):
            with self.assertRaises((ember.InvalidArgument, TypeError)):
                make()


PRODUCT = "y[i, j] = sum(k) a[i, k] * b[k, j]"


class ScheduleTest(unittest.TestCase):
    def schedule(self, m=12, n=32, k=20):
        return te.schedule(te.parse(PRODUCT, a=(m, k), b=(k, n)))

    def test_every_primitive_is_a_method(self):
        self.assertGreater(len(te.primitives()), 20)
        for primitive in te.primitives():
            method = getattr(te.Stage, primitive.name)
            self.assertIn(primitive.usage, method.__doc__)
            for operand in primitive.operands:
                self.assertIn(operand.kind, stage_primitives.TYPES)

    def test_the_stub_has_every_primitive(self):
        """If this fails, write the stub again: see the docstring of stage_primitives."""
        path = Path(ember.__file__).parent / "te/stage_primitives.pyi"
        self.assertEqual(path.read_text(encoding="utf-8"), stage_primitives.stub())

    def test_primitives_of_loops(self):
        s = self.schedule()
        y = s["y"]
        io, jo, ii, ji = y.tile("i", "j", 4, 16)
        self.assertEqual([loop.name for loop in (io, jo, ii, ji)], ["io", "jo", "ii", "ji"])
        ko, ki = y.split("k", 5)
        y.reorder(io, jo, ko, ki, ii, ji)
        fused = y.fuse(io, jo)
        self.assertEqual(fused.name, "io_jo")
        y.parallel(fused)
        y.unroll(ii)
        y.vectorize(ji)
        self.assertEqual([loop.mark for loop in y.loops], ["parallel", "serial", "serial", "unrolled", "vector"])
        self.assertEqual([loop.is_reduction for loop in y.loops], [False, True, True, False, False])
        self.assertEqual(y[ko].extent, 4)
        self.assertLess(s.check(), 1e-6)
        self.assertEqual(len(s.steps), 7)
        again = self.schedule()
        again.replay(str(s))
        self.assertEqual(str(again), str(s))

    def test_primitives_of_stages(self):
        s = self.schedule()
        parts = s["y"].rfactor(s["y"]["k"] % 4)
        self.assertEqual(parts.name, "y_parts")
        copy = parts.pack("b", te.dim(1) // 16, 0, te.dim(1) % 16)
        self.assertEqual(copy.name, "b_copy")
        self.assertLess(s.check(), 1e-6)
        s = self.schedule()
        acc = s["y"].cache_write(computing="acc")
        io, ii = s["y"].split("i", 4)
        acc.compute_at(io)
        self.assertEqual(s["acc"].attached.name, "io")
        self.assertEqual([loop.name for loop in io.stage.loops], ["io", "ii", "j"])
        self.assertLess(s.check(), 1e-6)

    def test_inline(self):
        x = te.tensor("x", (8, 8))
        doubled = te.compute("doubled", lambda i, j: 2 * x[i, j])
        s = te.schedule(te.compute("y", lambda i, j: doubled[j, i] + 1))
        s[doubled].inline()
        self.assertEqual([stage.name for stage in s.stages], ["y"])
        self.assertEqual(s.check(), 0.0)

    def test_refusals(self):
        s = self.schedule()
        y = s["y"]
        before = str(s)
        with self.assertRaisesRegex(ember.FailedPrecondition, "loop 'k' inside vector loop 'j'"):
            y.vectorize("j")
        with self.assertRaises(ember.InvalidArgument):
            y.split("q", 4)
        with self.assertRaises(ember.InvalidArgument):
            y.split("i", 0)
        with self.assertRaises(ember.InvalidArgument):
            y.split("i", 4, outer="j")
        with self.assertRaises(ember.InvalidArgument):
            s.apply("paint %y")
        with self.assertRaises(ember.InvalidArgument):
            y.compute_at("i")
        with self.assertRaises(ember.NotFound):
            s["z"]
        with self.assertRaises(ember.NotFound):
            y["z"]
        with self.assertRaises(TypeError):
            y.split("i")
        self.assertEqual(str(s), before)
        acc = y.cache_write()
        with self.assertRaisesRegex(ember.InvalidArgument, "expected a loop of %y"):
            y.unroll(acc["i"])

    def test_a_refused_step_is_drawn(self):
        s = self.schedule()
        y = s["y"]
        jo, ji = y.split("j", 16)
        y.reorder("i", jo, "k", ji)
        y.vectorize(ji)
        self.assertNotIn("refused", s._repr_html_())
        with self.assertRaises(ember.FailedPrecondition) as raised:
            y.parallel(ji)
        lines = raised.exception.drawing.splitlines()
        pointed = [line for line in lines if "<-- parallel" in line]
        self.assertEqual([line.split("<--")[0].strip() for line in pointed], ["vector ji < 16"])
        self.assertIn(str(raised.exception), f"parallel %y ji: {s._refusal.reason}")
        page = s._repr_html_()
        self.assertIn("&larr; parallel", page)
        self.assertIn(f"</span> was refused: {html.escape(s._refusal.reason)}.", page)
        y.parallel("i")
        self.assertNotIn("refused", s._repr_html_())

    def test_attached_stages_are_drawn_in_their_loops(self):
        s = self.schedule()
        copy = s["y"].cache_read("b", copy="copied")
        copy.compute_at(s["y"]["i"])
        text = te.drawings.text(s)
        self.assertLess(text.index("for i < 12"), text.index("%copied"))
        self.assertLess(text.index("%copied"), text.index("for j < 32"))

    def test_copies_are_independent(self):
        s = self.schedule()
        copy = s.copy()
        copy["y"].split("i", 4)
        self.assertEqual((len(s.steps), len(copy.steps)), (0, 1))
        self.assertIn("for", s.nest())

    def test_lines_of_strangers(self):
        """Seed 11; a wrong line is an error, and never more."""
        generator = random.Random(11)
        words = ["%y", "%a", "%b", "i", "j", "k", "0", "1", "4", "9" * 20, "->", "x", "", "f32", "1/4", "%"]
        right = {"stage": "%y", "buffer": "%b", "number": "4", "loop": "i", "layout": "1/4", "digit": "k%4"}
        applied = 0
        for _ in range(600):
            s = self.schedule(4, 8, 4)
            primitive = generator.choice(te.primitives())
            line = [primitive.name, *(right.get(o.kind, "") for o in primitive.operands)]
            line += ["->"] * bool(primitive.results) + ["n" + r.name for r in primitive.results]
            for _ in range(generator.randint(0, 2)):
                line[generator.randrange(len(line))] = generator.choice(words)
            line = " ".join(line)
            try:
                s.apply(line)
                applied += 1
                s.nest()
            except ember.Error:
                pass
        self.assertGreater(applied, 50)


class KernelTest(unittest.TestCase):
    def test_arrays_are_not_copied(self):
        dispatch = te.parse("y[i] = 2 * x[i]", x=("N",))
        kernel = te.schedule(dispatch).compile()
        x, y = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
        found = kernel(x, out=y)
        self.assertIs(found, y)
        np.testing.assert_array_equal(y, 2 * x)
        with self.assertRaisesRegex(ember.InvalidArgument, "memory of its own"):
            kernel(x, out=x)
        with self.assertRaises(ember.InvalidArgument):
            kernel(x, out=np.zeros(4, np.float32))
        with self.assertRaises(ember.InvalidArgument):
            kernel(x.astype(np.float64))
        with self.assertRaises(ember.InvalidArgument):
            kernel()

    def test_shapes_of_calls(self):
        kernel = te.schedule(te.parse(PRODUCT, a=("M", "K"), b=("K", 17))).compile(threads=2)
        for m, k in ((1, 1), (5, 9), (0, 3), (3, 0)):
            a, b = np.ones((m, k), np.float32), np.ones((k, 17), np.float32)
            np.testing.assert_array_equal(kernel(a, b), a @ b)
        with self.assertRaisesRegex(ember.InvalidArgument, r"input b: expected \[3, 17\], found \[4, 17\]"):
            kernel(np.ones((2, 3), np.float32), np.ones((4, 17), np.float32))

    def test_an_index_that_is_data_is_checked(self):
        kernel = te.schedule(te.parse("y[i] = t[n[i]]", t=(4,), n=((2,), "i64"))).compile()
        self.assertEqual(kernel(np.arange(4, dtype=np.float32), np.array([3, 0])).tolist(), [3, 0])
        with self.assertRaises(ember.InvalidArgument):
            kernel(np.arange(4, dtype=np.float32), np.array([4, 0]))

    def test_code_for_other_targets(self):
        s = te.schedule(te.parse("y[i] = 2 * x[i]", x=(64,)))
        c = s.compile("c11")
        self.assertIn("#include", c.assembly)
        with self.assertRaises(ember.FailedPrecondition):
            c(np.zeros(64, np.float32))
        self.assertEqual(list(s.compile().code), [".ll", ".s"])
        device = te.schedule(s.dispatch, "sm_80+subgroup32+shared166912")
        self.assertIn(".entry", device.compile("sm_80+subgroup32+shared166912").code[".ptx"])
        vulkan = te.schedule(s.dispatch, "vulkan1.3+subgroup32+shared49152")
        self.assertIn("OpEntryPoint", vulkan.compile("vulkan1.3+subgroup32+shared49152").assembly)
        with self.assertRaises(ember.Unimplemented):
            s.compile("x86-64-v4")
        with self.assertRaises(ember.InvalidArgument):
            s.compile("pdp11")

    def test_time(self):
        s = te.schedule(te.parse("y[i] = 2 * x[i]", x=(64,)))
        plain = s.compile()
        lo, li = s["y"].split("i", 16)
        s["y"].vectorize(li)
        times = plain.time(against=[s.compile()], seconds=0.01)
        self.assertEqual(len(times), 2)
        self.assertTrue(all(t > 0 for t in times))
        self.assertGreater(te.peak(seconds=0.01), 0)
        median, least = te.time([plain], np.zeros(64, np.float32), seconds=0.01)
        self.assertLessEqual(least[0], median[0])

    def test_ctrl_c_stops_the_evaluator_and_measurements(self):
        s = te.schedule(te.parse(PRODUCT, a=(2048, 2048), b=(2048, 2048)))
        zeros = [np.zeros((2048, 2048), np.float32)] * 2
        small = te.schedule(te.parse("y[i] = 2 * x[i]", x=(64,))).compile()
        for run in (lambda: s.dispatch.evaluate(*zeros), lambda: small.time(seconds=600.0)):
            timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                run()
            timer.join()
        self.assertEqual(small(np.ones(64, np.float32))[0], 2)

    def test_check_finds_a_difference(self):
        s = te.schedule(te.parse("y[i] = 2 * x[i]", x=(8,)))
        s.dispatch = te.parse("y[i] = 3 * x[i]", x=(8,))
        s.compile = te.schedule(te.parse("y[i] = 2 * x[i]", x=(8,))).compile
        with self.assertRaisesRegex(ember.Error, "result y: expected at most"):
            s.check()


if __name__ == "__main__":
    unittest.main()

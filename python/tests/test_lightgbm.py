"""LightGBM's text models predict what a small evaluator predicts. LightGBM itself is not in Debian."""

import tempfile
import unittest
from pathlib import Path

import ember
import lightgbm_evaluator
import numpy as np


class LightgbmTest(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(3)
        self.rows = self.random.normal(size=(200, 5)).astype(np.float32)
        self.rows[:, 4] = self.random.integers(0, 40, 200)
        self.rows[::5, 1] = self.rows[::7, 4] = np.nan

    def test_models(self):
        for objective, classes, average in (
            ("regression", 1, False),
            ("regression", 1, True),
            ("regression sqrt", 1, False),
            ("poisson", 1, False),
            ("lambdarank", 1, False),
            ("binary sigmoid:0.7", 1, False),
            ("multiclass num_class:3", 3, False),
            ("multiclassova num_class:3 sigmoid:1", 3, False),
        ):
            data = lightgbm_evaluator.random_model(self.random, objective=objective, classes=classes, average=average)
            wanted = lightgbm_evaluator.predict(data, self.rows)
            with self.subTest(objective), tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "model.txt")
                path.write_bytes(data)
                found = ember.compile(path)(self.rows)
                self.assertEqual(found.shape, wanted.shape)
                np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
                wide = ember.compile(data, dtype="float64")(self.rows.astype(np.float64))
                np.testing.assert_allclose(wide, wanted, rtol=1e-12, atol=1e-13)

    def test_thresholds_are_compared_as_in_f64(self):
        data = lightgbm_evaluator.random_model(self.random, objective="regression", leaves=40, features=3)
        lines = [line for line in data.decode().splitlines() if line.startswith("threshold=")]
        near = np.array([float(t) for line in lines for t in line.split("=")[1].split()], np.float32)
        rows = np.concatenate([near, np.nextafter(near, np.float32(9)), np.nextafter(near, np.float32(-9))])
        rows = np.stack([rows, rows, np.zeros_like(rows)], axis=1)
        wanted = lightgbm_evaluator.predict(data, rows)
        np.testing.assert_allclose(ember.compile(data)(rows), wanted, rtol=1e-5, atol=1e-6)

    def test_damaged_files_are_refused_or_compiled(self):
        data = lightgbm_evaluator.random_model(self.random, objective="regression", trees=2, leaves=4)
        for _ in range(200):
            damaged = bytearray(data)
            for at in self.random.integers(16, len(data), 2):
                damaged[at] = int(self.random.choice(list(b"0123456789 -.=\nex")))
            try:
                ember.compile(bytes(damaged))
            except ember.Error as error:
                self.assertNotIsInstance(error, ember.Internal)

    def test_messages(self):
        data = lightgbm_evaluator.random_model(self.random, objective="regression")
        for change, message in (
            ((b"end of trees", b""), "m.txt: expected the line 'end of trees', found the end of the file"),
            ((b"objective=regression", b"objective=mine"), "m.txt: objective: expected regression, .*, found 'mine'"),
            ((b"num_leaves=8", b"num_leaves=9"), "m.txt: leaf_value: expected 9 numbers, found 8"),
            ((b"left_child=", b"left_child=0 "), "m.txt: left_child"),
            ((b"leaf_value=", b"leaf_value=x"), "m.txt: expected a LightGBM model, found one that is truncated"),
            ((b"shrinkage=1", b"is_linear=1"), "m.txt: linear_tree: expected constant leaves, found 'linear ones'"),
        ):
            with self.assertRaisesRegex(ember.Error, message) as context:
                ember.compile(data.replace(*change), name="m.txt")
            self.assertNotIn("\n", str(context.exception))


if __name__ == "__main__":
    unittest.main()

"""XGBoost: estimators, boosters and model files predict what XGBoost predicts."""

import os
import tempfile
import unittest
import warnings
from pathlib import Path

import ember
import numpy as np

# OpenMP's threads spin while they wait for each other, so training with several threads takes
# seconds on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    try:
        import xgboost
    except ImportError:
        raise unittest.SkipTest("XGBoost is missing; apt-get install python3-xgboost") from None


class XgboostTest(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(2)
        self.x = random.normal(size=(300, 6)).astype(np.float32)
        self.rows = random.normal(size=(200, 6)).astype(np.float32)
        x = self.x.astype(np.float64)
        self.numbers = 2 * x[:, 0] - x[:, 1] + 3 * np.sin(x[:, 2]) + 1
        self.two = (self.numbers > 0.5).astype(int)
        self.three = np.digitize(self.numbers, [-1.5, 1.5])
        self.has_gaps = self.x.copy(), self.rows.copy()
        self.has_gaps[0][::7, 2] = self.has_gaps[1][::5, 2] = self.has_gaps[1][::3, 0] = np.nan

    def assert_close(self, found, wanted):
        self.assertEqual(found.shape, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6 * np.abs(wanted).max())

    def check(self, estimator, targets, gaps=True):
        x, rows = self.has_gaps if gaps else (self.x, self.rows)
        with self.subTest(repr(estimator)), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.fit(x, targets)
            module = ember.compile(estimator)
            for info, found in zip(module.outputs, module.session().run({"x": rows}), strict=True):
                self.assert_close(found, getattr(estimator, info.name)(rows))

    def test_regressors(self):
        self.check(xgboost.XGBRegressor(n_estimators=20), self.numbers)
        self.check(xgboost.XGBRegressor(n_estimators=20, booster="dart", rate_drop=0.3), self.numbers)
        self.check(xgboost.XGBRegressor(n_estimators=20, booster="gblinear"), self.numbers, gaps=False)
        self.check(xgboost.XGBRFRegressor(n_estimators=10), self.numbers)
        for objective in ("count:poisson", "reg:tweedie", "reg:gamma", "survival:cox"):
            self.check(xgboost.XGBRegressor(n_estimators=10, objective=objective), np.abs(self.numbers) + 0.1)

    def test_classifiers(self):
        for targets in (self.two, self.three):
            self.check(xgboost.XGBClassifier(n_estimators=20), targets)
            self.check(xgboost.XGBClassifier(n_estimators=10, base_score=0.2), targets)
            self.check(xgboost.XGBRFClassifier(n_estimators=10), targets)
            self.check(xgboost.XGBClassifier(n_estimators=10, booster="gblinear"), targets, gaps=False)
        self.check(xgboost.XGBClassifier(n_estimators=5, objective="binary:hinge"), self.two)

    def test_early_stopping(self):
        estimator = xgboost.XGBClassifier(n_estimators=100, early_stopping_rounds=3)
        estimator.fit(self.x[:200], self.two[:200], eval_set=[(self.x[200:], self.two[200:])], verbose=False)
        self.assertLess(estimator.best_iteration, 97)
        self.assert_close(ember.compile(estimator)(self.rows)[1], estimator.predict_proba(self.rows))

    def test_boosters_and_files(self):
        x, rows = self.has_gaps
        for objective, targets in (
            ("reg:squarederror", self.numbers),
            ("rank:pairwise", self.numbers),
            ("binary:logistic", self.two),
            ("binary:logitraw", self.two),
            ("multi:softprob", self.three),
            ("multi:softmax", self.three),
        ):
            options = {"objective": objective, **({"num_class": 3} if "multi" in objective else {})}
            booster = xgboost.train(options, xgboost.DMatrix(x, targets), 10)
            wanted = booster.predict(xgboost.DMatrix(rows))
            with self.subTest(objective), tempfile.TemporaryDirectory() as folder:
                self.assert_close(ember.compile(booster)(rows), wanted)
                for name in ("model.json", "model.ubj"):
                    path = Path(folder, name)
                    booster.save_model(path)
                    self.assert_close(ember.compile(path)(rows), wanted)
                    self.assert_close(ember.compile(path.read_bytes())(rows), wanted)

    def test_damaged_files_are_refused_or_compiled(self):
        booster = xgboost.train({"max_depth": 2}, xgboost.DMatrix(self.x, self.numbers), 2)
        random = np.random.default_rng(4)
        for kind in ("json", "ubj"):
            data = bytes(booster.save_raw(kind))
            for _ in range(200):
                damaged = bytearray(data)
                for at in random.integers(24, len(data), 2):
                    damaged[at] = int(random.choice(list(b"0123456789[]{}-.,:ZTF$#SLi\x00\xff")))
                try:
                    ember.compile(bytes(damaged))
                except ember.Error as error:
                    self.assertNotIsInstance(error, ember.Internal)

    def test_messages(self):
        booster = xgboost.train({}, xgboost.DMatrix(self.x, self.numbers), 2)
        data = bytes(booster.save_raw("json"))
        with self.assertRaisesRegex(ember.DataLoss, "model: expected an XGBoost model, found one that is truncated"):
            ember.compile(data[:1000])
        with self.assertRaisesRegex(ember.DataLoss, "UBJSON: .*truncated"):
            ember.compile(bytes(booster.save_raw("ubj"))[:1000])
        with self.assertRaisesRegex(ember.Unimplemented, "m: objective: expected reg:.*, found 'reg:mine'"):
            ember.compile(data.replace(b"reg:squarederror", b"reg:mine"), name="m")
        with self.assertRaisesRegex(ember.InvalidArgument, "XGBClassifier: expected a fitted estimator"):
            ember.compile(xgboost.XGBClassifier())
        with self.assertRaisesRegex(ember.Unimplemented, "XGBRegressor: parameter missing: expected NaN, found -1"):
            ember.compile(xgboost.XGBRegressor(n_estimators=2, missing=-1).fit(self.x, self.numbers))


if __name__ == "__main__":
    unittest.main()

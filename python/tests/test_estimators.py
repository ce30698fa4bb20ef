"""Estimators of scikit-learn: the module's results are those of the estimator."""

import os
import unittest
import warnings

import ember
import numpy as np

# OpenMP's threads spin while they wait for each other, so training with several threads takes
# seconds on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    try:
        from sklearn import (
            cluster,
            compose,
            decomposition,
            discriminant_analysis,
            ensemble,
            impute,
            linear_model,
            naive_bayes,
            neighbors,
            neural_network,
            pipeline,
            preprocessing,
            svm,
            tree,
        )
    except ImportError:
        raise unittest.SkipTest("scikit-learn is missing; apt-get install python3-sklearn") from None

ROWS = 200
COLORS = np.array(["red", "green", "blue", "teal"], object)


def assert_same(case, name, found, wanted, tolerance):
    wanted = wanted.toarray() if hasattr(wanted, "toarray") else np.asarray(wanted)
    case.assertEqual(found.shape, wanted.shape, name)
    if wanted.dtype.kind != "f":
        case.assertEqual(found.tolist(), wanted.tolist(), name)
        return
    # The tolerance is relative to the largest result: a result near 0 may be a sum of terms of that
    # size, whose rounding errors remain.
    scale = np.nanmax(np.abs(wanted))
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * scale, err_msg=name)


class EstimatorTest(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(1)
        self.x = self.random.normal(size=(300, 6)).astype(np.float32)
        self.rows = self.random.normal(size=(ROWS, 6)).astype(np.float32)
        x = self.x.astype(np.float64)
        self.numbers = 2 * x[:, 0] - x[:, 1] + 3 * np.sin(x[:, 2]) + 1
        self.two = (self.numbers > 0.5).astype(int)
        self.three = np.array(["no", "maybe", "yes"])[np.digitize(self.numbers, [-1.5, 1.5])]

    def check(self, estimator, targets, *, x=None, rows=None, dtype="float32", tolerance=1e-5):
        x, rows = self.x if x is None else x, self.rows if rows is None else rows
        with self.subTest(repr(estimator)), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.fit(x, targets)
            module = ember.compile(estimator, dtype=dtype)
            rows = rows if rows.dtype == object else rows.astype(dtype)
            found = module.session(tier="interpreter").run({"x": rows})
            for info, result in zip(module.outputs, found, strict=True):
                assert_same(self, info.name, result, getattr(estimator, info.name)(rows), tolerance)

    def test_regressors(self):
        for estimator in (
            linear_model.LinearRegression(),
            linear_model.Ridge(),
            linear_model.SGDRegressor(random_state=1),
            svm.LinearSVR(random_state=1),
            svm.SVR(),
            svm.SVR(kernel="poly", coef0=1.0),
            svm.NuSVR(kernel="linear"),
            svm.SVR(kernel="sigmoid"),
            tree.DecisionTreeRegressor(random_state=1),
            ensemble.RandomForestRegressor(20, random_state=1),
            ensemble.ExtraTreesRegressor(20, random_state=1),
            ensemble.GradientBoostingRegressor(n_estimators=20, random_state=1),
            ensemble.HistGradientBoostingRegressor(max_iter=20),
            neighbors.KNeighborsRegressor(),
            neighbors.KNeighborsRegressor(weights="distance", p=1),
            neural_network.MLPRegressor((20,), max_iter=50, random_state=1),
            ensemble.VotingRegressor([("a", linear_model.Ridge()), ("b", svm.SVR())], weights=[1, 2]),
        ):
            self.check(estimator, self.numbers)
        for estimator in (
            linear_model.PoissonRegressor(),
            linear_model.TweedieRegressor(power=0),
            ensemble.HistGradientBoostingRegressor(max_iter=20, loss="poisson"),
        ):
            self.check(estimator, np.abs(self.numbers))
        for estimator in (
            linear_model.LinearRegression(),
            ensemble.RandomForestRegressor(10, random_state=1),
            neighbors.KNeighborsRegressor(),
        ):
            self.check(estimator, np.stack([self.numbers, self.x[:, 3]], axis=1))

    def test_classifiers(self):
        for targets in (self.two, self.three):
            for estimator in (
                linear_model.LogisticRegression(),
                linear_model.LogisticRegression(multi_class="multinomial"),
                linear_model.LogisticRegression(solver="liblinear"),
                linear_model.RidgeClassifier(),
                linear_model.SGDClassifier(random_state=1),
                linear_model.SGDClassifier(loss="modified_huber", random_state=1),
                discriminant_analysis.LinearDiscriminantAnalysis(),
                svm.LinearSVC(random_state=1),
                svm.SVC(kernel="poly"),
                svm.SVC(probability=True, random_state=1),
                tree.DecisionTreeClassifier(max_depth=4, random_state=1),
                ensemble.RandomForestClassifier(20, max_depth=5, random_state=1),
                ensemble.ExtraTreesClassifier(20, random_state=1),
                ensemble.GradientBoostingClassifier(n_estimators=10, random_state=1),
                ensemble.HistGradientBoostingClassifier(max_iter=10),
                neighbors.KNeighborsClassifier(),
                neighbors.KNeighborsClassifier(weights="distance"),
                neural_network.MLPClassifier((20,), max_iter=50, random_state=1),
                naive_bayes.GaussianNB(),
                naive_bayes.BernoulliNB(),
            ):
                self.check(estimator, targets)
            for estimator in (naive_bayes.MultinomialNB(), naive_bayes.ComplementNB()):
                self.check(estimator, targets, x=np.abs(self.x), rows=np.abs(self.rows))
        self.check(ensemble.GradientBoostingClassifier(loss="exponential", n_estimators=10), self.two)

    def test_transformers(self):
        for estimator in (
            preprocessing.StandardScaler(),
            preprocessing.MinMaxScaler(clip=True),
            preprocessing.MaxAbsScaler(),
            preprocessing.RobustScaler(),
            preprocessing.Normalizer(),
            preprocessing.Normalizer("max"),
            preprocessing.Binarizer(),
            preprocessing.PolynomialFeatures(3),
            decomposition.PCA(3, whiten=True),
            decomposition.TruncatedSVD(3),
            cluster.KMeans(5, n_init=1, random_state=1),
        ):
            self.check(estimator, None)

    def test_thresholds_are_compared_as_in_f64(self):
        x = np.linspace(0, 1, 50, dtype=np.float32).reshape(-1, 1)
        fitted = tree.DecisionTreeRegressor().fit(x, np.arange(50.0))
        found = fitted.tree_.threshold.astype(np.float32)
        # Thresholds are f64, rows f32. The f32 numbers nearest to each threshold, above and below
        # it, must be on the same side of it as in scikit-learn.
        rows = np.concatenate([found, np.nextafter(found, np.float32(2)), np.nextafter(found, np.float32(-2))])
        rows = rows.reshape(-1, 1)
        self.assertEqual(ember.compile(fitted)(rows).tolist(), fitted.predict(rows).tolist())

    def test_missing_values(self):
        x, rows = self.x.copy(), self.rows.copy()
        x[::7, 2] = rows[::5, 2] = rows[::3, 0] = np.nan
        self.check(impute.SimpleImputer(strategy="median"), None, x=x, rows=rows)
        self.check(ensemble.HistGradientBoostingClassifier(max_iter=10), self.three, x=x, rows=rows)
        numbers = pipeline.make_pipeline(impute.SimpleImputer(), preprocessing.StandardScaler())
        columns = compose.ColumnTransformer(
            [("numbers", numbers, [0, 2, 3]), ("same", "passthrough", slice(4, 5)), ("none", "drop", [1])],
            remainder=preprocessing.MinMaxScaler(),
        )
        self.check(columns, None, x=x, rows=rows)
        self.check(pipeline.make_pipeline(columns, linear_model.LogisticRegression()), self.three, x=x, rows=rows)

    def test_categories(self):
        x, rows = np.round(self.x * 2), np.clip(np.round(self.rows * 2), -2, 2)
        unknown = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
        self.check(preprocessing.OneHotEncoder(handle_unknown="ignore"), None, x=x, rows=rows)
        self.check(preprocessing.OneHotEncoder(drop="first"), None, x=x, rows=rows)
        self.check(preprocessing.OrdinalEncoder(**unknown), None, x=x, rows=rows)
        x = COLORS[self.random.integers(0, 3, (300, 2))]
        rows = COLORS[self.random.integers(0, 4, (ROWS, 2))]
        one_hot = preprocessing.OneHotEncoder(handle_unknown="ignore")
        self.check(pipeline.make_pipeline(one_hot, linear_model.LogisticRegression()), self.three, x=x, rows=rows)
        ordinal = preprocessing.OrdinalEncoder(**unknown)
        forest = ensemble.RandomForestClassifier(10, random_state=1)
        self.check(pipeline.make_pipeline(ordinal, forest), self.two, x=x, rows=rows)

    def test_columns_of_texts_and_numbers_are_inputs_of_their_own(self):
        x, rows = np.empty((300, 3), object), np.empty((ROWS, 3), object)
        for array, numbers in ((x, self.x), (rows, self.rows)):
            array[:, [0, 2]] = numbers[:, :2]
            array[:, 1] = COLORS[self.random.integers(0, 3, len(array))]
        columns = compose.ColumnTransformer(
            [("n", preprocessing.StandardScaler(), [0, 2]), ("c", preprocessing.OneHotEncoder(), [1])]
        )
        fitted = pipeline.make_pipeline(columns, linear_model.LogisticRegression()).fit(x, self.three)
        module = ember.compile(fitted)
        self.assertEqual([(i.name, i.is_string) for i in module.inputs], [("x0", False), ("x1", True), ("x2", False)])
        texts = rows[:, [1]]
        predict, chances = module(rows[:, [0]].astype(np.float32), texts, rows[:, [2]].astype(np.float32))
        assert_same(self, "predict", predict, fitted.predict(rows), 0)
        assert_same(self, "predict_proba", chances, fitted.predict_proba(rows), 1e-5)

    def test_f64(self):
        x, rows = self.x.astype(np.float64), self.random.normal(size=(ROWS, 6))
        for estimator in (
            linear_model.LogisticRegression(),
            svm.SVC(),
            ensemble.RandomForestClassifier(10, random_state=1),
            ensemble.HistGradientBoostingClassifier(max_iter=10),
            neighbors.KNeighborsClassifier(),
            neural_network.MLPClassifier((20,), max_iter=50, random_state=1),
            naive_bayes.GaussianNB(),
        ):
            self.check(estimator, self.two, x=x, rows=rows, dtype="float64", tolerance=1e-12)

    def test_messages(self):
        x, y = self.x, self.two
        for model, message in (
            (svm.SVC(), "SVC: expected a fitted estimator, found one without fit; call its fit first"),
            (cluster.DBSCAN().fit(x), "DBSCAN: this estimator is not supported; the 1.. supported ones are listed by"),
            (svm.SVC(break_ties=True).fit(x, y), "SVC: parameter break_ties: expected False, found True"),
            (
                svm.SVC(kernel=lambda a, b: a @ b.T).fit(x, y),
                "SVC: parameter kernel: expected linear, poly, rbf or sigmoid, found <function",
            ),
            (
                neighbors.KNeighborsClassifier(metric="cosine").fit(x, y),
                "KNeighborsClassifier: parameter metric: expected euclidean, .*, found 'cosine'",
            ),
            (
                preprocessing.FunctionTransformer(np.log).fit(x),
                "FunctionTransformer: parameter func: expected None, found <ufunc 'log'>",
            ),
        ):
            with self.assertRaisesRegex(ember.Error, message) as context:
                ember.compile(model)
            self.assertNotIn("\n", str(context.exception))
        with self.assertRaisesRegex(ember.InvalidArgument, "Ridge: dtype: expected float32 or float64, found int32"):
            ember.compile(linear_model.Ridge().fit(x, y), dtype="int32")
        with self.assertRaisesRegex(ember.InvalidArgument, "expected dtype only with an estimator"):
            ember.compile(b"module @m {}", dtype="float32")


if __name__ == "__main__":
    unittest.main()

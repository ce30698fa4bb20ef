"""Fitted estimators of scikit-learn and XGBoost as models: ember.compile(estimator).

An estimator becomes an ONNX model, by its public attributes. The results of the module are `predict` and, for
classifiers with probabilities, `predict_proba`; transformers have the result `transform`.

>>> import ember.estimators
>>> "RandomForestClassifier" in ember.estimators.supported()
True
"""

from .table import is_estimator, supported, to_onnx

__all__ = ["is_estimator", "supported", "to_onnx"]

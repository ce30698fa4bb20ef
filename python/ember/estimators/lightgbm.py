"""LightGBM: model files in its text format (Booster.save_model), version 3 and 4."""

from __future__ import annotations

import numpy as np

from ..errors import DataLoss, InvalidArgument, Unimplemented
from .boosting import BoostedModel
from .ensembles import Tree

# Bits of a node's decision_type in LightGBM's model files.
_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_MISSING_NONE, _MISSING_ZERO, _MISSING_NAN = 0, 1, 2
_ZERO = 1e-35  # LightGBM treats features up to this magnitude as 0.

_IDENTITY = "regression regression_l1 huber fair quantile mape lambdarank rank_xendcg".split()
_EXP = "poisson gamma tweedie".split()


def read_model(data: bytes, name: str) -> BoostedModel:
    """Reads the bytes of a model file."""
    try:
        model = _Reader(data.decode("utf-8"), name).model()
        model.check(name)
        return model
    except (ArithmeticError, RecursionError, ValueError, KeyError, IndexError) as error:
        if isinstance(error, (InvalidArgument, Unimplemented, DataLoss)):
            raise
        raise DataLoss(
            f"{name}: expected a LightGBM model, found one that is truncated or corrupt: {error!r}"
        ) from error


def _fields(block: list[str]) -> dict[str, str]:
    parts = [line.partition("=") for line in block if line]
    return {key: value for key, _, value in parts}


class _Reader:
    def __init__(self, text: str, name: str):
        self.name = name
        blocks: list[list[str]] = [[]]
        is_complete = False
        for line in text.splitlines():
            if line.startswith("Tree="):
                blocks.append([])
            elif line == "end of trees":
                is_complete = True
                break
            blocks[-1].append(line.strip())
        if not is_complete:
            raise DataLoss(f"{name}: expected the line 'end of trees', found the end of the file")
        self.header = _fields(blocks[0])
        self.blocks = [_fields(b) for b in blocks[1:]]

    def _refuse(self, what: str, expected: str, found: object) -> Unimplemented:
        return Unimplemented(f"{self.name}: {what}: expected {expected}, found {found!r}")

    def model(self) -> BoostedModel:
        groups = int(self.header.get("num_tree_per_iteration", "1"))
        transform, scale = self._objective()
        model = BoostedModel(
            features=int(self.header["max_feature_idx"]) + 1,
            groups=groups,
            start=(0.0,),
            transform=transform,
            scale=scale,
            rounds_to_f32=False,
        )
        count = len(self.blocks) // groups
        if groups > len(self.blocks) > 0 or count * groups != len(self.blocks):
            raise DataLoss(f"{self.name}: expected a multiple of {groups} trees, found {len(self.blocks)}")
        # A random forest (average_output) returns the mean of its trees instead of their sum.
        factor = 1 / count if "average_output" in self.header and count else 1.0
        for n, block in enumerate(self.blocks):
            model.trees.append(self._tree(block, n % groups, factor))
        return model

    def _objective(self) -> tuple[str, float]:
        words = self.header.get("objective", "regression").split()
        options = dict(w.split(":", 1) for w in words[1:] if ":" in w)
        name = words[0]
        if name in _IDENTITY:
            return ("signed_square" if "sqrt" in words else "identity"), 1.0
        if name in _EXP:
            return "exp", 1.0
        if name in ("binary", "multiclassova"):
            return "sigmoid", float(options.get("sigmoid", "1"))
        if name in ("cross_entropy", "xentropy"):
            return "sigmoid", 1.0
        if name in ("cross_entropy_lambda", "xentlambda"):
            return "log1p_exp", 1.0
        if name == "multiclass":
            return "softmax", 1.0
        known = [*_IDENTITY, *_EXP, "binary", "multiclass", "multiclassova", "cross_entropy", "cross_entropy_lambda"]
        raise self._refuse("objective", ", ".join(known), name)

    def _tree(self, block: dict[str, str], target: int, factor: float) -> Tree:
        if block.get("is_linear", "0") != "0":
            raise self._refuse("linear_tree", "constant leaves", "linear ones")
        leaves = int(block["num_leaves"])
        values = np.array(block["leaf_value"].split(), np.float64) * factor
        if leaves < 1 or len(values) != leaves:
            raise DataLoss(f"{self.name}: leaf_value: expected {leaves} numbers, found {len(values)}")
        branches = leaves - 1

        def numbers(key: str, dtype: type) -> np.ndarray:
            found: np.ndarray = np.array(block[key].split() if branches else [], dtype)
            if len(found) != branches:
                raise DataLoss(f"{self.name}: {key}: expected {branches} numbers, found {len(found)}")
            return found

        feature, threshold = numbers("split_feature", np.int64), numbers("threshold", np.float64)
        decision = numbers("decision_type", np.int64)
        # In the file a negative child means leaf number ~child. Here all leaves come after all
        # branches, so its index is branches + ~child.
        sides = [numbers(key, np.int64) for key in ("left_child", "right_child")]
        for side in sides:
            # Fails unless each branch comes before its children. This also excludes cycles.
            is_earlier = (side >= 0) & (side <= np.arange(branches))
            if np.any(side >= branches) or np.any(~side >= leaves) or np.any(is_earlier):
                raise DataLoss(f"{self.name}: left_child, right_child: expected children after their parents")
        left, right = (np.where(s < 0, branches + ~s, s) for s in sides)
        rest, minus = np.zeros(leaves, np.int64), np.full(leaves, -1)
        members = {}
        missing = np.zeros(branches + leaves, bool)
        for n in range(branches):
            if decision[n] & _CATEGORICAL:
                members[n] = self._categories(block, int(threshold[n]))
                threshold[n] = 0.0
            else:
                missing[n] = self._missing_left(int(decision[n]), threshold[n])
        return Tree(
            feature=np.concatenate([feature, minus]),
            threshold=np.concatenate([threshold, rest]),
            left=np.concatenate([left, rest]),
            right=np.concatenate([right, rest]),
            missing_left=missing,
            values=np.concatenate([np.zeros(branches), values])[:, np.newaxis],
            members=members,
            target=target,
        )

    def _missing_left(self, decision: int, threshold: float) -> bool:
        """True if NaN is led to the left."""
        default_left, kind = bool(decision & _DEFAULT_LEFT), decision >> 2 & 3
        if kind == _MISSING_NAN:
            return default_left
        zero_left = threshold >= 0
        if kind == _MISSING_NONE:
            # A node without a type of missing values replaces NaN by 0, so NaN takes the side of 0.
            return zero_left
        if abs(threshold) > _ZERO and default_left == zero_left:
            return default_left
        raise self._refuse("zero_as_missing", "False", True)

    def _categories(self, block: dict[str, str], index: int) -> list[int]:
        """Returns the categories that are led to the left: the bits of a set."""
        bounds = [int(b) for b in block["cat_boundaries"].split()]
        words = [int(w) for w in block["cat_threshold"].split()][bounds[index] : bounds[index + 1]]
        found = [32 * n + bit for n, word in enumerate(words) for bit in range(32) if word >> bit & 1]
        # For a set without members, -1, which is no category, makes every row continue to the
        # right, as an empty set does.
        return found or [-1]

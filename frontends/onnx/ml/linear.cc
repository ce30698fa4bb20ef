// LinearClassifier, LinearRegressor.
#include <string>
#include <vector>

#include "frontends/onnx/ml/attributes.h"
#include "frontends/onnx/ml/families.h"
#include "frontends/onnx/ml/scores.h"

namespace ember::onnx {
namespace {

// Returns the scores x [N, F] · coefficients [targets, F]ᵀ + intercepts in the
// type that ScoreType returns; intercepts may be empty. Null after an error.
Tensor LinearScores(NodeContext& c, const std::vector<double>& coefficients,
                    const std::vector<double>& intercepts, int64_t targets) {
  Tensor x = ReadRows(c);
  if (!x) return c.Wrap(nullptr);
  x = Cast(x, ScoreType(x));
  // If there are more coefficients than features, only the first targets *
  // features coefficients are used.
  const auto count = static_cast<int64_t>(coefficients.size());
  const int64_t features = x.dim(1).is_constant() ? x.dim(1).constant()
                           : targets > 0          ? count / targets
                                                  : 0;
  if (targets < 1 || features < 1 || count / targets < features) {
    c.FailInvalid("attribute 'coefficients': expected " + x.dim(1).ToString() +
                  " elements for each of " + std::to_string(targets) +
                  " targets, found " + std::to_string(count));
    return c.Wrap(nullptr);
  }
  const std::vector<double> used(coefficients.begin(),
                                 coefficients.begin() + targets * features);
  Tensor weights =
      Reshape(NumberVector(c, used, x.dtype()), {Dim(targets), Dim(features)});
  Tensor scores = Contract(x, weights, "nf,tf->nt");
  if (intercepts.empty()) return scores;
  return scores + NumberVector(c, intercepts, x.dtype());
}

void ImportLinearRegressor(NodeContext& c) {
  const int64_t targets = c.Integer("targets", 1);
  const Transform transform = ReadTransform(c);
  const std::vector<double> coefficients =
      c.Floats("coefficients").value_or(std::vector<double>());
  const std::vector<double> intercepts =
      c.Floats("intercepts").value_or(std::vector<double>());
  if (!c.ok() || (!intercepts.empty() &&
                  !CheckCount(c, "intercepts", intercepts.size(), targets)))
    return;
  Tensor scores = LinearScores(c, coefficients, intercepts, targets);
  if (!c.ok()) return;
  c.SetOutput(0, Cast(PostTransform(scores, transform), DType::kF32));
}

// Returns the two labels of a binary classifier with a single score: the two
// given ones, else 0 and 1.
Labels TwoLabels(NodeContext& c, const Labels& labels) {
  if (labels.size() == 2) return labels;
  if (!labels.strings) return {{0, 1}, false};
  return {StringHandles(c, {"0", "1"}), true};
}

void ImportLinearClassifier(NodeContext& c) {
  Labels labels = ReadLabels(c, "classlabels_strings", "classlabels_ints");
  const Transform transform = ReadTransform(c);
  const std::vector<double> coefficients =
      c.Floats("coefficients").value_or(std::vector<double>());
  const std::vector<double> intercepts =
      c.Floats("intercepts").value_or(std::vector<double>());
  if (!c.ok()) return;
  // The number of scores is that of the intercepts; if there are no intercepts,
  // it is the number of classes.
  const int64_t targets = intercepts.empty()
                              ? labels.size()
                              : static_cast<int64_t>(intercepts.size());
  Tensor scores = LinearScores(c, coefficients, intercepts, targets);
  if (!c.ok()) return;
  Tensor best;
  const bool two_from_one = targets == 1 && labels.size() == 2;
  if (targets == 1) {
    labels = TwoLabels(c, labels);
    best = Squeeze(Cast(Less(0, scores), DType::kI64), {1});
  } else {
    if (!CheckCount(c, "intercepts", targets, labels.values.size())) return;
    best = Apply("arg_reduce", {scores},
                 {{"mode", std::string("maximum")},
                  {"axis", int64_t{1}},
                  {"last", int64_t{0}}});
  }
  Tensor names = labels.Vector(c);
  c.SetOutput(0, Gather(names, best, 0).Marked(names.carried_type()));
  scores = two_from_one
               ? AddSecondClass(scores, SecondClass::kComplement, transform)
               : PostTransform(scores, transform);
  c.SetOutput(1, Cast(scores, DType::kF32));
}

constexpr OperatorRow kRows[] = {
    {"LinearClassifier", 0, 1, 1, ImportLinearClassifier, kMlDomain},
    {"LinearRegressor", 0, 1, 1, ImportLinearRegressor, kMlDomain},
};

}  // namespace

std::span<const OperatorRow> MlLinearOperators() { return kRows; }

}  // namespace ember::onnx

// Imports SVMClassifier and SVMRegressor: evaluates the kernel function for
// each pair of a row and a support vector, then contracts with the
// coefficients. The formulas are libsvm's, as in ONNX Runtime.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/onnx/ml/attributes.h"
#include "frontends/onnx/ml/families.h"
#include "frontends/onnx/ml/scores.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/support_vectors.h"

namespace ember::onnx {
namespace {

using ops::ApplyKernel;
using ops::Kernel;

Kernel ReadKernel(NodeContext& c) {
  constexpr std::pair<std::string_view, Kernel::Type> kTypes[] = {
      {"LINEAR", Kernel::kLinear},
      {"POLY", Kernel::kPolynomial},
      {"RBF", Kernel::kRbf},
      {"SIGMOID", Kernel::kSigmoid},
  };
  const std::string type = c.String("kernel_type", "LINEAR");
  Kernel kernel;
  const auto parameters = c.Floats("kernel_params");
  if (parameters && !parameters->empty() &&
      CheckCount(c, "kernel_params", parameters->size(), 3)) {
    kernel.gamma = (*parameters)[0];
    kernel.offset = (*parameters)[1];
    kernel.degree = (*parameters)[2];
  }
  for (const auto& [name, known] : kTypes) {
    kernel.type = known;
    if (type == name) return kernel;
  }
  c.FailInvalid(
      "attribute 'kernel_type': expected LINEAR, POLY, RBF or SIGMOID, "
      "found '" +
      type + "'");
  return kernel;
}

// Returns `values` as a matrix of `rows` rows.
Tensor Matrix(NodeContext& c, std::string_view name,
              const std::vector<double>& values, int64_t rows, DType type) {
  const auto count = static_cast<int64_t>(values.size());
  if (rows < 1 || count == 0 || count % rows != 0) {
    c.FailInvalid("attribute '" + std::string(name) +
                  "': expected a multiple of " + std::to_string(rows) +
                  " elements, found " + std::to_string(count));
    return c.Wrap(nullptr);
  }
  return Reshape(NumberVector(c, values, type), {Dim(rows), Dim(count / rows)});
}

std::vector<double> ReadFloats(NodeContext& c, std::string_view name) {
  return c.Floats(name).value_or(std::vector<double>());
}

Tensor ArgMax(Tensor x) {
  return Apply("arg_reduce", {x},
               {{"mode", std::string("maximum")},
                {"axis", int64_t{1}},
                {"last", int64_t{0}}});
}

// --- regressor ---

void ImportSvmRegressor(NodeContext& c) {
  Kernel kernel = ReadKernel(c);
  const Transform transform = ReadTransform(c);
  const int64_t supports = c.Integer("n_supports", 0);
  const std::vector<double> coefficients = ReadFloats(c, "coefficients");
  const std::vector<double> rho = ReadFloats(c, "rho");
  if (!CheckCount(c, "rho", rho.size(), 1)) return;
  Tensor x = ReadRows(c);
  if (!x) return;
  x = Cast(x, ScoreType(x));
  Tensor weights = Matrix(c, "coefficients", coefficients, 1, x.dtype());
  Tensor features = x;
  if (supports > 0) {
    const std::vector<double> vectors = ReadFloats(c, "support_vectors");
    if (!CheckCount(c, "coefficients", coefficients.size(), supports)) return;
    Tensor support = Matrix(c, "support_vectors", vectors, supports, x.dtype());
    if (!c.ok()) return;
    features = ApplyKernel(kernel, x, support);
  }
  if (!c.ok()) return;
  Tensor scores = Contract(features, weights, "nf,tf->nt") + rho.front();
  if (c.Integer("one_class", 0) != 0) {
    scores = Select(Less(0, scores), scores.Like(1), scores.Like(-1));
  } else {
    scores = PostTransform(scores, transform);
  }
  c.SetOutput(0, Cast(scores, DType::kF32));
}

// --- classifier ---

class SvmClassifier {
 public:
  SvmClassifier(NodeContext& c, Tensor x)
      : c_(c),
        x_(Cast(x, ScoreType(x))),
        labels_(ReadLabels(c, "classlabels_strings", "classlabels_ints")),
        transform_(ReadTransform(c)),
        coefficients_(ReadFloats(c, "coefficients")),
        rho_(ReadFloats(c, "rho")),
        prob_a_(ReadFloats(c, "prob_a")),
        prob_b_(ReadFloats(c, "prob_b")),
        sizes_(c.Integers("vectors_per_class", {})) {}

  void Run() {
    if (!c_.ok()) return;
    for (int64_t size : sizes_) {
      // Each support vector has at least one coefficient, so the sizes of the
      // classes add up to at most the number of coefficients.
      const auto most = static_cast<int64_t>(coefficients_.size()) - vectors_;
      if (size < 0 || size > most) {
        return c_.FailInvalid(
            "attribute 'vectors_per_class': expected sizes that 'coefficients' "
            "is enough for, found " +
            std::to_string(size));
      }
      vectors_ += size;
    }
    if (vectors_ > 0) {
      RunPairs();
    } else {
      RunLinear();
    }
  }

 private:
  Tensor Numbers(const std::vector<double>& values) {
    return NumberVector(c_, values, x_.dtype());
  }
  void SetResults(Tensor best, Tensor scores) {
    Tensor names = labels_.Vector(c_);
    c_.SetOutput(0, Gather(names, best, 0).Marked(names.carried_type()));
    c_.SetOutput(1, Cast(scores, DType::kF32));
  }
  bool AllPositive() const {
    return std::all_of(coefficients_.begin(), coefficients_.end(),
                       [](double value) { return value >= 0; });
  }

  void RunLinear();
  void RunPairs();
  bool CheckPairs();
  Tensor PairScores();
  Tensor Probabilities(Tensor scores);

  NodeContext& c_;
  Tensor x_;
  const Labels labels_;
  const Transform transform_;
  const std::vector<double> coefficients_, rho_, prob_a_, prob_b_;
  const std::vector<int64_t> sizes_;
  int64_t vectors_ = 0;
};

// Classifies with a linear SVM, which has coefficients per class instead of
// support vectors: computes one score per class.
void SvmClassifier::RunLinear() {
  Tensor weights =
      Matrix(c_, "coefficients", coefficients_, labels_.size(), x_.dtype());
  if (rho_.empty()) return c_.FailInvalid("attribute 'rho' is missing");
  if (!c_.ok()) return;
  Tensor scores = Contract(x_, weights, "nf,kf->nk") + rho_.front();
  Tensor best = ArgMax(scores);
  if (labels_.size() == 2 && prob_a_.empty()) {
    // If there are two labels and no probabilities, the second label wins if
    // the largest score of the row is at least 0.5 (if no coefficient is
    // negative) or above 0 (otherwise).
    Tensor largest = Reduce(scores, "maximum", {1}, false);
    Tensor second = AllPositive() ? LessEqual(0.5, largest) : Less(0, largest);
    best = Select(second, best.Like(1), best);
  }
  SetResults(best, PostTransform(scores, transform_));
}

bool SvmClassifier::CheckPairs() {
  constexpr int64_t kMaxClasses = 256;
  const int64_t classes = labels_.size();
  const auto pairs = static_cast<size_t>(classes * (classes - 1) / 2);
  if (pairs == 0) {
    c_.FailInvalid("expected two classes or more, found one");
    return false;
  }
  if (!prob_a_.empty() && classes > kMaxClasses) {
    c_.FailUnsupported(
        "probabilities of at most " + std::to_string(kMaxClasses) +
        " classes are supported, found " + std::to_string(classes));
    return false;
  }
  const bool sizes =
      CheckCount(c_, "vectors_per_class", sizes_.size(),
                 labels_.values.size()) &&
      CheckCount(c_, "coefficients", coefficients_.size(),
                 static_cast<size_t>(vectors_ * (labels_.size() - 1))) &&
      CheckCount(c_, "rho", rho_.size(), pairs) &&
      CheckCount(c_, "prob_b", prob_b_.size(), prob_a_.size());
  return sizes &&
         (prob_a_.empty() || CheckCount(c_, "prob_a", prob_a_.size(), pairs));
}

void SvmClassifier::RunPairs() {
  if (!CheckPairs()) return;
  Tensor scores = PairScores();
  if (!c_.ok()) return;
  Tensor best = ArgMax(ops::PairVotes(scores, labels_.size()));
  if (!prob_a_.empty()) {
    return SetResults(best, PostTransform(Probabilities(scores), transform_));
  }
  if (labels_.size() > 2)
    return SetResults(best, PostTransform(scores, transform_));
  const SecondClass rule = transform_ == Transform::kNone
                               ? SecondClass::kNegation
                               : SecondClass::kComplement;
  SetResults(best, AddSecondClass(scores, rule, transform_));
}

// Returns a score for each row and pair of classes, [N, pairs]. A score above 0
// is a vote for the pair's first class.
Tensor SvmClassifier::PairScores() {
  Tensor support =
      Matrix(c_, "support_vectors", ReadFloats(c_, "support_vectors"), vectors_,
             x_.dtype());
  const Kernel kernel = ReadKernel(c_);
  if (!c_.ok()) return c_.Wrap(nullptr);
  Tensor matrix =
      Matrix(c_, "coefficients", ops::PairWeights(sizes_, coefficients_),
             vectors_, x_.dtype());
  Tensor kernels = ApplyKernel(kernel, x_, support);
  return Contract(kernels, matrix, "nv,vp->np") + Numbers(rho_);
}

Tensor SvmClassifier::Probabilities(Tensor scores) {
  constexpr double kSmallest = 1e-7;
  Tensor score = scores * Numbers(prob_a_) + Numbers(prob_b_);
  Tensor probability =
      Minimum(Maximum(Sigmoid(-score), kSmallest), 1 - kSmallest);
  return ops::CouplePairs(probability, labels_.size());
}

void ImportSvmClassifier(NodeContext& c) {
  Tensor x = ReadRows(c);
  if (x) SvmClassifier(c, x).Run();
}

constexpr OperatorRow kRows[] = {
    {"SVMClassifier", 0, 1, 1, ImportSvmClassifier, kMlDomain},
    {"SVMRegressor", 0, 1, 1, ImportSvmRegressor, kMlDomain},
};

}  // namespace

std::span<const OperatorRow> MlSvmOperators() { return kRows; }

}  // namespace ember::onnx

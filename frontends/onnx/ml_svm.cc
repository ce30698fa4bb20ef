// SVMClassifier, SVMRegressor: kernels between rows and support vectors, then a
// contraction. Formulas of libsvm, as ONNX Runtime has them.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "frontends/onnx/ml_attributes.h"
#include "frontends/onnx/ml_scores.h"
#include "frontends/onnx/operator_table.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

struct Kernel {
  std::string type = "LINEAR";
  double gamma = 0;
  double coef0 = 0;
  double degree = 0;
};

Kernel ReadKernel(NodeContext& c) {
  Kernel kernel;
  kernel.type = c.String("kernel_type", "LINEAR");
  const auto parameters = c.Floats("kernel_params");
  if (parameters && !parameters->empty() &&
      CheckCount(c, "kernel_params", parameters->size(), 3)) {
    kernel.gamma = (*parameters)[0];
    kernel.coef0 = (*parameters)[1];
    kernel.degree = (*parameters)[2];
  }
  for (const char* known : {"LINEAR", "POLY", "RBF", "SIGMOID"}) {
    if (kernel.type == known) return kernel;
  }
  c.FailInvalid(
      "attribute 'kernel_type': expected LINEAR, POLY, RBF or SIGMOID, "
      "found '" +
      kernel.type + "'");
  return kernel;
}

// x [N, F], vectors [V, F] → [N, V].
Tensor ApplyKernel(const Kernel& kernel, Tensor x, Tensor vectors) {
  if (kernel.type == "RBF") {
    // Differences first: |x|² - 2xv + |v|² would cancel.
    Tensor difference = Unsqueeze(x, {1}) - vectors;
    Tensor square = Reduce(difference * difference, "sum", {2}, false);
    return Exp(square * -kernel.gamma);
  }
  Tensor product = Contract(x, vectors, "nf,vf->nv");
  if (kernel.type == "LINEAR") return product;
  product = product * kernel.gamma + kernel.coef0;
  if (kernel.type == "SIGMOID") return Tanh(product);
  if (kernel.degree == 2) return product * product;
  if (kernel.degree == 3) return product * product * product;
  return Power(product, kernel.degree);
}

// `values` as [rows, the rest].
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

struct Pair {
  int64_t first, second;
};

// The pairs of classes in the order of 'rho', 'prob_a' and 'prob_b'.
std::vector<Pair> PairsOf(int64_t classes) {
  std::vector<Pair> pairs;
  for (int64_t i = 0; i < classes; ++i) {
    for (int64_t j = i + 1; j < classes; ++j) pairs.push_back({i, j});
  }
  return pairs;
}

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
      // Each has coefficients.
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
    c_.SetOutput(0, Gather(names, best, 0).Marked(names.narrow_type()));
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
  Tensor Votes(Tensor scores);
  Tensor Probabilities(Tensor scores);
  Tensor CouplingMatrix(Tensor scores);

  NodeContext& c_;
  Tensor x_;
  const Labels labels_;
  const Transform transform_;
  const std::vector<double> coefficients_, rho_, prob_a_, prob_b_;
  const std::vector<int64_t> sizes_;
  std::vector<Pair> pairs_;
  int64_t vectors_ = 0;
};

// Without support vectors: a score per class.
void SvmClassifier::RunLinear() {
  Tensor weights =
      Matrix(c_, "coefficients", coefficients_, labels_.size(), x_.dtype());
  if (rho_.empty()) return c_.FailInvalid("attribute 'rho' is missing");
  if (!c_.ok()) return;
  Tensor scores = Contract(x_, weights, "nf,kf->nk") + rho_.front();
  Tensor best = ArgMax(scores);
  if (labels_.size() == 2 && prob_a_.empty()) {
    // The second class wins as soon as any score is large enough.
    Tensor largest = Reduce(scores, "maximum", {1}, false);
    Tensor second = AllPositive() ? LessEqual(0.5, largest) : Less(0, largest);
    best = Select(second, best.Like(1), best);
  }
  SetResults(best, PostTransform(scores, transform_));
}

bool SvmClassifier::CheckPairs() {
  constexpr int64_t kMaximumClasses = 256;
  const int64_t classes = labels_.size();
  const auto pairs = static_cast<size_t>(classes * (classes - 1) / 2);
  if (pairs == 0) {
    c_.FailInvalid("expected two classes or more, found one");
    return false;
  }
  if (!prob_a_.empty() && classes > kMaximumClasses) {
    c_.FailUnsupported(
        "probabilities of at most " + std::to_string(kMaximumClasses) +
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
  pairs_ = PairsOf(labels_.size());
  Tensor scores = PairScores();
  if (!c_.ok()) return;
  Tensor best = ArgMax(Votes(scores));
  if (!prob_a_.empty()) {
    return SetResults(best, PostTransform(Probabilities(scores), transform_));
  }
  if (pairs_.size() > 1)
    return SetResults(best, PostTransform(scores, transform_));
  const SecondClass rule = transform_ == Transform::kNone
                               ? SecondClass::kNegation
                               : SecondClass::kComplement;
  SetResults(best, AddSecondClass(scores, rule, transform_));
}

// [N, pairs]. A class has coefficients against each other class; those of
// classes before itself are one row further down.
Tensor SvmClassifier::PairScores() {
  Tensor support =
      Matrix(c_, "support_vectors", ReadFloats(c_, "support_vectors"), vectors_,
             x_.dtype());
  const Kernel kernel = ReadKernel(c_);
  if (!c_.ok()) return c_.Wrap(nullptr);
  std::vector<int64_t> starts(sizes_.size(), 0);
  std::partial_sum(sizes_.begin(), sizes_.end() - 1, starts.begin() + 1);
  const size_t pairs = pairs_.size();
  std::vector<double> weights(vectors_ * pairs, 0);
  for (size_t p = 0; p < pairs; ++p) {
    const auto [i, j] = pairs_[p];
    const auto copy = [&](int64_t own, int64_t row) {
      for (int64_t v = starts[own]; v < starts[own] + sizes_[own]; ++v)
        weights[v * pairs + p] = coefficients_[row * vectors_ + v];
    };
    copy(i, j - 1);
    copy(j, i);
  }
  Tensor matrix = Matrix(c_, "coefficients", weights, vectors_, x_.dtype());
  Tensor kernels = ApplyKernel(kernel, x_, support);
  return Contract(kernels, matrix, "nv,vp->np") + Numbers(rho_);
}

// How many pairs each class wins.
Tensor SvmClassifier::Votes(Tensor scores) {
  const size_t classes = labels_.values.size();
  std::vector<double> first(pairs_.size() * classes, 0);
  std::vector<double> second = first;
  for (size_t p = 0; p < pairs_.size(); ++p) {
    first[p * classes + pairs_[p].first] = 1;
    second[p * classes + pairs_[p].second] = 1;
  }
  const Shape shape = {Dim(static_cast<int64_t>(pairs_.size())),
                       Dim(static_cast<int64_t>(classes))};
  Tensor wins = Cast(Less(0, scores), x_.dtype());
  return Contract(wins, Reshape(Numbers(first), shape), "np,pk->nk") +
         Contract(1.0 - wins, Reshape(Numbers(second), shape), "np,pk->nk");
}

// Q of Wu, Lin and Weng's second method: [N, K, K] with r_ij the probability
// of i against j, Q_ii = Σ r_ji², Q_ij = -r_ji r_ij.
Tensor SvmClassifier::CouplingMatrix(Tensor scores) {
  constexpr double kSmallest = 1e-7;
  Tensor score = scores * Numbers(prob_a_) + Numbers(prob_b_);
  Tensor probability =
      Minimum(Maximum(Sigmoid(-score), kSmallest), 1 - kSmallest);
  // Probabilities, their complements, and 0 for the diagonal.
  const auto pairs = static_cast<int64_t>(pairs_.size());
  Tensor zero = Broadcast(probability.Like(0), {probability.dim(0), Dim(1)});
  Tensor all = Concat({probability, 1.0 - probability, zero}, 1);
  const int64_t classes = labels_.size();
  std::vector<int64_t> places(classes * classes, 2 * pairs);
  std::vector<int64_t> transposed = places;
  for (int64_t p = 0; p < pairs; ++p) {
    const auto [i, j] = pairs_[p];
    places[i * classes + j] = transposed[j * classes + i] = p;
    places[j * classes + i] = transposed[i * classes + j] = pairs + p;
  }
  const Shape square = {Dim(classes), Dim(classes)};
  Tensor r = Gather(all, Reshape(c_.Integers64(places), square), 1);
  Tensor back = Gather(all, Reshape(c_.Integers64(transposed), square), 1);
  Tensor diagonal = Reduce(r * r, "sum", {1}, true);
  Tensor row = IotaVector(c_.builder(), Dim(classes), DType::kI64);
  return Select(Equal(Unsqueeze(row, {1}), row), diagonal, -(r * back));
}

// Minimises pᵀQp over probabilities by cyclic descent; rows that are accurate
// enough stay as they are. Converges in a few sweeps: more than are here were
// not seen to change anything.
Tensor SvmClassifier::Probabilities(Tensor scores) {
  constexpr int kSweeps = 8;
  const int64_t classes = labels_.size();
  const double tolerance = 0.005 / static_cast<double>(classes);
  Tensor q = CouplingMatrix(scores);
  Tensor row = IotaVector(c_.builder(), Dim(classes), DType::kI64);
  Tensor identity = Cast(Equal(Unsqueeze(row, {1}), row), x_.dtype());
  // A step along class i adds a multiple of row i to (Qp, p).
  Tensor rows = Concat({q, Broadcast(identity, q.shape())}, 2);
  const auto column = [](Tensor x, int64_t i) {
    return SliceAxis(x, 1, Dim(i), Dim(1));
  };
  Tensor p = Broadcast(q.Like(1.0 / static_cast<double>(classes)),
                       {q.dim(0), Dim(classes)});
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    Tensor qp = Contract(q, p, "nij,nj->ni");
    Tensor pqp = Reduce(p * qp, "sum", {1}, true);
    Tensor error = Reduce(Absolute(qp - pqp), "maximum", {1}, true);
    Tensor state = Concat({qp, p}, 1);
    for (int64_t i = 0; i < classes; ++i) {
      Tensor direction = Squeeze(column(rows, i), {1});
      Tensor curvature = column(direction, i);
      Tensor slope = column(state, i);
      Tensor step = (pqp - slope) / curvature;
      Tensor sum = step + 1.0;
      pqp = (pqp + step * (step * curvature + slope * 2.0)) / (sum * sum);
      state = (state + step * direction) / sum;
    }
    Tensor next = SliceAxis(state, 1, Dim(classes), Dim(classes));
    p = Select(Less(error, tolerance), p, next);
  }
  return p;
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

#include "frontends/onnx/ml/scores.h"

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

constexpr std::pair<std::string_view, Transform> kNames[] = {
    {"NONE", Transform::kNone},
    {"SOFTMAX", Transform::kSoftmax},
    {"LOGISTIC", Transform::kLogistic},
    {"SOFTMAX_ZERO", Transform::kSoftmaxZero},
    {"PROBIT", Transform::kProbit},
};

// Returns √2 · erf⁻¹(2p - 1), with erf⁻¹ of Winitzki (a = 0.147).
Tensor Probit(Tensor p) {
  constexpr double kA = 0.147;
  Tensor x = p * 2.0 - 1.0;
  Tensor log = Log((1.0 - x) * (1.0 + x));
  Tensor v = 2 / (M_PI * kA) + log * 0.5;
  Tensor magnitude = Sqrt(Sqrt(v * v - log * (1 / kA)) - v);
  return Select(Less(x, 0), -magnitude, magnitude) * M_SQRT2;
}

// Returns the transform SOFTMAX_ZERO: the softmax over those scores of a row
// that are not 0. Scores of 0 stay (almost) 0.
Tensor SoftmaxZero(Tensor scores) {
  constexpr double kZero = 1e-7;
  Tensor largest = Reduce(scores, "maximum", {1}, true);
  Tensor exponentials = Exp(scores - largest);
  Tensor is_zero = LessEqual(Absolute(scores), kZero);
  Tensor sum =
      Reduce(Select(is_zero, scores.Like(0), exponentials), "sum", {1}, true);
  return Select(is_zero, scores * Exp(-largest), exponentials) / sum;
}

}  // namespace

Transform ReadTransform(NodeContext& c) {
  const std::string name = c.String("post_transform", "NONE");
  for (const auto& [text, transform] : kNames) {
    if (name == text) return transform;
  }
  c.FailInvalid(
      "attribute 'post_transform': expected NONE, SOFTMAX, LOGISTIC, "
      "SOFTMAX_ZERO or PROBIT, found '" +
      name + "'");
  return Transform::kNone;
}

Tensor PostTransform(Tensor scores, Transform transform) {
  const bool single = scores.dim(1) == Dim(1);
  if (transform == Transform::kProbit) return Probit(scores);
  if (single) return scores;
  switch (transform) {
    case Transform::kSoftmax:
      return Softmax(scores, 1);
    case Transform::kLogistic:
      return Sigmoid(scores);
    case Transform::kSoftmaxZero:
      return SoftmaxZero(scores);
    default:
      return scores;
  }
}

Tensor AddSecondClass(Tensor score, SecondClass rule, Transform transform) {
  if (transform == Transform::kProbit) {
    Tensor both = Probit(score);
    return Concat({both, both}, 1);
  }
  if (transform == Transform::kLogistic)
    return Concat({Sigmoid(-score), Sigmoid(score)}, 1);
  if (rule == SecondClass::kComplement) return Concat({1.0 - score, score}, 1);
  return Concat({-score, score}, 1);
}

}  // namespace ember::onnx

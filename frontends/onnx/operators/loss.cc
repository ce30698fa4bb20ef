// Imports training losses, without their gradients.
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

std::vector<int64_t> AllAxes(Tensor x) {
  std::vector<int64_t> axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// Returns the losses -scores[n, target[n, …], …], each times the weight of its
// class; ignored targets have a loss of 0. The attribute `reduction` says
// whether the losses are returned singly, as their sum, or as their weighted
// mean.
Tensor NegativeLogLikelihood(NodeContext& c, Tensor scores, Tensor target,
                             Tensor weights) {
  const std::string reduction = c.String("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean") {
    c.FailInvalid("attribute 'reduction': expected none, sum or mean, found '" +
                  reduction + "'");
    return scores;
  }
  Tensor classes = Cast(target, DType::kI64);
  Tensor counted;
  if (c.HasAttribute("ignore_index")) {
    const double ignored = static_cast<double>(c.Integer("ignore_index", 0));
    counted = NotEqual(classes, ignored);
    classes = Select(counted, classes, classes.Like(0));
  }
  Tensor picked = Apply("gather_elements", {scores, Unsqueeze(classes, {1})},
                        {{"axis", int64_t{1}}});
  Tensor loss = -Squeeze(picked, {1});
  Tensor weight = weights ? Gather(weights, classes, 0) : Tensor();
  if (counted) {
    Tensor zero = loss.Like(0);
    weight = Select(
        counted, weight ? weight : Broadcast(loss.Like(1), loss.shape()), zero);
  }
  if (weight) loss = loss * weight;
  if (reduction == "none") return loss;
  const std::vector<int64_t> axes = AllAxes(loss);
  if (reduction == "mean" && !weight) return Mean(loss, axes, false);
  Tensor sum = Reduce(loss, "sum", axes, false);
  return reduction == "sum" ? sum : sum / Reduce(weight, "sum", axes, false);
}

bool CheckTarget(NodeContext& c) {
  if (!c.CheckRank(0, 2)) return false;
  const int rank = c.Input(0).rank() - 1;
  return c.CheckRank(1, rank, rank);
}

void ImportNegativeLogLikelihoodLoss(NodeContext& c) {
  if (!CheckTarget(c)) return;
  c.SetOutput(0, NegativeLogLikelihood(c, c.Input(0), c.Input(1), c.Input(2)));
}

void ImportSoftmaxCrossEntropyLoss(NodeContext& c) {
  if (!CheckTarget(c)) return;
  Tensor scores = LogSoftmax(c.Input(0), 1);
  c.SetOutput(0, NegativeLogLikelihood(c, scores, c.Input(1), c.Input(2)));
  c.SetOutput(1, scores);
}

constexpr OperatorRow kRows[] = {
    {"NegativeLogLikelihoodLoss", 12, 2, 3, ImportNegativeLogLikelihoodLoss},
    {"SoftmaxCrossEntropyLoss", 12, 2, 3, ImportSoftmaxCrossEntropyLoss},
};

}  // namespace

std::span<const OperatorRow> LossOperators() { return kRows; }

}  // namespace ember::onnx

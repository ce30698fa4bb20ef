// Imports operators that are one step of an optimizer (domain
// ai.onnx.preview.training). Each operator updates any number of tensors. Its
// operands are R (learning rate), T (update count), all X (tensors), all G
// (gradients), then the states of all tensors, kind by kind. Its results are
// all new X, then the new states.
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/families.h"

namespace ember::onnx {
namespace {

constexpr char kDomain[] = "ai.onnx.preview.training";

// The update rule of an optimizer for one tensor x with gradient g and its
// states. Returns the new x, followed by the new states.
using Update =
    std::function<std::vector<Tensor>(Tensor x, Tensor g, const Tensor* state)>;

// Applies `update` to each tensor of the node. `states`: number of states per
// tensor.
void UpdateAll(NodeContext& c, int states, const Update& update) {
  const int kinds = 2 + states;
  const int count = (c.input_count() - 2) / kinds;
  if (c.input_count() - 2 != count * kinds || count == 0) {
    return c.FailInvalid("expected 2 inputs and " + std::to_string(kinds) +
                         " per tensor, found " +
                         std::to_string(c.input_count()));
  }
  for (int i = 2; i < c.input_count(); ++i) {
    if (!c.Input(i))
      return c.FailInvalid("input " + std::to_string(i) + " is missing");
  }
  for (int i = 0; i < count; ++i) {
    Tensor operands[4];
    for (int kind = 0; kind < kinds; ++kind)
      operands[kind] = c.Input(2 + kind * count + i);
    // The regularization norm_coefficient / 2 |x|² is part of the loss, so its
    // gradient is added to the given one.
    Tensor gradient =
        operands[0] * c.Float("norm_coefficient", 0) + operands[1];
    const std::vector<Tensor> results =
        update(operands[0], gradient, operands + 2);
    for (int kind = 0; kind <= states; ++kind)
      c.SetOutput(kind * count + i, results[kind]);
  }
}

// Returns the operand R (learning rate) or T (update count), a scalar or a
// tensor of one element, as a scalar of x's type.
Tensor ScalarLike(Tensor scalar, Tensor x) {
  return Cast(Reshape(scalar, {}), x.dtype());
}

void ImportAdagrad(NodeContext& c) {
  const double epsilon = c.Float("epsilon", 1e-6f);
  const double decay = c.Float("decay_factor", 0);
  UpdateAll(c, 1, [&](Tensor x, Tensor g, const Tensor* state) {
    Tensor rate =
        ScalarLike(c.Input(0), x) / (ScalarLike(c.Input(1), x) * decay + 1.0);
    Tensor squares = state[0] + g * g;
    return std::vector<Tensor>{x - rate * g / (Sqrt(squares) + epsilon),
                               squares};
  });
}

// Returns the learning rate of Adam, corrected for running averages that start
// at 0. Before the first update it is not corrected.
Tensor AdjustedRate(NodeContext& c, Tensor x, double alpha, double beta) {
  Tensor rate = ScalarLike(c.Input(0), x);
  Tensor steps = ScalarLike(c.Input(1), x);
  Tensor adjusted = rate * Sqrt(1.0 - Power(steps.Like(beta), steps)) /
                    (1.0 - Power(steps.Like(alpha), steps));
  return Select(Less(0, steps), adjusted, rate);
}

void ImportAdam(NodeContext& c) {
  const double alpha = c.Float("alpha", 0.9f);
  const double beta = c.Float("beta", 0.999f);
  const double epsilon = c.Float("epsilon", 1e-6f);
  const double post = c.Float("norm_coefficient_post", 0);
  UpdateAll(c, 2, [&](Tensor x, Tensor g, const Tensor* state) {
    Tensor average = state[0] * alpha + g * (1 - alpha);
    Tensor squares = state[1] * beta + g * g * (1 - beta);
    Tensor rate = AdjustedRate(c, x, alpha, beta);
    Tensor next = x - rate * average / (Sqrt(squares) + epsilon);
    return std::vector<Tensor>{next * (1 - post), average, squares};
  });
}

void ImportMomentum(NodeContext& c) {
  for (const char* name : {"alpha", "beta", "norm_coefficient", "mode"}) {
    if (!c.HasAttribute(name))
      return c.FailInvalid(std::string("attribute '") + name + "' is missing");
  }
  const double alpha = c.Float("alpha", 0);
  const double beta = c.Float("beta", 0);
  const std::string mode = c.String("mode", "");
  if (mode != "standard" && mode != "nesterov") {
    return c.FailInvalid(
        "attribute 'mode': expected standard or nesterov, found '" + mode +
        "'");
  }
  UpdateAll(c, 1, [&](Tensor x, Tensor g, const Tensor* state) {
    Tensor steps = ScalarLike(c.Input(1), x);
    Tensor share = Select(Less(0, steps), steps.Like(beta), steps.Like(1));
    Tensor average = state[0] * alpha + share * g;
    Tensor step = mode == "nesterov" ? g + average * alpha : average;
    return std::vector<Tensor>{x - ScalarLike(c.Input(0), x) * step, average};
  });
}

constexpr OperatorRow kRows[] = {
    {"Adagrad", 1, 5, kVariadic, ImportAdagrad, kDomain},
    {"Adam", 1, 6, kVariadic, ImportAdam, kDomain},
    {"Momentum", 1, 5, kVariadic, ImportMomentum, kDomain},
};

}  // namespace

std::span<const OperatorRow> TrainingOperators() { return kRows; }

}  // namespace ember::onnx

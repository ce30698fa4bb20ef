#include "frontends/ops/recurrent_layers.h"

#include <cstddef>

#include "frontends/ops/cells.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/functions.h"

namespace ember::ops {
namespace {

Tensor Transposed(const Tensor& matrix) { return Transpose(matrix, {1, 0}); }

// Returns the part of the sums of all gates, [batch, gates H], that belongs to
// gate number `index`, [batch, H].
Tensor Gate(const Tensor& gates, int index, const Dim& size) {
  return SliceAxis(gates, 1, Dim(index) * size, size);
}

// Returns x W_ih^T plus its bias, for any number of leading dims.
Tensor FromInput(const Tensor& x, const CellWeights& weights) {
  const Tensor y = MatMul(x, Transposed(weights.input));
  return weights.input_bias ? y + weights.input_bias : y;
}

States Step(CellKind kind, const Tensor& from_input, const States& states,
            const CellWeights& weights) {
  Tensor from_hidden = MatMul(states[0], Transposed(weights.hidden));
  if (weights.hidden_bias) from_hidden = from_hidden + weights.hidden_bias;
  if (kind == CellKind::kTanh) return {Tanh(from_input + from_hidden)};
  if (kind == CellKind::kRelu) return {Relu(from_input + from_hidden)};
  const Dim size = FloorDivide(from_input.dim(1), Dim(GatesOf(kind)));
  if (kind == CellKind::kGru) {
    const auto sum = [&](int i) {
      return Sigmoid(Gate(from_input, i, size) + Gate(from_hidden, i, size));
    };
    const auto product = [&](const Tensor&) {
      return Gate(from_hidden, 2, size);
    };
    return {GruStep({.update = sum(1),
                     .reset = sum(0),
                     .candidate = Gate(from_input, 2, size),
                     .product = product},
                    states[0])};
  }
  const Tensor gates = from_input + from_hidden;
  const auto gate = [&](int i) { return Sigmoid(Gate(gates, i, size)); };
  States next = LstmStep({.input = gate(0),
                          .forget = gate(1),
                          .candidate = Tanh(Gate(gates, 2, size)),
                          .output = [&](const Tensor&) { return gate(3); }},
                         states[1]);
  if (weights.projection)
    next[0] = MatMul(next[0], Transposed(weights.projection));
  return next;
}

// Runs one direction: returns the last states, then the outputs of all steps.
States RunDirection(CellKind kind, Tensor x, bool is_backward,
                    const States& initial, const CellWeights& weights) {
  if (is_backward) x = Reverse(x, 0);
  // FromInput multiplies the inputs of all steps by W in one product before the
  // loop.
  States results = RunSteps(
      FromInput(x, weights), initial, true,
      [&](const Capture& capture, Tensor, Tensor step, const States& before) {
        CellWeights inside;
        inside.hidden = capture(weights.hidden);
        if (weights.hidden_bias)
          inside.hidden_bias = capture(weights.hidden_bias);
        if (weights.projection) inside.projection = capture(weights.projection);
        States after = Step(kind, step, before, inside);
        after.push_back(after[0]);
        return after;
      });
  if (is_backward && !results.empty())
    results.back() = Reverse(results.back(), 0);
  return results;
}

}  // namespace

int GatesOf(CellKind kind) {
  if (kind == CellKind::kLstm) return 4;
  return kind == CellKind::kGru ? 3 : 1;
}

States RunCell(CellKind kind, const Tensor& x, const States& states,
               const CellWeights& weights) {
  return Step(kind, FromInput(x, weights), states, weights);
}

StackResults RunRecurrentLayers(CellKind kind, Tensor x, const States& initial,
                                std::span<const CellWeights> weights,
                                int directions) {
  std::vector<States> last(initial.size());
  for (size_t cell = 0; cell < weights.size();) {
    States outputs;
    for (int direction = 0; direction < directions; ++direction, ++cell) {
      States first;
      for (const Tensor& state : initial) {
        first.push_back(Squeeze(
            SliceAxis(state, 0, Dim(static_cast<int64_t>(cell)), Dim(1)), {0}));
      }
      const States results =
          RunDirection(kind, x, direction == 1, first, weights[cell]);
      if (results.size() != initial.size() + 1) return {};
      outputs.push_back(results.back());
      for (size_t i = 0; i < last.size(); ++i)
        last[i].push_back(Unsqueeze(results[i], {0}));
    }
    x = Concat(outputs, 2);
  }
  StackResults results{x, {}};
  for (const States& states : last) results.last.push_back(Concat(states, 0));
  return results;
}

}  // namespace ember::ops

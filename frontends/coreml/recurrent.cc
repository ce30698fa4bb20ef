#include "frontends/coreml/recurrent.h"

#include "frontends/ops/cells.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/functions.h"

namespace ember::coreml {
namespace {

using ops::Capture;
using ops::Dim;
using ops::States;
using ops::Tensor;

Tensor Limited(const Tensor& x, double limit) {
  return limit == 0 ? x : Clip(x, -limit, limit);
}

// Runs one step of a recurrent cell in the loop's body. The cell's weights are
// captured from the graph around the loop.
class Step {
 public:
  Step(const RecurrentCell& cell, const Capture& capture, Dim size)
      : cell_(cell), hidden_(capture(cell.hidden)), size_(std::move(size)) {
    if (cell.peephole) peephole_ = capture(cell.peephole);
  }

  // Returns the states after the step. from_input [batch, gates H]: product of
  // the step's input with the input weights.
  States Run(const Tensor& from_input, const States& before) const {
    if (cell_.kind == RecurrentCell::kGru)
      return {RunGru(from_input, before[0])};
    const Tensor sum = from_input + Product(before[0], hidden_);
    if (cell_.kind == RecurrentCell::kLstm) return RunLstm(sum, before[1]);
    return {Gate(sum, 0)};
  }

 private:
  static Tensor Product(const Tensor& state, const Tensor& weights) {
    return MatMul(state, Transpose(weights, {1, 0}));
  }
  Tensor Part(const Tensor& x, int axis, int index) const {
    return SliceAxis(x, axis, Dim(index) * size_, size_);
  }
  Tensor Gate(const Tensor& sum, size_t activation) const {
    return Activated(cell_.activations[activation],
                     Limited(sum, cell_.gate_limit));
  }

  Tensor RunGru(const Tensor& from_input, const Tensor& state) const {
    const auto gate = [&](int part) {
      return Gate(
          Part(from_input, 1, part) + Product(state, Part(hidden_, 0, part)),
          0);
    };
    const auto product = [&](const Tensor& of) {
      return Product(of, Part(hidden_, 0, 1));
    };
    return GruStep(
        {.update = gate(2),
         .reset = gate(0),
         .candidate = Part(from_input, 1, 1),
         .product = product,
         .reset_order = ops::GruReset::kBeforeProduct,
         .activation = [&](const Tensor& sum) { return Gate(sum, 1); }},
        state);
  }

  States RunLstm(const Tensor& sum, const Tensor& cell) const {
    const auto gate = [&](int part, const Tensor& at) {
      const Tensor gate_sum = Part(sum, 1, part);
      return Gate(
          peephole_ ? gate_sum + Part(peephole_, 0, part) * at : gate_sum, 0);
    };
    const Tensor input = gate(0, cell);
    const Tensor forget = cell_.is_coupled ? 1.0 - input : gate(1, cell);
    const auto activation = [&](const Tensor& next) {
      return Activated(cell_.activations[2], next);
    };
    return LstmStep(
        {.input = input,
         .forget = forget,
         .candidate = Gate(Part(sum, 1, 3), 1),
         .output = [&](const Tensor& next) { return gate(2, next); },
         .activation = activation,
         .cell_limit = cell_.cell_limit},
        cell);
  }

  const RecurrentCell& cell_;
  Tensor hidden_, peephole_;
  Dim size_;
};

}  // namespace

Tensor Activated(const Activation& activation, const Tensor& x) {
  switch (activation.kind) {
    case kLinear:
      return Linear(x, activation.alpha, activation.beta);
    case kRelu:
      return Relu(x);
    case kTanh:
      return Tanh(x);
    case kScaledTanh:
      return ScaledTanh(x, activation.alpha, activation.beta);
    case kSigmoid:
      return Sigmoid(x);
    case kHardSigmoid:
      return HardSigmoid(x, activation.alpha, activation.beta);
    default:
      return {};
  }
}

RecurrentResults RunRecurrent(const RecurrentCell& cell, Tensor x,
                              const States& initial, bool is_backward,
                              bool keeps_sequence) {
  if (is_backward) x = ops::Reverse(x, 0);
  // Multiplies the inputs of all steps by the input weights in one product.
  Tensor from_input = MatMul(x, Transpose(cell.input, {1, 0}));
  if (cell.bias) from_input = from_input + cell.bias;
  if (!x.builder().status().ok()) return {};
  const Dim size = cell.hidden.dim(1);
  const States results = RunSteps(
      from_input, initial, true,
      [&](const Capture& capture, Tensor, Tensor input, const States& before) {
        States after = Step(cell, capture, size).Run(input, before);
        after.push_back(after[0]);
        return after;
      });
  if (results.size() != initial.size() + 1) return {};
  return {keeps_sequence ? results.back() : Unsqueeze(results[0], {0}),
          {results.begin(), results.end() - 1}};
}

RecurrentResults RunBothWays(const RecurrentCell& forward,
                             const RecurrentCell& backward, Tensor x,
                             const States& initial, bool keeps_sequence) {
  const auto middle = initial.begin() + forward.states();
  RecurrentResults results = RunRecurrent(forward, x, {initial.begin(), middle},
                                          false, keeps_sequence);
  RecurrentResults back =
      RunRecurrent(backward, x, {middle, initial.end()}, true, keeps_sequence);
  if (!results.output || !back.output) return {};
  if (keeps_sequence) back.output = ops::Reverse(back.output, 0);
  results.output = ops::Concat({results.output, back.output}, 2);
  results.last.insert(results.last.end(), back.last.begin(), back.last.end());
  return results;
}

}  // namespace ember::coreml

#include "frontends/coreml/recurrent.h"

#include "frontends/ops/compositions.h"

namespace ember::coreml {
namespace {

using ops::Capture;
using ops::Dim;
using ops::States;
using ops::Tensor;

Tensor Limited(const Tensor& x, double limit) {
  return limit == 0 ? x : Maximum(Minimum(x, limit), -limit);
}

// A cell with its operands captured into the graph in which a step runs.
class Step {
 public:
  Step(const RecurrentCell& cell, const Capture& capture, Dim size)
      : cell_(cell), hidden_(capture(cell.hidden)), size_(std::move(size)) {
    if (cell.peephole) peephole_ = capture(cell.peephole);
  }

  // Returns the states after the step. from_input: [batch, gates H].
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
    const auto sum = [&](int gate, const Tensor& of) {
      return Part(from_input, 1, gate) + Product(of, Part(hidden_, 0, gate));
    };
    const Tensor reset = Gate(sum(0, state), 0);
    const Tensor update = Gate(sum(2, state), 0);
    const Tensor candidate = Gate(sum(1, state * reset), 1);
    return (1.0 - update) * candidate + update * state;
  }

  States RunLstm(const Tensor& sum, const Tensor& cell) const {
    const auto peeking = [&](int gate, const Tensor& at) {
      const Tensor part = Part(sum, 1, gate);
      return peephole_ ? part + Part(peephole_, 0, gate) * at : part;
    };
    const Tensor input = Gate(peeking(0, cell), 0);
    const Tensor forget =
        cell_.is_coupled ? 1.0 - input : Gate(peeking(1, cell), 0);
    const Tensor candidate = Gate(Part(sum, 1, 3), 1);
    const Tensor next =
        Limited(cell * forget + input * candidate, cell_.cell_limit);
    const Tensor output = Gate(peeking(2, next), 0);
    return {output * Activated(cell_.activations[2], next), next};
  }

  const RecurrentCell& cell_;
  Tensor hidden_, peephole_;
  Dim size_;
};

}  // namespace

Tensor Activated(const Activation& activation, const Tensor& x) {
  switch (activation.kind) {
    case kLinear:
      return x * activation.alpha + activation.beta;
    case kRelu:
      return ops::Relu(x);
    case kTanh:
      return Tanh(x);
    case kScaledTanh:
      return Tanh(x * activation.beta) * activation.alpha;
    case kSigmoid:
      return ops::Sigmoid(x);
    case kHardSigmoid:
      return Minimum(Maximum(x * activation.alpha + activation.beta, 0), 1);
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

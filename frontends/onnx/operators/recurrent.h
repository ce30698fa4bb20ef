// Common parts of RNN, GRU and LSTM: activation functions, operands by
// direction, the loop over time, and the results. A layer defines only the
// computation of a step:
//
//   ImportRecurrentLayer(c, {.gates = 1, .states = 1, .activations = {"Tanh"}},
//                        [](const Direction& d) -> Cell {
//     return [&d](const Capture& capture, Tensor input, const States& before) {
//       const Tensor product = Multiply(before[0], d.recurrence, capture);
//       return States{d.activations[0](input + product)};
//     };
//   });
//
// The product with W is computed for all steps before the loop. A step computes
// only the part that depends on the step before it. Narrow floats are computed
// in f32. Errors stay in the node (frontends/onnx/node/context.h).
#ifndef EMBER_FRONTENDS_ONNX_OPERATORS_RECURRENT_H_
#define EMBER_FRONTENDS_ONNX_OPERATORS_RECURRENT_H_

#include <functional>
#include <string>
#include <vector>

#include "frontends/onnx/node/context.h"
#include "frontends/ops/recurrent.h"

namespace ember::onnx {

using Activation = std::function<Tensor(Tensor)>;

// Returns the functions of all directions, in order: those of the attributes
// `activations`, `activation_alpha` and `activation_beta`, else `defaults` for
// each direction. The attribute `clip` bounds the input of each function, as
// the specification says, including that of an LSTM's h, which ONNX Runtime
// does not bound.
std::vector<Activation> ReadActivations(
    NodeContext& c, const std::vector<std::string>& defaults, int directions);

// A matrix by which each step multiplies. A quantized one has a scale (for the
// whole matrix or per column); the other operand is then quantized at run time.
struct Matrix {
  Tensor values;  // [rows, gates * hidden]; i32 if quantized
  Tensor scale;   // absent if not quantized
};

// One direction of a layer: operands without their dim of directions, in the
// type of the computation.
struct Direction {
  bool reverse = false;
  Dim hidden;
  Matrix weights;               // multiplied by the input
  Matrix recurrence;            // multiplied by the hidden state
  Tensor input_bias;            // [gates * hidden]; absent without a bias
  Tensor recurrence_bias;       // [gates * hidden]; added in the step
  Tensor peepholes;             // [3 * hidden]; may be absent
  std::vector<Tensor> initial;  // initial states, [batch, hidden]
  std::vector<Activation> activations;
};

using ops::Capture;
// States are [batch, hidden]. The first one is the output of the step.
using ops::States;
// Computes a step. input: [batch, gates * hidden], the step's product with W
// plus its bias.
using Cell = std::function<States(const Capture& capture, Tensor input,
                                  const States& before)>;

// Multiplies x [batch, rows] by the matrix.
Tensor Multiply(Tensor x, const Matrix& matrix, const Capture& capture);

struct LayerSpec {
  int gates = 0;
  int states = 0;
  std::vector<std::string> activations;  // functions of one direction
  // If true, the sum of both biases is added before the loop; otherwise the
  // step adds the second one.
  bool join_biases = true;
  // If true, weights are 8-bit integers, [directions, rows, gates * hidden],
  // with scales and zero points as further operands.
  bool quantized = false;
};

// Makes the step of a direction, which outlives it.
using MakeCell = std::function<Cell(const Direction& direction)>;

void ImportRecurrentLayer(NodeContext& c, const LayerSpec& spec,
                          const MakeCell& make_cell);

// Returns the columns from gate * hidden on, count * hidden of them, of the
// last dim.
Tensor Gate(Tensor gates, int64_t gate, const Dim& hidden, int64_t count = 1);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_OPERATORS_RECURRENT_H_

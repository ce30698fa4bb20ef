// What RNN, GRU and LSTM share: activation functions, operands by direction,
// the loop over time, and the results. A layer says what one step computes:
//
//   ImportRecurrentLayer(c, {.gates = 1, .states = 1, .activations = {"Tanh"}},
//                        [](const Direction& d) -> Cell {
//     return [&d](const Capture& capture, Tensor input, const States& before) {
//       const Tensor product = Multiply(before[0], d.recurrence, capture);
//       return States{d.activations[0](input + product)};
//     };
//   });
//
// The product with W, of all steps at once, lies before the loop; a step has
// what depends on the one before it. Narrow floats are computed in f32. Errors
// stick to the node (node_context.h).
#ifndef EMBER_FRONTENDS_ONNX_RECURRENT_H_
#define EMBER_FRONTENDS_ONNX_RECURRENT_H_

#include <functional>
#include <string>
#include <vector>

#include "frontends/onnx/node_context.h"
#include "frontends/ops/recurrent.h"

namespace ember::onnx {

using Activation = std::function<Tensor(Tensor)>;

// The functions of all directions, in order: those of the attributes
// `activations`, `activation_alpha` and `activation_beta`, else `defaults` in
// each direction. The attribute `clip` bounds what goes into each of them, as
// the specification has it: also into h of an LSTM, which ONNX Runtime leaves
// out.
std::vector<Activation> ReadActivations(
    NodeContext& c, const std::vector<std::string>& defaults, int directions);

// A matrix that steps are multiplied with. Quantized ones have a scale (of all
// or per column); what they are multiplied with is quantized when run.
struct Matrix {
  Tensor values;  // [rows, gates * hidden]; i32 if quantized
  Tensor scale;   // absent if not quantized
};

// One direction of a layer: operands without their dim of directions, in the
// type that is computed in.
struct Direction {
  bool reverse = false;
  Dim hidden;
  Matrix weights;               // of the input
  Matrix recurrence;            // of the hidden state
  Tensor input_bias;            // [gates * hidden]; absent without a bias
  Tensor recurrence_bias;       // the same; it is added by the step
  Tensor peepholes;             // [3 * hidden]; may be absent
  std::vector<Tensor> initial;  // the states, [batch, hidden]
  std::vector<Activation> activations;
};

using ops::Capture;
// [batch, hidden] each; the first is the output of the step.
using ops::States;
// input: [batch, gates * hidden], the step's product with W and its bias.
using Cell = std::function<States(const Capture& capture, Tensor input,
                                  const States& before)>;

// x [batch, rows] times the matrix.
Tensor Multiply(Tensor x, const Matrix& matrix, const Capture& capture);

struct LayerSpec {
  int gates = 0;
  int states = 0;
  std::vector<std::string> activations;  // of one direction
  // The sum of both biases is added before the loop, not one of them in it.
  bool join_biases = true;
  // Weights are 8-bit integers, [directions, rows, gates * hidden], with scales
  // and zero points as further operands.
  bool quantized = false;
};

// The step of a direction, which outlives it.
using MakeCell = std::function<Cell(const Direction& direction)>;

void ImportRecurrentLayer(NodeContext& c, const LayerSpec& spec,
                          const MakeCell& make_cell);

// Columns gate * hidden … of the last dim.
Tensor Gate(Tensor gates, int64_t gate, const Dim& hidden, int64_t count = 1);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_RECURRENT_H_

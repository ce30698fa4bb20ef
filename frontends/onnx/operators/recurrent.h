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

// A matrix by which each step multiplies. A quantized matrix has a scale (for
// the whole matrix or per column); the vector that it multiplies is then
// quantized at run time.
struct Matrix {
  // Elements of the matrix, [rows, gates * hidden]; i32 if it is quantized.
  Tensor values;
  Tensor scale;  // Scale of a quantized matrix; absent otherwise.
};

// One direction of a layer: operands without their dim of directions, in the
// type of the computation.
struct Direction {
  bool reverse = false;
  Dim hidden;
  // The weights W, by which the input of the step is multiplied.
  Matrix weights;
  // The recurrence weights R, by which the hidden state is multiplied.
  Matrix recurrence;
  // Bias of the product with W, [gates * hidden]; absent if there is none.
  Tensor input_bias;
  // Bias of the product with R, [gates * hidden], which each step adds.
  Tensor recurrence_bias;
  // Peephole weights of an LSTM, [3 * hidden]; may be absent.
  Tensor peepholes;
  // One tensor [batch, hidden] for each state of the cell.
  std::vector<Tensor> initial;
  std::vector<Activation> activations;
};

using ops::Capture;
// The states of a recurrent cell (h, and c for an LSTM), [batch, hidden] each.
// The first one is also the output of the step.
using ops::States;
// Computes a step. input: [batch, gates * hidden], the step's product with W
// plus its bias.
using Cell = std::function<States(const Capture& capture, Tensor input,
                                  const States& before)>;

// Returns the product of x [batch, rows] and the matrix.
Tensor Multiply(Tensor x, const Matrix& matrix, const Capture& capture);

struct LayerSpec {
  int gates = 0;
  int states = 0;
  // Names of the activation functions of a direction, if the node does not
  // state any.
  std::vector<std::string> activations;
  // If true, the sum of the two biases (of W and of R) is added before the
  // loop; otherwise each step adds the bias of R.
  bool join_biases = true;
  // If true, weights are 8-bit integers, [directions, rows, gates * hidden],
  // with scales and zero points as further operands.
  bool quantized = false;
};

// Returns the function that computes a step of a direction. The function may
// refer to `direction`, which lives longer.
using MakeCell = std::function<Cell(const Direction& direction)>;

void ImportRecurrentLayer(NodeContext& c, const LayerSpec& spec,
                          const MakeCell& make_cell);

// Returns `count` gates of the last dim: count * hidden columns, from column
// gate * hidden on.
Tensor Gate(Tensor gates, int64_t gate, const Dim& hidden, int64_t count = 1);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_OPERATORS_RECURRENT_H_

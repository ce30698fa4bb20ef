// Recurrent layers with Core ML's semantics, for neural networks and ML
// programs.
//
//   RecurrentCell cell{.kind = RecurrentCell::kGru, .input = w, .hidden = r,
//                      .activations = {{kSigmoid}, {kTanh}}};
//   RecurrentResults y = RunRecurrent(cell, x, {h0}, false, true);
//   y.output;    // [steps, batch, H]
//   y.last[0];   // [batch, H]
//
// An LSTM limits its cell before the output gate and the output read the cell.
// A GRU applies the reset gate to the state before the state is multiplied by
// the weights. Callers check that operands have the ranks that are given here.
// The graph builder keeps errors.
#ifndef EMBER_FRONTENDS_COREML_RECURRENT_H_
#define EMBER_FRONTENDS_COREML_RECURRENT_H_

#include <cstdint>
#include <vector>

#include "frontends/ops/recurrent.h"
#include "frontends/ops/tensor.h"

namespace ember::coreml {

// The kinds of activations, by the number of their field in ActivationParams.
enum ActivationKind : uint64_t {
  kLinear = 5,
  kRelu = 10,
  kTanh = 30,
  kScaledTanh = 31,
  kSigmoid = 40,
  kHardSigmoid = 41,
};
struct Activation {
  uint64_t kind = kLinear;
  double alpha = 1, beta = 0;
};
// Returns the activation of each element of x. The result is absent for kinds
// that ActivationKind does not list.
ops::Tensor Activated(const Activation& activation, const ops::Tensor& x);

struct RecurrentCell {
  enum Kind : uint8_t { kSimple, kGru, kLstm };
  Kind kind = kSimple;
  // An LSTM's gates are input, forget, output and candidate; those of a GRU are
  // reset, candidate and update.
  // Weights of the step's input [gates H, in] and of the state [gates H, H].
  ops::Tensor input, hidden;
  ops::Tensor bias;  // Bias of the gates, [gates H]; or absent.
  // Peephole weights, [3 H], by which the input, forget and output gates also
  // read the cell; or absent.
  ops::Tensor peephole;
  // Activations of the gates, the candidate, and an LSTM's cell; a simple cell
  // has one.
  std::vector<Activation> activations;
  // True if the forget gate is 1 - input gate.
  bool is_coupled = false;
  // Largest magnitudes of the gates' sums before activation and of an LSTM's
  // cell; 0 means no limit.
  double gate_limit = 0, cell_limit = 0;

  int gates() const { return kind == kSimple ? 1 : kind == kGru ? 3 : 4; }
  int states() const { return kind == kLstm ? 2 : 1; }
};

struct RecurrentResults {
  // Outputs of all steps, [steps, batch, H], or of the last step, [1, batch,
  // H].
  ops::Tensor output;
  // Final states, [batch, H] each: the output h, and the cell c of an LSTM.
  ops::States last;
};

// x: [steps, batch, in]. Backward, the steps run from the last to the first,
// and so do the outputs. Results are absent after an error.
RecurrentResults RunRecurrent(const RecurrentCell& cell, ops::Tensor x,
                              const ops::States& initial, bool is_backward,
                              bool keeps_sequence);

// Runs both directions: outputs [steps, batch, 2 H], where both outputs of a
// step are concatenated. The states are the forward cell's, then the backward
// one's.
RecurrentResults RunBothWays(const RecurrentCell& forward,
                             const RecurrentCell& backward, ops::Tensor x,
                             const ops::States& initial, bool keeps_sequence);

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_RECURRENT_H_

// Recurrent layers as Core ML has them, in neural networks and in ML programs.
//
//   RecurrentCell cell{.kind = RecurrentCell::kGru, .input = w, .hidden = r,
//                      .activations = {{kSigmoid}, {kTanh}}};
//   RecurrentResults y = RunRecurrent(cell, x, {h0}, false, true);
//   y.output;    // [steps, batch, H]
//   y.last[0];   // [batch, H]
//
// An LSTM limits its cell before the output gate and what comes out see it; a
// GRU resets the state before its product. Operands have the ranks that are
// said here, which callers check; errors stick to the graph builder.
#ifndef EMBER_FRONTENDS_COREML_RECURRENT_H_
#define EMBER_FRONTENDS_COREML_RECURRENT_H_

#include <cstdint>
#include <vector>

#include "frontends/ops/recurrent.h"
#include "frontends/ops/tensor.h"

namespace ember::coreml {

// Numbers of ActivationParams' fields.
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
// Absent for other kinds than those.
ops::Tensor Activated(const Activation& activation, const ops::Tensor& x);

struct RecurrentCell {
  enum Kind : uint8_t { kSimple, kGru, kLstm };
  Kind kind = kSimple;
  // Gates of an LSTM are input, forget, output and candidate; those of a GRU
  // reset, candidate and update.
  ops::Tensor input, hidden;  // [gates H, in], [gates H, H]
  ops::Tensor bias;           // [gates H], or absent
  ops::Tensor peephole;       // [3 H]: input, forget, output; or absent
  // Of the gates, the candidate, and an LSTM's cell; a simple one has one.
  std::vector<Activation> activations;
  // The forget gate is what the input gate leaves.
  bool is_coupled = false;
  // Largest magnitudes of what gates are activations of, and of the cell; 0:
  // any.
  double gate_limit = 0, cell_limit = 0;

  int gates() const { return kind == kSimple ? 1 : kind == kGru ? 3 : 4; }
  int states() const { return kind == kLstm ? 2 : 1; }
};

struct RecurrentResults {
  ops::Tensor output;  // [steps, batch, H], or [1, batch, H] of the last step
  ops::States last;    // h, and c of an LSTM: [batch, H]
};

// x: [steps, batch, in]. Backward, the last step is the first, and the first
// output is that of the last step. Results are absent after an error.
RecurrentResults RunRecurrent(const RecurrentCell& cell, ops::Tensor x,
                              const ops::States& initial, bool is_backward,
                              bool keeps_sequence);

// Both ways, side by side: [steps, batch, 2 H], where outputs of one step stand
// together; states of the forward cell, then those of the backward one.
RecurrentResults RunBothWays(const RecurrentCell& forward,
                             const RecurrentCell& backward, ops::Tensor x,
                             const ops::States& initial, bool keeps_sequence);

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_RECURRENT_H_

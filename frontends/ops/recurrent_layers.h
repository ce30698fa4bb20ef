// Stacks of recurrent layers as cuDNN defines them and, following it, PyTorch's
// lstm, gru and rnn, and MXNet's RNN. The gates of an LSTM are input, forget,
// candidate and output; those of a GRU are reset, update and candidate, where
// reset is applied after the product with the state.
//
//   // weights of layer 0 forward, layer 0 backward, layer 1 forward, …
//   StackResults results = RunRecurrentLayers(
//       CellKind::kLstm, x, {h0, c0}, weights, /*directions=*/2);
//   results.output;    // [steps, batch, 2 H]
//   results.last[1];   // [layers * 2, batch, H]: the last c
//
// Callers check the ranks of operands; errors in extents stay in the graph
// builder.
#ifndef EMBER_FRONTENDS_OPS_RECURRENT_LAYERS_H_
#define EMBER_FRONTENDS_OPS_RECURRENT_LAYERS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "frontends/ops/recurrent.h"
#include "frontends/ops/tensor.h"

namespace ember::ops {

enum class CellKind : uint8_t { kTanh, kRelu, kLstm, kGru };

int GatesOf(CellKind kind);
// Number of states: h, and c for an LSTM.
inline int StatesOf(CellKind kind) { return kind == CellKind::kLstm ? 2 : 1; }

// The weights of one direction of one layer; biases may be absent.
struct CellWeights {
  // `input`: weights of the layer's input, [gates H, in]. `hidden`: weights of
  // the state h, [gates H, H], or [gates H, P] for a projected LSTM.
  Tensor input, hidden;
  Tensor input_bias, hidden_bias;  // [gates H]
  // Projection of h, [P, H]. Set only for a projected LSTM.
  Tensor projection;
};

// Returns the states after one step of a cell. x: [batch, in]; states: [batch,
// H] each, except that h of a projected LSTM is [batch, P].
States RunCell(CellKind kind, const Tensor& x, const States& states,
               const CellWeights& weights);

struct StackResults {
  // Outputs of the last layer, [steps, batch, directions H]. The outputs of a
  // backward direction are in the order of the steps, too.
  Tensor output;
  // The states after the last step, [layers * directions, batch, H] each.
  States last;
};

// Runs a stack of layers over all steps. x: [steps, batch, in]; initial: the
// initial states, [layers * directions, batch, H] each; weights: `directions`
// entries per layer. Results are absent after an error.
StackResults RunRecurrentLayers(CellKind kind, Tensor x, const States& initial,
                                std::span<const CellWeights> weights,
                                int directions);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_RECURRENT_LAYERS_H_

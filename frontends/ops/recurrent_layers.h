// Stacks of recurrent layers as cuDNN has them, and after it PyTorch's lstm,
// gru and rnn, and MXNet's RNN: gates of an LSTM are input, forget, candidate
// and output; those of a GRU reset, update and candidate, where reset is
// applied behind the product with the state.
//
//   // weights of layer 0 forward, layer 0 backward, layer 1 forward, …
//   StackResults results = RunRecurrentLayers(
//       CellKind::kLstm, x, {h0, c0}, weights, /*directions=*/2);
//   results.output;    // [steps, batch, 2 H]
//   results.last[1];   // [layers * 2, batch, H]: the last c
//
// Operands have these ranks, which callers check; errors of extents stick to
// the graph builder.
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
// Of h, and c of an LSTM.
inline int StatesOf(CellKind kind) { return kind == CellKind::kLstm ? 2 : 1; }

// Of one direction of one layer; biases may be absent.
struct CellWeights {
  Tensor input, hidden;            // [gates H, in], [gates H, H or P]
  Tensor input_bias, hidden_bias;  // [gates H]
  Tensor projection;               // [P, H], of an LSTM that has one
};

// One step. x: [batch, in]; states: [batch, H], h of a projected LSTM [batch,
// P].
States RunCell(CellKind kind, const Tensor& x, const States& states,
               const CellWeights& weights);

struct StackResults {
  Tensor output;  // [steps, batch, directions H]; of backward layers in the
                  // order of the steps, too
  States last;    // of each state: [layers directions, batch, H]
};

// x: [steps, batch, in]; initial: each state, [layers directions, batch, H].
// weights: directions of them for each layer. Results are absent after an
// error.
StackResults RunRecurrentLayers(CellKind kind, Tensor x, const States& initial,
                                std::span<const CellWeights> weights,
                                int directions);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_RECURRENT_LAYERS_H_

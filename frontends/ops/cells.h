// The definitions of recurrent cells: how gates make the next state.
//
//   // gates after their activations, [batch, H] each
//   States after = LstmStep({.input = i, .forget = f, .candidate = g,
//                            .output = [&](Tensor) { return o; }},
//                           cell);                   // {h, c}
//   Tensor h = GruStep({.update = z, .reset = r, .candidate = from_input,
//                       .product = [&](Tensor h) { return MatMul(h, w); }},
//                      before);
//
// Formats differ in the order of gates, in biases and in peepholes: callers
// compute the gates. A plain cell is activation(from_input + product) and needs
// no function. Sources: Hochreiter and Schmidhuber 1997, Gers et al. 2000
// (forget gate), 2002 (peepholes); Cho et al. 2014 (reset before the product),
// cuDNN (reset after the product). Errors stay in the graph builder.
#ifndef EMBER_FRONTENDS_OPS_CELLS_H_
#define EMBER_FRONTENDS_OPS_CELLS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "frontends/ops/recurrent.h"
#include "frontends/ops/tensor.h"

namespace ember::ops {

using CellFunction = std::function<Tensor(const Tensor&)>;

struct LstmGates {
  Tensor input, forget, candidate;
  // Returns the output gate. Its operand is the next cell, which a peephole
  // reads.
  CellFunction output;
  // The function that is applied to the next cell to make the output h.
  CellFunction activation = [](const Tensor& cell) { return Tanh(cell); };
  // Bound of the next cell's magnitude; 0 means no bound.
  double cell_limit = 0;
};

// Returns h = output activation(c) and c = forget cell + input candidate.
States LstmStep(const LstmGates& gates, const Tensor& cell);

enum class GruReset : uint8_t { kBeforeProduct, kAfterProduct };

struct GruGates {
  Tensor update, reset;
  // The part of the candidate's sum that comes from the input of the step.
  Tensor candidate;
  // Returns the product of a state with the recurrent weights of the candidate.
  // With kAfterProduct the product includes the bias of these weights.
  CellFunction product;
  GruReset reset_order = GruReset::kAfterProduct;
  // The activation that makes the candidate of its sum.
  CellFunction activation = [](const Tensor& sum) { return Tanh(sum); };
};

// Returns g + update (h - g), where g is the candidate and h the state before.
Tensor GruStep(const GruGates& gates, const Tensor& before);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_CELLS_H_

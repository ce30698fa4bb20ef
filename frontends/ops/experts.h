// The sum over the experts of a mixture (Shazeer et al., "Outrageously Large
// Neural Networks", 2017) for tokens whose router has chosen some experts.
//
//   // Each expert is one linear layer: w[experts, results, operands].
//   Tensor y = SumOfExperts({.x = tokens, .gates = gates, .weights = {w}},
//                           [](Tensor x, std::span<const Tensor> weights) {
//                             return Contract(x, weights[0], "nk,mk->nm");
//                           });
//
// The experts are a loop: each iteration gathers the tokens of one expert, so
// that only the chosen experts cost work. An expert without tokens costs
// nothing.
//
// Errors stay in the graph builder (frontends/ops/tensor.h). Does not own; not
// thread-safe.
#ifndef EMBER_FRONTENDS_OPS_EXPERTS_H_
#define EMBER_FRONTENDS_OPS_EXPERTS_H_

#include <functional>
#include <span>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

struct ExpertMixture {
  Tensor x;  // the tokens, [tokens, width]
  // Weight of each expert for each token, [experts, tokens]; 0 where the expert
  // is not chosen.
  Tensor gates;
  // The weights of all experts, with the experts as the first dim. An absent
  // tensor stays absent.
  std::vector<Tensor> weights;
};

// Returns the results [rows, width] of one expert for some of the tokens, x
// [rows, width]. `weights` are those of the mixture for this expert, without
// the first dim. It may be called several times, and must do the same each
// time.
using ExpertBuilder =
    std::function<Tensor(Tensor x, std::span<const Tensor> weights)>;

// Returns the sum of the experts' results times their gates, [tokens, width],
// in the type of x.
Tensor SumOfExperts(const ExpertMixture& mixture, const ExpertBuilder& expert);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_EXPERTS_H_

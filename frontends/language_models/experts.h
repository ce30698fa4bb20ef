// A mixture of experts (Shazeer et al., 2017), with the tensors of GGUF:
// ffn_gate_inp (the router), ffn_gate_exps, ffn_up_exps, ffn_down_exps, and for
// shared experts ffn_*_shexp with ffn_gate_inp_shexp.
//
//   Tensor y = Experts(c, x);
#ifndef EMBER_FRONTENDS_LANGUAGE_MODELS_EXPERTS_H_
#define EMBER_FRONTENDS_LANGUAGE_MODELS_EXPERTS_H_

#include "frontends/language_models/layer_context.h"

namespace ember::language_models {

// Returns the sum of the chosen experts' results for x[batch, sequence, width].
Tensor Experts(const LayerContext& c, Tensor x);

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_EXPERTS_H_

#include "frontends/language_models/experts.h"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "frontends/language_models/packed_product.h"
#include "frontends/ops/experts.h"
#include "frontends/ops/functions.h"

namespace ember::language_models {
namespace {

using ops::Unsqueeze;

// The three matrices of the feed-forward layer, for all experts (with a dim for
// the expert in front) or for one expert.
struct ExpertWeights {
  Weight gate, up, down;
  std::array<Weight*, 3> all() { return {&gate, &up, &down}; }
};

// Returns the weights by which the results of each token's best experts are
// multiplied, [experts, tokens]; 0 for other experts.
Tensor Gates(const LayerContext& c, Tensor x) {
  const ModelOptions& o = c.options;
  Tensor scores =
      ops::Softmax(c.Linear(x, "ffn_gate_inp", o.experts, o.width), 1);
  const std::vector<Tensor> best =
      ops::ApplyAll("top_k", {scores},
                    {{"axis", int64_t{1}},
                     {"k", Shape{Dim(o.used_experts)}},
                     {"largest", int64_t{1}}});
  if (!c.ok()) return scores;
  Tensor chosen = best[0];
  if (o.normalizes_experts)
    chosen = chosen / ops::Reduce(chosen, "sum", {1}, true);
  Tensor number = ops::AlongAxis(
      ops::IotaVector(c.builder(), Dim(o.experts), DType::kI64), 0, 3);
  Tensor is_expert = ops::Equal(Unsqueeze(best[1], {0}), number);
  return ops::Reduce(
      ops::Select(is_expert, Unsqueeze(chosen, {0}), chosen.Like(0)), "sum",
      {2}, false);
}

// Returns the sum of the chosen experts' results for x[tokens, width].
Tensor ChosenExperts(const LayerContext& c, ExpertWeights weights, Tensor x) {
  ops::ExpertMixture mixture{.x = x, .gates = Gates(c, x)};
  for (const Weight* weight : weights.all())
    mixture.weights.push_back(weight->packed);
  const auto expert = [&](Tensor tokens, std::span<const Tensor> packed) {
    for (size_t i = 0; i < packed.size(); ++i)
      weights.all()[i]->packed = packed[i];
    return TimesRows(c.Activate(TimesRows(tokens, weights.gate)) *
                         TimesRows(tokens, weights.up),
                     weights.down);
  };
  return ops::SumOfExperts(mixture, expert);
}

// Returns the result of the experts that see all tokens, or an absent tensor.
Tensor SharedExperts(const LayerContext& c, Tensor x) {
  if (!c.tensors.Has(c.Name("ffn_down_shexp.weight"))) return {};
  const int64_t width = c.options.width;
  const Weight down =
      c.tensors.Required(c.Name("ffn_down_shexp.weight"), {width, kAnyExtent});
  if (!c.ok()) return x;
  const int64_t inner = down.dim(1).AsConstant().value_or(kAnyExtent);
  Tensor h = c.Activate(c.Linear(x, "ffn_gate_shexp", inner, width)) *
             c.Linear(x, "ffn_up_shexp", inner, width);
  Tensor y = c.Linear(h, "ffn_down_shexp", width, inner);
  const std::string gate = c.Name("ffn_gate_inp_shexp.weight");
  if (!c.tensors.Has(gate)) return y;
  const Weight router = c.tensors.Required(gate, {width});
  Tensor score = ops::Reduce(x * router.Values(), "sum", {1}, true);
  return y * ops::Sigmoid(score);
}

ExpertWeights ReadWeights(const LayerContext& c) {
  const int64_t experts = c.options.experts;
  const int64_t width = c.options.width;
  ExpertWeights w;
  w.down = c.tensors.Required(c.Name("ffn_down_exps.weight"),
                              {experts, width, kAnyExtent});
  if (!c.ok()) return w;
  const int64_t inner = w.down.dim(2).AsConstant().value_or(kAnyExtent);
  w.gate = c.tensors.Required(c.Name("ffn_gate_exps.weight"),
                              {experts, inner, width});
  w.up =
      c.tensors.Required(c.Name("ffn_up_exps.weight"), {experts, inner, width});
  return w;
}

}  // namespace

Tensor Experts(const LayerContext& c, Tensor x) {
  if (c.ok() && c.options.experts < 1) {
    c.builder().Fail(InvalidArgumentError(
        "experts: expected the metadata to give their number, found none"));
  }
  const ExpertWeights weights = ReadWeights(c);
  if (!c.ok()) return x;
  x = ops::Reshape(x, {c.batch * c.tokens, Dim(c.options.width)});
  Tensor y = ChosenExperts(c, weights, x);
  if (Tensor shared = SharedExperts(c, x)) y = y + shared;
  return ops::Reshape(y, {c.batch, c.tokens, Dim(c.options.width)});
}

}  // namespace ember::language_models

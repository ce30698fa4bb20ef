#include "frontends/language_models/experts.h"

#include <array>
#include <string>
#include <vector>

#include "compiler/graph/builder/control_flow.h"
#include "frontends/language_models/packed_product.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/functions.h"

namespace ember::language_models {
namespace {

using ops::Apply;
using ops::DimScalar;
using ops::Gather;
using ops::Unsqueeze;

// The weights of all experts, or of one of them.
struct ExpertWeights {
  Weight gate, up, down;
  std::array<Weight*, 3> all() { return {&gate, &up, &down}; }
};

struct Mixture {
  ExpertWeights weights;
  Tensor x;  // the tokens, [tokens, width]
  // Weight of each expert for each token, [experts, tokens]; 0 where the expert
  // is not chosen.
  Tensor gates;
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

// Returns y plus the results of one expert for its tokens, which are `rows` of
// the tokens.
Tensor AddExpert(const LayerContext& c, const Mixture& m, Tensor y, Tensor rows,
                 Tensor gate) {
  Tensor x = Gather(m.x, rows, 0);
  Tensor h =
      c.Activate(TimesRows(x, m.weights.gate)) * TimesRows(x, m.weights.up);
  Tensor z =
      TimesRows(h, m.weights.down) * Unsqueeze(Gather(gate, rows, 0), {1});
  return Apply("scatter_nd", {y, Unsqueeze(rows, {1}), z},
               {{"update", std::string("add")}});
}

// Builds one iteration of the loop over the experts; `m` has the weights of
// one.
Tensor OneExpert(const LayerContext& c, Mixture m, Tensor y, Tensor gate) {
  graph::GraphBuilder& builder = y.builder();
  const Dim count = builder.FreshSymbol();
  Tensor rows =
      Apply("non_zero", {ops::NotEqual(gate, 0)}, {{"defines", Shape{count}}});
  Tensor any = ops::NotEqual(DimScalar(builder, count), 0);
  if (!builder.status().ok()) return y;
  graph::IfRegions regions(builder);
  const auto capture = [](graph::Region& region, Tensor& x) {
    x = Tensor(&region.builder(), region.Capture(x.value()));
  };
  Tensor inside = y, same = y;
  for (Tensor* x : {&inside, &rows, &gate, &m.x}) capture(regions.then(), *x);
  for (Weight* weight : m.weights.all())
    capture(regions.then(), weight->packed);
  const Tensor sum = AddExpert(c, m, inside, rows, gate);
  capture(regions.otherwise(), same);
  for (graph::Region* region : {&regions.then(), &regions.otherwise()}) {
    if (!region->builder().status().ok())
      builder.Fail(region->builder().status());
  }
  if (!builder.status().ok()) return y;
  const std::vector<graph::Value*> results =
      regions.Build(any.value(), {sum.value()}, {same.value()});
  return results.empty() ? y : Tensor(&builder, results[0]);
}

Tensor AllExperts(const LayerContext& c, Mixture& m) {
  Tensor zero = ops::Broadcast(m.x.Like(0), {m.x.dim(0), m.x.dim(1)});
  if (!c.ok()) return zero;
  graph::LoopRequest request;
  request.carried = {zero.value()};
  request.scanned = {m.gates.value()};
  request.trip = Dim(c.options.experts);
  for (const Weight* weight : m.weights.all())
    request.scanned.push_back(weight->packed.value());
  const auto body = [&](graph::Region& region, const graph::LoopInputs& in) {
    graph::GraphBuilder& inside = region.builder();
    Mixture one = m;
    one.x = Tensor(&inside, region.Capture(m.x.value()));
    size_t next = 1;
    for (Weight* weight : one.weights.all())
      weight->packed = Tensor(&inside, in.scanned[next++]);
    const Tensor y = OneExpert(c, one, Tensor(&inside, in.carried[0]),
                               Tensor(&inside, in.scanned[0]));
    return graph::LoopOutputs{.carried = {y.value()}};
  };
  const std::vector<graph::Value*> results =
      BuildLoop(c.builder(), request, body);
  return {&c.builder(), results.empty() ? nullptr : results[0]};
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
  Mixture m{.weights = ReadWeights(c)};
  if (!c.ok()) return x;
  m.x = ops::Reshape(x, {c.batch * c.sequence, Dim(c.options.width)});
  m.gates = Gates(c, m.x);
  Tensor y = AllExperts(c, m);
  if (Tensor shared = SharedExperts(c, m.x)) y = y + shared;
  return ops::Reshape(y, {c.batch, c.sequence, Dim(c.options.width)});
}

}  // namespace ember::language_models

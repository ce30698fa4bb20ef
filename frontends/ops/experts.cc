#include "frontends/ops/experts.h"

#include <cstddef>
#include <string>

#include "compiler/graph/builder/control_flow.h"
#include "frontends/ops/compositions.h"

namespace ember::ops {
namespace {

// Builds the loop over the experts of a mixture. The body gets the weights and
// gates of one expert.
class ExpertLoop {
 public:
  ExpertLoop(const ExpertMixture& mixture, const ExpertBuilder& expert)
      : mixture_(mixture), expert_(expert) {}

  Tensor Build() const {
    const Tensor x = mixture_.x;
    graph::GraphBuilder& builder = x.builder();
    const Tensor zero = Broadcast(x.Like(0), {x.dim(0), x.dim(1)});
    if (!builder.status().ok()) return zero;
    graph::LoopRequest request;
    request.carried = {zero.value()};
    request.scanned = {mixture_.gates.value()};
    request.trip = mixture_.gates.dim(0);
    for (const Tensor& weight : mixture_.weights)
      if (weight) request.scanned.push_back(weight.value());
    const auto body = [&](graph::Region& region, const graph::LoopInputs& in) {
      return Body(region, in);
    };
    const std::vector<graph::Value*> results =
        BuildLoop(builder, request, body);
    return {&builder, results.empty() ? nullptr : results[0]};
  }

 private:
  static void Capture(graph::Region& region, Tensor& x) {
    if (x) x = Tensor(&region.builder(), region.Capture(x.value()));
  }

  graph::LoopOutputs Body(graph::Region& region,
                          const graph::LoopInputs& in) const {
    graph::GraphBuilder& inside = region.builder();
    ExpertMixture one = mixture_;
    Capture(region, one.x);
    one.gates = Tensor(&inside, in.scanned[0]);
    size_t next = 1;
    for (Tensor& weight : one.weights)
      if (weight) weight = Tensor(&inside, in.scanned[next++]);
    const Tensor y = OneExpert(one, Tensor(&inside, in.carried[0]));
    return {.carried = {y.value()}};
  }

  // Builds one iteration: returns y plus the results of one expert, or y if no
  // token has chosen the expert. `one`: the mixture with the weights of this
  // expert only, and with its gates, [tokens].
  Tensor OneExpert(ExpertMixture one, Tensor y) const {
    graph::GraphBuilder& builder = y.builder();
    const Dim count = builder.FreshSymbol();
    Tensor rows = Apply("non_zero", {NotEqual(one.gates, 0)},
                        {{"defines", Shape{count}}});
    const Tensor any = NotEqual(DimScalar(builder, count), 0);
    if (!builder.status().ok()) return y;
    graph::IfRegions regions(builder);
    Tensor inside = y, same = y;
    for (Tensor* x : {&inside, &rows, &one.gates, &one.x})
      Capture(regions.then(), *x);
    for (Tensor& weight : one.weights) Capture(regions.then(), weight);
    const Tensor sum = AddResults(one, inside, rows);
    Capture(regions.otherwise(), same);
    for (graph::Region* region : {&regions.then(), &regions.otherwise()}) {
      if (!region->builder().status().ok())
        builder.Fail(region->builder().status());
    }
    if (!builder.status().ok()) return y;
    const std::vector<graph::Value*> results =
        regions.Build(any.value(), {sum.value()}, {same.value()});
    return results.empty() ? y : Tensor(&builder, results[0]);
  }

  // Returns y plus the results of one expert for its tokens, added at the
  // tokens' rows.
  Tensor AddResults(const ExpertMixture& one, Tensor y, Tensor rows) const {
    const Tensor x = Gather(one.x, rows, 0);
    const Tensor gate =
        Cast(Unsqueeze(Gather(one.gates, rows, 0), {1}), x.dtype());
    const Tensor z = expert_(x, one.weights) * gate;
    return Apply("scatter_nd", {y, Unsqueeze(rows, {1}), z},
                 {{"update", std::string("add")}});
  }

  const ExpertMixture& mixture_;
  const ExpertBuilder& expert_;
};

}  // namespace

Tensor SumOfExperts(const ExpertMixture& mixture, const ExpertBuilder& expert) {
  return ExpertLoop(mixture, expert).Build();
}

}  // namespace ember::ops

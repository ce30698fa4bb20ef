#include "frontends/ops/recurrent.h"

#include "compiler/graph/builder/control_flow.h"
#include "frontends/ops/compositions.h"

namespace ember::ops {
namespace {

using graph::LoopInputs;
using graph::LoopOutputs;
using graph::LoopRequest;
using graph::Region;

States RunOnce(Tensor input, const States& initial, const StepFunction& step) {
  const Capture same = [](Tensor x) { return x; };
  const Tensor zero = DimScalar(input.builder(), Dim(0));
  States results = step(same, zero, Squeeze(input, {0}), initial);
  results.back() = Unsqueeze(results.back(), {0});
  return results;
}

}  // namespace

States RunSteps(Tensor input, const States& initial, bool keep_outputs,
                const StepFunction& step) {
  if (input.dim(0) == Dim(1)) return RunOnce(input, initial, step);
  LoopRequest request;
  for (const Tensor& state : initial) request.carried.push_back(state.value());
  request.scanned = {input.value()};
  request.trip = input.dim(0);
  const auto body = [&](Region& region, const LoopInputs& in) {
    graph::GraphBuilder& inside = region.builder();
    const Capture capture = [&](Tensor x) {
      return Tensor(&inside, region.Capture(x.value()));
    };
    States before;
    for (graph::Value* state : in.carried) before.emplace_back(&inside, state);
    const States after = step(capture, Tensor(&inside, in.iteration),
                              Tensor(&inside, in.scanned[0]), before);
    LoopOutputs out;
    for (size_t s = 0; s < before.size(); ++s)
      out.carried.push_back(after[s].value());
    if (keep_outputs) out.stacked.push_back(after.back().value());
    return out;
  };
  return TensorsOf(input.builder(), BuildLoop(input.builder(), request, body));
}

}  // namespace ember::ops

#include <utility>

#include "vm/interpreter/plan.h"
#include "vm/interpreter/stage_analysis.h"
#include "vm/interpreter/stored_parts.h"

namespace ember::vm {
namespace {

StatusOr<PlanFacts> FactsOfStrips(const tensor::Dispatch& dispatch,
                                  const tensor::ConcreteHeader& header) {
  const PlanHeader values(dispatch, header);
  std::vector<StageAnalysis> stages;
  stages.reserve(dispatch.stages.size());
  for (size_t i = 0; i < dispatch.stages.size(); ++i) {
    EMBER_ASSIGN_OR_RETURN(
        StageAnalysis analysis,
        StageAnalysis::Make(dispatch, values, static_cast<int>(i)));
    stages.push_back(std::move(analysis));
  }
  std::vector<const StageAnalysis*> in_order;
  for (const StageAnalysis& stage : stages) in_order.push_back(&stage);
  const auto by_buffer = StagesByBuffer(in_order, dispatch.buffers.size());
  PlanFacts facts;
  const int count =
      static_cast<int>(dispatch.input_count() + dispatch.output_count());
  for (int buffer = 0; buffer < count; ++buffer) {
    const tensor::Buffer& definition =
        dispatch.buffers[static_cast<size_t>(buffer)];
    facts.required_bytes.push_back(values.elements[buffer] *
                                   DTypeByteSize(definition.type));
    facts.overwrites.push_back(
        definition.kind == tensor::BufferKind::kOutput &&
        StoresCoverBuffer(by_buffer[static_cast<size_t>(buffer)], buffer));
  }
  return facts;
}

class Strips final : public Interpreter {
 public:
  StatusOr<std::unique_ptr<Plan>> MakePlan(
      const tensor::Dispatch& dispatch, const tensor::ConcreteHeader& header,
      const Plan::Options& options) const override {
    return Plan::MakeFor(dispatch, header, options);
  }
  StatusOr<PlanFacts> FactsOf(
      const tensor::Dispatch& dispatch,
      const tensor::ConcreteHeader& header) const override {
    return FactsOfStrips(dispatch, header);
  }
};

}  // namespace

const Interpreter& StripInterpreter() {
  static constexpr Strips strips;
  return strips;
}

}  // namespace ember::vm

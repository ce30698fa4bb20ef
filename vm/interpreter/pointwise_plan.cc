#include "vm/interpreter/pointwise_plan.h"

#include <utility>

#include "tensor/evaluator/evaluator.h"
#include "vm/interpreter/plan_memory.h"

namespace ember::vm {
namespace {

// True if the stage assigns to every element of the buffer, which this function
// proves only if each index i is a different axis, which runs over the whole
// dimension i. In less simple cases the result is false.
bool StoresAll(const tensor::Dispatch& dispatch,
               const tensor::ConcreteHeader& header, const tensor::Stage& stage,
               const tensor::Store& store) {
  if (store.update != tensor::Update::kAssign) return false;
  const std::vector<int64_t> axes = header.Extents(stage.spatial);
  const std::vector<int64_t> extents =
      header.Extents(dispatch.buffers[store.buffer]);
  std::vector<bool> is_used(axes.size());
  for (size_t i = 0; i < extents.size(); ++i) {
    const tensor::Instruction& index = dispatch.instructions[store.indices[i]];
    if (index.opcode != tensor::Opcode::kAxis ||
        index.immediate >= axes.size() || is_used[index.immediate] ||
        axes[index.immediate] != extents[i]) {
      return false;
    }
    is_used[index.immediate] = true;
  }
  // A stage with an axis of extent 0 stores nothing, even if no index uses that
  // axis.
  for (int64_t extent : axes) {
    if (extent == 0) return false;
  }
  return true;
}

// True if the first stage that stores to the buffer stores to every element. A
// later stage that stores to all elements does not count, because it may read
// elements that the first one has not written.
bool Overwrites(const tensor::Dispatch& dispatch,
                const tensor::ConcreteHeader& header, uint32_t buffer) {
  for (const tensor::Stage& stage : dispatch.stages) {
    for (const tensor::Store& store : stage.stores) {
      if (store.buffer == buffer)
        return StoresAll(dispatch, header, stage, store);
    }
  }
  return false;
}

PlanFacts Facts(const tensor::Dispatch& dispatch,
                const tensor::ConcreteHeader& header) {
  PlanFacts facts;
  for (uint32_t i = 0; i < dispatch.buffers.size(); ++i) {
    const tensor::Buffer& buffer = dispatch.buffers[i];
    if (buffer.kind == tensor::BufferKind::kTemporary) continue;
    facts.required_bytes.push_back(header.ElementCount(buffer) *
                                   DTypeByteSize(buffer.type));
    facts.overwrites.push_back(Overwrites(dispatch, header, i));
  }
  return facts;
}

class PointwisePlan final : public Plan {
 public:
  PointwisePlan(const tensor::Dispatch& dispatch,
                const tensor::ConcreteHeader& header, const Options& options)
      : dispatch_(dispatch),
        header_(header),
        memory_(dispatch, options.budget, options.allocator) {}

  Status AllocateTemporaries() {
    for (const tensor::Buffer& buffer : dispatch_.buffers) {
      if (buffer.kind != tensor::BufferKind::kTemporary) continue;
      EMBER_ASSIGN_OR_RETURN(char* const memory,
                             memory_.Allocate(header_.ElementCount(buffer) *
                                                  DTypeByteSize(buffer.type),
                                              "temporary %", buffer.name));
      temporaries_.push_back(memory);
    }
    return OkStatus();
  }

  Status Run(std::span<void* const> buffers, ParallelRunner& runner) override {
    return tensor::EvaluateFor(dispatch_, header_, buffers,
                               {.accumulate_in_f64 = true,
                                .temporaries = temporaries_,
                                .interrupt = runner.interrupt()});
  }
  PlanFacts facts() const override { return Facts(dispatch_, header_); }
  std::string Describe() const override { return "point by point"; }

 private:
  const tensor::Dispatch& dispatch_;
  const tensor::ConcreteHeader header_;
  PlanMemory memory_;
  std::vector<void*> temporaries_;
};

class Pointwise final : public Interpreter {
 public:
  StatusOr<std::unique_ptr<Plan>> MakePlan(
      const tensor::Dispatch& dispatch, const tensor::ConcreteHeader& header,
      const Plan::Options& options) const override {
    auto plan = std::make_unique<PointwisePlan>(dispatch, header, options);
    EMBER_RETURN_IF_ERROR(plan->AllocateTemporaries());
    return std::unique_ptr<Plan>(std::move(plan));
  }
  StatusOr<PlanFacts> FactsOf(
      const tensor::Dispatch& dispatch,
      const tensor::ConcreteHeader& header) const override {
    return Facts(dispatch, header);
  }
};

}  // namespace

const Interpreter& PointwiseInterpreter() {
  static constexpr Pointwise pointwise;
  return pointwise;
}

}  // namespace ember::vm

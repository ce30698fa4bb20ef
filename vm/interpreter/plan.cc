#include "vm/interpreter/plan.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "vm/interpreter/strip_program.h"

namespace ember::vm {

using tensor::BufferKind;
using tensor::Dispatch;

namespace {

struct FreeDeleter {
  void operator()(char* p) const { std::free(p); }
};
using AlignedMemory = std::unique_ptr<char, FreeDeleter>;

AlignedMemory AllocateAligned(int64_t bytes) {
  const size_t rounded = (static_cast<size_t>(std::max<int64_t>(bytes, 1)) + 63) / 64 * 64;
  return AlignedMemory(static_cast<char*>(std::aligned_alloc(64, rounded)));
}

struct StagePlan {
  StripProgram program;
  int64_t points = 0;
  int64_t reduction = 0;
};

struct Worker {
  AlignedMemory scratch;
  std::vector<TileOperand> slots;
};

class InterpreterPlan final : public Plan {
 public:
  explicit InterpreterPlan(const Dispatch& dispatch) : dispatch_(dispatch) {}

  Status Build(std::span<const int64_t> parameters) {
    EMBER_ASSIGN_OR_RETURN(header_, ConcreteHeader::Make(dispatch_, parameters));
    for (size_t i = 0; i < dispatch_.stages.size(); ++i) {
      EMBER_ASSIGN_OR_RETURN(StageAnalysis analysis,
                             StageAnalysis::Make(dispatch_, header_, static_cast<int>(i)));
      StripSpec spec;
      spec.segments.resize(1);
      for (int axis = 0; axis < analysis.spatial_count; ++axis) spec.segments[0].push_back(axis);
      const tensor::Stage& stage = dispatch_.stages[i];
      spec.ordered = analysis.needs_order;
      spec.combiner = stage.combiner;
      spec.fold = stage.combiner == tensor::Combiner::kFold ? &stage.fold : nullptr;
      spec.values = stage.values;
      for (size_t s = 0; s < stage.stores.size(); ++s) {
        spec.stores.push_back({analysis.stores[s],
                               dispatch_.buffers[stage.stores[s].buffer].type,
                               stage.stores[s].update});
      }
      StagePlan plan;
      EMBER_ASSIGN_OR_RETURN(plan.program, CompileStrips(analysis, spec));
      plan.points = analysis.SpatialPoints();
      plan.reduction = analysis.ReductionPoints();
      scratch_bytes_ = std::max(scratch_bytes_, plan.program.scratch_bytes);
      slot_count_ = std::max(slot_count_, plan.program.slots.size());
      stages_.push_back(std::move(plan));
    }
    pointers_.resize(dispatch_.buffers.size());
    int io = 0;
    for (size_t i = 0; i < dispatch_.buffers.size(); ++i) {
      if (dispatch_.buffers[i].kind != BufferKind::kTemporary) {
        ++io;
        continue;
      }
      temporaries_.push_back(
          AllocateAligned(header_.elements[i] * DTypeByteSize(dispatch_.buffers[i].type)));
      pointers_[i] = temporaries_.back().get();
    }
    io_count_ = io;
    return OkStatus();
  }

  Status Run(std::span<void* const> buffers, ParallelRunner& runner) override {
    if (static_cast<int>(buffers.size()) != io_count_) {
      return InvalidArgumentError("dispatch @" + dispatch_.name + ": expected " +
                                  std::to_string(io_count_) + " buffers, found " +
                                  std::to_string(buffers.size()));
    }
    for (int i = 0; i < io_count_; ++i) pointers_[i] = static_cast<char*>(buffers[i]);
    while (static_cast<int>(workers_.size()) < std::max(runner.worker_count(), 1)) {
      Worker worker;
      worker.scratch = AllocateAligned(scratch_bytes_);
      worker.slots.resize(slot_count_);
      workers_.push_back(std::move(worker));
    }
    failure_.found = false;
    for (const StagePlan& stage : stages_) {
      if (stage.points == 0) continue;
      const double work = static_cast<double>(stage.points) *
                          static_cast<double>(std::max<int64_t>(stage.reduction, 1)) *
                          stage.program.cost_per_point;
      if (work < 30000 || stage.program.ordered || runner.worker_count() == 1) {
        RunStage(stage, {0, stage.points}, workers_[0]);
      } else {
        const int64_t chunks = std::min<int64_t>(stage.points, runner.worker_count() * 4);
        runner.Run(chunks, [&](int64_t chunk, int worker) {
          RunStage(stage, {stage.points * chunk / chunks, stage.points * (chunk + 1) / chunks},
                   workers_[worker]);
        });
      }
      if (failure_.found) return FailureStatus();
    }
    return OkStatus();
  }

  int64_t required_bytes(int buffer) const override {
    return header_.elements[buffer] * DTypeByteSize(dispatch_.buffers[buffer].type);
  }

  std::string Describe() const override {
    std::string text;
    for (const StagePlan& stage : stages_) text += stage.program.Describe() + "\n";
    return text;
  }

 private:
  void RunStage(const StagePlan& stage, FlatRange range, Worker& worker) {
    StripFailure failure;
    StripContext context;
    context.buffers = pointers_.data();
    context.scratch = worker.scratch.get();
    context.slots = worker.slots.data();
    context.failure = &failure;
    RunStrips(stage.program, context, std::span(&range, 1));
    if (failure.found) {
      const std::lock_guard<std::mutex> lock(failure_mutex_);
      if (!failure_.found) failure_ = failure;
    }
  }

  Status FailureStatus() const {
    return InvalidArgumentError(
        "dispatch @" + dispatch_.name + ": buffer %" + dispatch_.buffers[failure_.buffer].name +
        ": index " + std::to_string(failure_.index) + " in dimension " +
        std::to_string(failure_.dimension) + " is outside the extent " +
        std::to_string(failure_.extent));
  }

  const Dispatch& dispatch_;
  ConcreteHeader header_;
  std::vector<StagePlan> stages_;
  std::vector<char*> pointers_;
  std::vector<AlignedMemory> temporaries_;
  std::vector<Worker> workers_;
  int io_count_ = 0;
  int64_t scratch_bytes_ = 0;
  size_t slot_count_ = 0;
  std::mutex failure_mutex_;
  StripFailure failure_;
};

}  // namespace

StatusOr<std::unique_ptr<Plan>> Plan::Make(const Dispatch& dispatch,
                                           std::span<const int64_t> parameters,
                                           const Options& options) {
  auto plan = std::make_unique<InterpreterPlan>(dispatch);
  EMBER_RETURN_IF_ERROR(plan->Build(parameters));
  return std::unique_ptr<Plan>(std::move(plan));
}

}  // namespace ember::vm

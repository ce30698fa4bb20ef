#include "vm/interpreter/plan.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/concat.h"
#include "base/large_memory.h"
#include "base/rounding.h"
#include "vm/interpreter/contraction.h"
#include "vm/interpreter/plan_memory.h"
#include "vm/interpreter/plan_parts.h"
#include "vm/interpreter/strip_program.h"

namespace ember::vm {

using tensor::Dispatch;

namespace {

// Estimated time of a dispatch in nanoseconds below which the calling thread
// runs it alone, because waking other threads takes microseconds.
constexpr double kParallelNanoseconds = 30000;
// Smallest amount of work of a chunk in nanoseconds, so that distributing
// chunks takes a small part of the time.
constexpr double kChunkNanoseconds = 8000;

// Number of bytes of operands to pack below which the calling thread packs them
// alone, because waking other threads takes longer.
constexpr int64_t kParallelPackBytes = 256 * 1024;

struct Worker {
  char* scratch = nullptr;
  std::vector<TileOperand> registers;
  std::vector<char*> buffers;
};

class InterpreterPlan final : public Plan {
 public:
  InterpreterPlan(const Dispatch& dispatch,
                  const tensor::ConcreteHeader& header, const Options& options)
      : dispatch_(dispatch),
        options_(options),
        header_(dispatch, header),
        memory_(dispatch, options.budget, options.allocator) {}

  Status Build() {
    return BuildPlanParts(dispatch_, header_, options_, memory_, &parts_);
  }
  Status Run(std::span<void* const> buffers, ParallelRunner& runner) override;
  PlanFacts facts() const override { return parts_.facts; }
  std::string Describe() const override;

 private:
  Status SetUpWorkers(int count);
  bool ShouldStop() const {
    return interrupt_ != nullptr && interrupt_->ShouldStop();
  }
  Contraction::Work WorkOf(const Group& group, const Step& step, Worker& worker,
                           StripFailure& failure) const;
  void Pack(Group& group, ParallelRunner& runner);
  int64_t ChunkRows(const Group& group, int workers) const;
  void RunChunk(const Group& group, int64_t begin, int64_t end, Worker& worker);
  void Note(const StripFailure& failure);
  Status FailureStatus() const;

  const Dispatch& dispatch_;
  const Options options_;
  const PlanHeader header_;
  PlanMemory memory_;
  PlanParts parts_;
  std::vector<Worker> workers_;
  // interrupt of the runner, which can stop the run; may be null
  const Interrupt* interrupt_ = nullptr;
  std::mutex failure_mutex_;
  StripFailure failure_;
};

Status InterpreterPlan::SetUpWorkers(int count) {
  while (static_cast<int>(workers_.size()) < count) {
    Worker worker;
    EMBER_ASSIGN_OR_RETURN(worker.scratch,
                           memory_.Allocate(parts_.scratch_bytes, "scratch"));
    worker.registers.resize(parts_.register_count);
    worker.buffers = parts_.buffers;
    workers_.push_back(std::move(worker));
  }
  return OkStatus();
}

Status InterpreterPlan::Run(std::span<void* const> buffers,
                            ParallelRunner& runner) {
  if (static_cast<int>(buffers.size()) != parts_.io_count) {
    return InvalidArgumentError(
        Concat({"dispatch @", dispatch_.name, ": expected ", parts_.io_count,
                " buffers, found ", buffers.size()}));
  }
  const int workers = std::max(runner.worker_count(), 1);
  if (static_cast<int>(workers_.size()) < workers)
    EMBER_RETURN_IF_ERROR(SetUpWorkers(workers));
  interrupt_ = runner.interrupt();
  for (Worker& worker : workers_) {
    for (int i = 0; i < parts_.io_count; ++i)
      worker.buffers[i] = static_cast<char*>(buffers[i]);
  }
  for (const Zeroed& zeroed : parts_.zeroed) {
    if (!ClearMemory(zeroed.data, zeroed.bytes, interrupt_))
      return interrupt_->status();
  }
  failure_.found = false;
  for (Group& group : parts_.groups) {
    if (group.rows == 0) continue;
    Pack(group, runner);
    const int64_t step = ChunkRows(group, workers);
    if (workers == 1 || step >= group.rows ||
        group.row_cost * static_cast<double>(group.rows) <
            kParallelNanoseconds) {
      for (int64_t row = 0; row < group.rows && !ShouldStop(); row += step) {
        RunChunk(group, row, std::min(group.rows, row + step), workers_[0]);
      }
    } else {
      runner.Run(DivideRoundingUp(group.rows, step), [&](int64_t chunk,
                                                         int worker) {
        RunChunk(group, chunk * step, std::min(group.rows, (chunk + 1) * step),
                 workers_[worker]);
      });
    }
    if (failure_.found) return FailureStatus();
    if (ShouldStop()) return interrupt_->status();
  }
  return OkStatus();
}

int64_t InterpreterPlan::ChunkRows(const Group& group, int workers) const {
  if (group.ordered) return group.rows;
  if (workers == 1) return group.most_rows;
  const double total = group.row_cost * static_cast<double>(group.rows);
  if (total < kParallelNanoseconds) return group.most_rows;
  // The group is split into a few chunks per worker, so that faster workers can
  // run more of them.
  double most_chunks = total / kChunkNanoseconds;
  if (group.wanted_rows > 0) {
    most_chunks = static_cast<double>(group.rows) /
                  static_cast<double>(group.wanted_rows);
  }
  // The number of chunks is limited before it is converted, because it may be
  // too large for an integer.
  const auto most = static_cast<int64_t>(std::min(most_chunks, 4.0 * workers));
  const int64_t wanted = std::max<int64_t>(most / workers * workers, workers);
  int64_t rows = DivideRoundingUp(group.rows, wanted);
  if (rows > group.preferred_rows) {
    rows = RoundUp(rows, group.preferred_rows);
  } else if (2 * rows > group.preferred_rows &&
             group.rows >= 2 * group.preferred_rows) {
    rows = group.preferred_rows;
  }
  return std::min(RoundUp(rows, group.row_alignment), group.most_rows);
}

Contraction::Work InterpreterPlan::WorkOf(const Group& group, const Step& step,
                                          Worker& worker,
                                          StripFailure& failure) const {
  Contraction::Work work;
  work.scratch = worker.scratch + group.step_scratch;
  work.buffers = worker.buffers.data();
  work.context = {work.buffers, work.scratch, worker.registers.data(), &failure,
                  interrupt_};
  work.packed_b = step.packed_b;
  work.padded = step.padded_a;
  return work;
}

void InterpreterPlan::Pack(Group& group, ParallelRunner& runner) {
  for (Step& step : group.steps) {
    if (!step.contraction) continue;
    const Contraction& contraction = *step.contraction;
    if (contraction.padded_bytes() > 0 && !step.has_padding) {
      step.has_padding = contraction.FillPadding(step.padded_a, interrupt_);
      if (!step.has_padding) return;
    }
    const int64_t pads = contraction.pad_pieces();
    const int64_t pieces = pads + (step.packed ? 0 : contraction.pack_pieces());
    const auto pack = [&](int64_t piece, int number) {
      StripFailure failure;
      const Contraction::Work work =
          WorkOf(group, step, workers_[number], failure);
      if (piece < pads) {
        contraction.PadPiece(work, piece);
      } else {
        contraction.PackPiece(work, piece - pads);
      }
      if (failure.found) Note(failure);
    };
    const int64_t bytes = contraction.padded_bytes() +
                          (step.packed ? 0 : contraction.packed_b_bytes());
    if (bytes < kParallelPackBytes) {
      for (int64_t i = 0; i < pieces && !ShouldStop(); ++i) pack(i, 0);
    } else {
      runner.Run(pieces, pack);
    }
    step.packed = step.keeps_packed && !failure_.found && !ShouldStop();
  }
}

void InterpreterPlan::RunChunk(const Group& group, int64_t begin, int64_t end,
                               Worker& worker) {
  StripFailure failure;
  StripContext context{worker.buffers.data(),
                       worker.scratch + group.step_scratch,
                       worker.registers.data(), &failure, interrupt_};
  for (const ChunkBuffer& chunk : group.chunk_buffers) {
    char* memory = worker.scratch + chunk.scratch_offset;
    if (chunk.zero)
      std::memset(memory, 0,
                  static_cast<size_t>(chunk.row_bytes * (end - begin)));
    // The buffer's pointer is the address that its row 0 would have. Only the
    // rows [begin, end) of the chunk are in memory, and only they are accessed.
    worker.buffers[chunk.buffer] = reinterpret_cast<char*>(
        reinterpret_cast<uintptr_t>(memory) -
        static_cast<uintptr_t>(begin * chunk.row_bytes));
  }
  for (const Step& step : group.steps) {
    if (step.copied_input >= 0 &&
        worker.buffers[step.copied_input] == worker.buffers[step.copied_output])
      continue;
    if (step.contraction) {
      step.contraction->RunRows(WorkOf(group, step, worker, failure),
                                begin / step.row_divisor * step.row_factor,
                                end / step.row_divisor * step.row_factor);
    } else {
      const FlatRange ranges[] = {{begin, end}, {0, step.rest}};
      RunStrips(step.program, context, ranges);
    }
    if (failure.found) {
      Note(failure);
      return;
    }
    if (ShouldStop()) return;
  }
}

void InterpreterPlan::Note(const StripFailure& failure) {
  const std::lock_guard<std::mutex> lock(failure_mutex_);
  if (!failure_.found) failure_ = failure;
}

Status InterpreterPlan::FailureStatus() const {
  return InvalidArgumentError(
      // The error has the same form as that of kernels (FailedCheck in
      // vm/runtime), so that users see one form.
      Concat({"dispatch @", dispatch_.name, ": buffer %",
              dispatch_.buffers[failure_.buffer].name, ": expected index ",
              failure_.dimension, " in 0..", failure_.extent - 1, ", found ",
              failure_.index}));
}

std::string InterpreterPlan::Describe() const {
  std::string text;
  for (const Group& group : parts_.groups) {
    for (const Step& step : group.steps) {
      text += step.contraction ? step.contraction->Describe()
                               : step.program.Describe();
      text += &step == &group.steps.front() ? Concat({", rows ", group.rows})
                                            : ", fused";
      if (step.keeps_packed) text += ", packed once";
      text += "\n";
    }
  }
  return text;
}

}  // namespace

StatusOr<std::unique_ptr<Plan>> Plan::Make(const Dispatch& dispatch,
                                           std::span<const int64_t> parameters,
                                           const Options& options) {
  EMBER_ASSIGN_OR_RETURN(
      const tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(dispatch, parameters));
  return MakeFor(dispatch, header, options);
}

StatusOr<std::unique_ptr<Plan>> Plan::MakeFor(
    const Dispatch& dispatch, const tensor::ConcreteHeader& header,
    const Options& options) {
  auto plan = std::make_unique<InterpreterPlan>(dispatch, header, options);
  EMBER_RETURN_IF_ERROR(plan->Build());
  return std::unique_ptr<Plan>(std::move(plan));
}

}  // namespace ember::vm

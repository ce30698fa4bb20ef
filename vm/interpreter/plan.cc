#include "vm/interpreter/plan.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/concat.h"
#include "base/rounding.h"
#include "vm/interpreter/aligned_memory.h"
#include "vm/interpreter/contraction.h"
#include "vm/interpreter/row_groups.h"
#include "vm/interpreter/stored_parts.h"
#include "vm/interpreter/strip_program.h"

namespace ember::vm {

using tensor::BufferKind;
using tensor::Combiner;
using tensor::Dispatch;
using tensor::Update;

namespace {

// Less work than this is done by the calling thread alone: waking others costs
// microseconds.
constexpr double kParallelNanoseconds = 30000;
// A chunk is at least this much work, so that handing chunks out costs little.
constexpr double kChunkNanoseconds = 8000;

// Less than this is packed by the calling thread alone.
constexpr int64_t kParallelPackBytes = 256 * 1024;

// One stage as it runs: a strip program or a contraction.
struct Step {
  int stage = 0;
  StripProgram program;
  std::optional<Contraction> contraction;
  int64_t rest = 1;  // points per row, of a strip program
  // Rows [begin, end) of the group are flat rows [begin / row_divisor *
  // row_factor, ...) of the contraction.
  int64_t row_divisor = 1;
  int64_t row_factor = 1;
  AlignedMemory packed_b;
  AlignedMemory padded_a;
  bool keeps_packed = false;  // B is constant
  bool packed = false;
};

// A temporary that holds the rows of one chunk.
struct ChunkBuffer {
  int buffer = 0;
  int64_t row_bytes = 0;
  int64_t scratch_offset = 0;
  bool zero = false;  // not every element is stored to
};

struct Group {
  int64_t rows = 0;
  bool ordered = false;  // stores may meet: one chunk
  std::vector<Step> steps;
  std::vector<ChunkBuffer> chunk_buffers;
  int64_t row_alignment = 1;  // chunks begin at multiples
  int64_t preferred_rows =
      1;  // chunks are multiples where they are large enough
  int64_t wanted_rows =
      0;                  // chunks of fewer rows read packed operands too often
  int64_t most_rows = 0;  // per chunk, by scratch
  int64_t step_scratch = 0;  // where the steps' own scratch begins
  double row_cost = 0;
};

struct Worker {
  AlignedMemory scratch;
  std::vector<TileOperand> slots;
  std::vector<char*> buffers;
};

class InterpreterPlan final : public Plan {
 public:
  InterpreterPlan(const Dispatch& dispatch,
                  const tensor::ConcreteHeader& header, const Options& options)
      : dispatch_(dispatch), options_(options), header_(dispatch, header) {}
  ~InterpreterPlan() override {
    if (options_.budget != nullptr) options_.budget->Discharge(charged_);
  }

  Status Build();
  Status Run(std::span<void* const> buffers, ParallelRunner& runner) override;
  PlanFacts facts() const override { return facts_; }
  std::string Describe() const override;

 private:
  // Charges the budget until the plan is gone; `what` the memory is for.
  Status Charge(int64_t bytes, const std::string& what);
  // Charged to the budget.
  StatusOr<AlignedMemory> Allocate(int64_t bytes, const std::string& what);
  int64_t BytesOf(int buffer) const {
    return header_.elements[buffer] *
           DTypeByteSize(dispatch_.buffers[buffer].type);
  }
  // Building.
  Status AddGroup(const RowGroup& rows,
                  const std::vector<AnalyzedStage>& stages);
  Status AddStrips(const AnalyzedStage& stage, int prefix, Step& step);
  Status AddContraction(const AnalyzedStage& stage, int prefix, Group& group,
                        Step& step);
  bool IsWrittenBy(const Group& group, int buffer) const;
  bool ReadsOnlyConstants(const AnalyzedStage& stage, tensor::Register r) const;
  bool IsStoredByOneStage(int buffer,
                          const std::vector<AnalyzedStage>& stages) const;
  void LayOutScratch(const RowGroup& rows,
                     const std::vector<AnalyzedStage>& stages, Group& group);
  // Running.
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
  int64_t charged_ = 0;
  std::vector<Group> groups_;
  std::vector<char*>
      buffers_;  // temporaries filled in; a worker's list starts as a copy
  std::vector<AlignedMemory> memory_;
  struct Zeroed {
    char* data;
    int64_t bytes;
  };
  std::vector<Zeroed> zeroed_;  // temporaries to clear before each run
  std::vector<Worker> workers_;
  PlanFacts facts_;
  const Interrupt* interrupt_ = nullptr;  // of the run
  int io_count_ = 0;
  int64_t scratch_bytes_ = 0;
  size_t slot_count_ = 1;
  std::mutex failure_mutex_;
  StripFailure failure_;
};

// --- building ---

// Estimates the bytes of a plan's own lists (the analyses of stages and the
// programs of strips), without scratch and packed operands. The lists grow
// while the plan is made and the budget is charged before, so this is no exact
// count: a chain of 3,000 products of loads was measured at two thirds of it.
int64_t OwnBytes(const Dispatch& dispatch) {
  constexpr int64_t kBytesPerInstruction = 192;
  constexpr int64_t kBytesPerStage = 2048;
  constexpr int64_t kBytesPerBuffer = 256;
  return static_cast<int64_t>(dispatch.instructions.size() +
                              dispatch.operands.size()) *
             kBytesPerInstruction +
         static_cast<int64_t>(dispatch.stages.size()) * kBytesPerStage +
         static_cast<int64_t>(dispatch.buffers.size()) * kBytesPerBuffer;
}

Status InterpreterPlan::Charge(int64_t bytes, const std::string& what) {
  if (options_.budget == nullptr) return OkStatus();
  const Status status = options_.budget->Charge(bytes);
  if (!status.ok()) {
    return status.WithContext(
        Concat({"dispatch @", dispatch_.name, ": ", what}));
  }
  charged_ += bytes;
  return OkStatus();
}

StatusOr<AlignedMemory> InterpreterPlan::Allocate(int64_t bytes,
                                                  const std::string& what) {
  EMBER_RETURN_IF_ERROR(Charge(bytes, what));
  AlignedMemory memory = AllocateAligned(bytes, options_.allocator);
  if (memory == nullptr) {
    return ResourceExhaustedError(
               Concat({"expected ", bytes, " bytes of memory, found less"}))
        .WithContext(Concat({"dispatch @", dispatch_.name, ": ", what}));
  }
  return memory;
}

Status InterpreterPlan::Build() {
  EMBER_RETURN_IF_ERROR(Charge(OwnBytes(dispatch_), "plan"));
  std::vector<AnalyzedStage> stages(dispatch_.stages.size());
  for (size_t i = 0; i < stages.size(); ++i) {
    EMBER_ASSIGN_OR_RETURN(
        stages[i].analysis,
        StageAnalysis::Make(dispatch_, header_, static_cast<int>(i)));
    stages[i].contraction = RecogniseContraction(stages[i].analysis);
  }
  std::vector<const StageAnalysis*> in_order;
  for (const AnalyzedStage& stage : stages) in_order.push_back(&stage.analysis);
  buffers_.assign(dispatch_.buffers.size() + kContractionBuffers, nullptr);
  for (const tensor::Buffer& buffer : dispatch_.buffers) {
    io_count_ += buffer.kind != BufferKind::kTemporary;
  }
  for (const RowGroup& rows : FormRowGroups(dispatch_, header_, stages)) {
    EMBER_RETURN_IF_ERROR(AddGroup(rows, stages));
  }
  // What no group keeps in its chunks is held in full.
  for (size_t i = 0; i < dispatch_.buffers.size(); ++i) {
    const int buffer = static_cast<int>(i);
    if (dispatch_.buffers[i].kind != BufferKind::kTemporary) continue;
    const bool in_chunk =
        std::any_of(groups_.begin(), groups_.end(), [&](const Group& group) {
          return std::any_of(
              group.chunk_buffers.begin(), group.chunk_buffers.end(),
              [&](const ChunkBuffer& c) { return c.buffer == buffer; });
        });
    if (in_chunk) continue;
    EMBER_ASSIGN_OR_RETURN(
        AlignedMemory memory,
        Allocate(BytesOf(buffer),
                 Concat({"temporary %", dispatch_.buffers[i].name})));
    buffers_[i] = memory.get();
    memory_.push_back(std::move(memory));
    if (!StoresCoverBuffer(in_order, buffer))
      zeroed_.push_back({buffers_[i], BytesOf(buffer)});
  }
  for (int buffer = 0; buffer < io_count_; ++buffer) {
    facts_.required_bytes.push_back(BytesOf(buffer));
    facts_.overwrites.push_back(
        dispatch_.buffers[static_cast<size_t>(buffer)].kind ==
            BufferKind::kOutput &&
        StoresCoverBuffer(in_order, buffer));
  }
  return OkStatus();
}

// True if one plain stage stores to every element, before anything reads it.
bool InterpreterPlan::IsStoredByOneStage(
    int buffer, const std::vector<AnalyzedStage>& stages) const {
  for (const AnalyzedStage& stage : stages) {
    if (const auto stored = stage.analysis.StoresAllOf(buffer)) return *stored;
  }
  return true;  // not used at all
}

bool InterpreterPlan::ReadsOnlyConstants(const AnalyzedStage& stage,
                                         tensor::Register r) const {
  StripSpec spec;
  spec.values = {r};
  for (const Access* access : CollectUses(stage.analysis, spec).loads) {
    const size_t buffer = static_cast<size_t>(access->buffer);
    if (dispatch_.buffers[buffer].kind != BufferKind::kInput ||
        buffer >= options_.constant_inputs.size() ||
        !options_.constant_inputs[buffer]) {
      return false;
    }
  }
  return true;
}

Status InterpreterPlan::AddGroup(const RowGroup& rows,
                                 const std::vector<AnalyzedStage>& stages) {
  Group group;
  group.rows = rows.rows;
  for (int i = rows.first; i < rows.last; ++i) {
    const AnalyzedStage& stage = stages[i];
    const int prefix = rows.prefix[i - rows.first];
    Step step;
    step.stage = i;
    if (stage.analysis.SpatialPoints() == 0) {
      group.rows = 0;
    } else if (stage.contraction) {
      EMBER_RETURN_IF_ERROR(AddContraction(stage, prefix, group, step));
      group.row_cost +=
          step.contraction->cost() / static_cast<double>(group.rows);
      slot_count_ = std::max(slot_count_, step.contraction->slot_count());
    } else {
      EMBER_RETURN_IF_ERROR(AddStrips(stage, prefix, step));
      group.ordered |= step.program.ordered;
      group.row_cost += step.program.cost_per_point *
                        static_cast<double>(step.rest) *
                        static_cast<double>(std::max<int64_t>(
                            stage.analysis.ReductionPoints(), 1));
      slot_count_ = std::max(slot_count_, step.program.operand_count());
    }
    group.steps.push_back(std::move(step));
  }
  LayOutScratch(rows, stages, group);
  groups_.push_back(std::move(group));
  return OkStatus();
}

Status InterpreterPlan::AddStrips(const AnalyzedStage& stage, int prefix,
                                  Step& step) {
  const StageAnalysis& analysis = stage.analysis;
  const tensor::Stage& definition = analysis.stage();
  StripSpec spec;
  spec.segments.resize(2);
  for (int axis = 0; axis < analysis.spatial_count; ++axis) {
    spec.segments[axis < prefix ? 0 : 1].push_back(axis);
    if (axis >= prefix) step.rest *= analysis.axes[axis].extent;
  }
  spec.ordered = analysis.needs_order;
  spec.combiner = definition.combiner;
  spec.fold =
      definition.combiner == Combiner::kFold ? &definition.fold : nullptr;
  spec.values = definition.values;
  for (size_t i = 0; i < definition.stores.size(); ++i) {
    spec.stores.push_back({analysis.stores[i],
                           dispatch_.buffers[definition.stores[i].buffer].type,
                           definition.stores[i].update});
  }
  EMBER_ASSIGN_OR_RETURN(step.program, CompileStrips(analysis, spec));
  return OkStatus();
}

bool InterpreterPlan::IsWrittenBy(const Group& group, int buffer) const {
  for (const Step& step : group.steps) {
    for (const tensor::Store& store : dispatch_.stages[step.stage].stores) {
      if (static_cast<int>(store.buffer) == buffer) return true;
    }
  }
  return false;
}

Status InterpreterPlan::AddContraction(const AnalyzedStage& stage, int prefix,
                                       Group& group, Step& step) {
  EMBER_ASSIGN_OR_RETURN(
      Contraction contraction,
      Contraction::Make(stage.analysis, *stage.contraction, [&](int buffer) {
        return !IsWrittenBy(group, buffer);
      }));
  for (int axis : stage.contraction->inner_batch) {
    if (axis < prefix) step.row_divisor *= stage.analysis.axes[axis].extent;
  }
  step.row_factor = contraction.outer_batch_points() * contraction.m() /
                    (group.rows / step.row_divisor);
  const int64_t a = group.row_alignment, b = step.row_divisor;
  int64_t gcd = a, rest = b;
  while (rest != 0) {
    gcd %= rest;
    std::swap(gcd, rest);
  }
  group.row_alignment = a / gcd * b;
  step.keeps_packed = ReadsOnlyConstants(stage, stage.contraction->b);
  EMBER_ASSIGN_OR_RETURN(
      step.packed_b,
      Allocate(contraction.packed_b_bytes(),
               Concat({"packed operand of stage ", step.stage})));
  if (contraction.padded_bytes() > 0) {
    EMBER_ASSIGN_OR_RETURN(
        step.padded_a,
        Allocate(contraction.padded_bytes(),
                 Concat({"padded operand of stage ", step.stage})));
    contraction.FillPadding(step.padded_a.get());
  }
  step.contraction = std::move(contraction);
  return OkStatus();
}

void InterpreterPlan::LayOutScratch(const RowGroup& rows,
                                    const std::vector<AnalyzedStage>& stages,
                                    Group& group) {
  if (group.rows == 0) return;
  int64_t row_bytes = 0;
  for (int buffer : rows.temporaries) {
    ChunkBuffer chunk;
    chunk.buffer = buffer;
    chunk.row_bytes = BytesOf(buffer) / group.rows;
    // A chunk holds some of its rows. Stages that store parts of the buffer may
    // store other rows than those, so parts do not count here.
    chunk.zero = !IsStoredByOneStage(buffer, stages);
    row_bytes += chunk.row_bytes;
    group.chunk_buffers.push_back(chunk);
  }
  int64_t most = group.rows;
  if (row_bytes > 0) most = std::min(most, options_.scratch_target / row_bytes);
  // Chunks of whole register blocks, or of whole inner axes.
  const Step& first = group.steps.front();
  for (const Step& step : group.steps) {
    if (!step.contraction || step.row_factor != 1) continue;
    group.preferred_rows = step.row_divisor * step.contraction->micro_rows();
    group.wanted_rows = step.row_divisor * step.contraction->wanted_rows();
    break;
  }
  // Room for so many rows even if that leaves the cache, within reason.
  if (row_bytes * group.wanted_rows <= 8 * options_.scratch_target) {
    most = std::max(most, std::min(group.rows, group.wanted_rows));
  }
  if (group.preferred_rows == 1 && !first.contraction) {
    int64_t inner = 1;
    const StageAnalysis& analysis = stages[rows.first].analysis;
    for (int axis = rows.prefix[0] - 1; axis >= 0; --axis) {
      if (inner * analysis.axes[axis].extent > 512) break;
      inner *= analysis.axes[axis].extent;
    }
    group.preferred_rows = inner;
  }
  group.preferred_rows = RoundUp(group.preferred_rows, group.row_alignment);
  if (most > group.preferred_rows)
    most = most / group.preferred_rows * group.preferred_rows;
  group.most_rows =
      std::clamp<int64_t>(RoundUp(most, group.row_alignment), 1, group.rows);
  int64_t offset = 0;
  for (ChunkBuffer& chunk : group.chunk_buffers) {
    chunk.scratch_offset = offset;
    offset += RoundUp(chunk.row_bytes * group.most_rows, 64);
  }
  group.step_scratch = offset;
  int64_t most_scratch = 0;
  for (const Step& step : group.steps) {
    most_scratch = std::max(most_scratch,
                            step.contraction ? step.contraction->scratch_bytes()
                                             : step.program.scratch_bytes);
  }
  scratch_bytes_ = std::max(scratch_bytes_, offset + most_scratch);
}

// --- running ---

Status InterpreterPlan::SetUpWorkers(int count) {
  while (static_cast<int>(workers_.size()) < count) {
    Worker worker;
    EMBER_ASSIGN_OR_RETURN(worker.scratch, Allocate(scratch_bytes_, "scratch"));
    worker.slots.resize(slot_count_);
    worker.buffers = buffers_;
    workers_.push_back(std::move(worker));
  }
  return OkStatus();
}

Status InterpreterPlan::Run(std::span<void* const> buffers,
                            ParallelRunner& runner) {
  if (static_cast<int>(buffers.size()) != io_count_) {
    return InvalidArgumentError(
        Concat({"dispatch @", dispatch_.name, ": expected ", io_count_,
                " buffers, found ", buffers.size()}));
  }
  const int workers = std::max(runner.worker_count(), 1);
  if (static_cast<int>(workers_.size()) < workers)
    EMBER_RETURN_IF_ERROR(SetUpWorkers(workers));
  interrupt_ = runner.interrupt();
  for (Worker& worker : workers_) {
    for (int i = 0; i < io_count_; ++i)
      worker.buffers[i] = static_cast<char*>(buffers[i]);
  }
  for (const Zeroed& zeroed : zeroed_) {
    std::memset(zeroed.data, 0, static_cast<size_t>(zeroed.bytes));
  }
  failure_.found = false;
  for (Group& group : groups_) {
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
  // A few chunks per worker even out what they differ in speed.
  double most_chunks = total / kChunkNanoseconds;
  if (group.wanted_rows > 0) {
    most_chunks = static_cast<double>(group.rows) /
                  static_cast<double>(group.wanted_rows);
  }
  // Bounded while it is a double: it may be too large for an integer.
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
  work.scratch = worker.scratch.get() + group.step_scratch;
  work.buffers = worker.buffers.data();
  work.context = {work.buffers, work.scratch, worker.slots.data(), &failure,
                  interrupt_};
  work.packed_b = step.packed_b.get();
  work.padded = step.padded_a.get();
  return work;
}

void InterpreterPlan::Pack(Group& group, ParallelRunner& runner) {
  for (Step& step : group.steps) {
    if (!step.contraction) continue;
    const Contraction& contraction = *step.contraction;
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
                       worker.scratch.get() + group.step_scratch,
                       worker.slots.data(), &failure, interrupt_};
  for (const ChunkBuffer& chunk : group.chunk_buffers) {
    char* memory = worker.scratch.get() + chunk.scratch_offset;
    if (chunk.zero)
      std::memset(memory, 0,
                  static_cast<size_t>(chunk.row_bytes * (end - begin)));
    // As if the whole buffer were there; only its rows [begin, end) are
    // touched.
    worker.buffers[chunk.buffer] = reinterpret_cast<char*>(
        reinterpret_cast<uintptr_t>(memory) -
        static_cast<uintptr_t>(begin * chunk.row_bytes));
  }
  for (const Step& step : group.steps) {
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
      Concat({"dispatch @", dispatch_.name, ": buffer %",
              dispatch_.buffers[failure_.buffer].name, ": index ",
              failure_.index, " in dimension ", failure_.dimension,
              " is outside the extent ", failure_.extent}));
}

std::string InterpreterPlan::Describe() const {
  std::string text;
  for (const Group& group : groups_) {
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

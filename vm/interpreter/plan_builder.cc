#include <algorithm>
#include <numeric>

#include "base/concat.h"
#include "base/rounding.h"
#include "tensor/analysis/self_copy.h"
#include "vm/interpreter/plan_parts.h"
#include "vm/interpreter/row_groups.h"
#include "vm/interpreter/stored_parts.h"

namespace ember::vm {

using tensor::BufferKind;
using tensor::Combiner;
using tensor::Dispatch;

namespace {

// Estimates the number of bytes of a plan's own lists (the analyses of stages
// and the strip programs), without scratch and packed operands. The budget is
// charged before the lists are made, so an estimate is used: for a chain of
// 3,000 products of loads the lists took two thirds of the estimated size.
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

class PlanBuilder {
 public:
  PlanBuilder(const Dispatch& dispatch, const PlanHeader& header,
              const Plan::Options& options, PlanMemory& memory,
              PlanParts& parts)
      : dispatch_(dispatch),
        header_(header),
        options_(options),
        memory_(memory),
        parts_(parts) {}

  Status Build();

 private:
  int64_t BytesOf(int buffer) const {
    return header_.elements[buffer] *
           DTypeByteSize(dispatch_.buffers[buffer].type);
  }
  Status AddGroup(const RowGroup& rows,
                  const std::vector<AnalyzedStage>& stages);
  Status AddStrips(const AnalyzedStage& stage, int prefix, Step& step);
  // If the stage only copies an input to the same positions of an output, notes
  // both buffers in the step.
  void NoteSelfCopy(const tensor::Stage& stage, Step& step) const;
  Status AddContraction(const AnalyzedStage& stage, int prefix, Group& group,
                        Step& step);
  bool IsWrittenBy(const Group& group, int buffer) const;
  bool ReadsOnlyConstants(const AnalyzedStage& stage, tensor::Register r) const;
  bool IsStoredByOneStage(int buffer) const;
  void LayOutScratch(const RowGroup& rows,
                     const std::vector<AnalyzedStage>& stages, Group& group);

  const Dispatch& dispatch_;
  const PlanHeader& header_;
  const Plan::Options& options_;
  PlanMemory& memory_;
  PlanParts& parts_;
  // For each buffer, the stages that read it or store to it.
  std::vector<std::vector<const StageAnalysis*>> stages_of_;
};

Status PlanBuilder::Build() {
  EMBER_RETURN_IF_ERROR(memory_.Charge(OwnBytes(dispatch_), "plan"));
  std::vector<AnalyzedStage> stages(dispatch_.stages.size());
  for (size_t i = 0; i < stages.size(); ++i) {
    EMBER_ASSIGN_OR_RETURN(
        stages[i].analysis,
        StageAnalysis::Make(dispatch_, header_, static_cast<int>(i)));
    stages[i].contraction = RecogniseContraction(stages[i].analysis);
  }
  std::vector<const StageAnalysis*> in_order;
  for (const AnalyzedStage& stage : stages) in_order.push_back(&stage.analysis);
  stages_of_ = StagesByBuffer(in_order, dispatch_.buffers.size());
  parts_.buffers.assign(dispatch_.buffers.size() + kContractionBuffers,
                        nullptr);
  for (const tensor::Buffer& buffer : dispatch_.buffers) {
    parts_.io_count += buffer.kind != BufferKind::kTemporary;
  }
  for (const RowGroup& rows : FormRowGroups(dispatch_, header_, stages)) {
    EMBER_RETURN_IF_ERROR(AddGroup(rows, stages));
  }
  std::vector<bool> in_chunk(dispatch_.buffers.size());
  for (const Group& group : parts_.groups) {
    for (const ChunkBuffer& chunk : group.chunk_buffers)
      in_chunk[static_cast<size_t>(chunk.buffer)] = true;
  }
  // A temporary that no group keeps chunk by chunk gets memory for all of its
  // rows.
  for (size_t i = 0; i < dispatch_.buffers.size(); ++i) {
    const int buffer = static_cast<int>(i);
    if (dispatch_.buffers[i].kind != BufferKind::kTemporary) continue;
    if (in_chunk[i]) continue;
    EMBER_ASSIGN_OR_RETURN(parts_.buffers[i],
                           memory_.Allocate(BytesOf(buffer), "temporary %",
                                            dispatch_.buffers[i].name));
    if (!StoresCoverBuffer(stages_of_[buffer], buffer))
      parts_.zeroed.push_back({parts_.buffers[i], BytesOf(buffer)});
  }
  for (int buffer = 0; buffer < parts_.io_count; ++buffer) {
    parts_.facts.required_bytes.push_back(BytesOf(buffer));
    parts_.facts.overwrites.push_back(
        dispatch_.buffers[static_cast<size_t>(buffer)].kind ==
            BufferKind::kOutput &&
        StoresCoverBuffer(stages_of_[buffer], buffer));
  }
  return OkStatus();
}

// True if a single stage, without an update, stores to every element of the
// buffer before any stage reads it. Also true if no stage uses the buffer.
bool PlanBuilder::IsStoredByOneStage(int buffer) const {
  for (const StageAnalysis* const stage : stages_of_[buffer]) {
    if (const auto stored = stage->StoresAllOf(buffer)) return *stored;
  }
  return true;  // No stage uses the buffer, so nothing has to be cleared.
}

bool PlanBuilder::ReadsOnlyConstants(const AnalyzedStage& stage,
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

Status PlanBuilder::AddGroup(const RowGroup& rows,
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
      parts_.register_count =
          std::max(parts_.register_count, step.contraction->register_count());
    } else {
      EMBER_RETURN_IF_ERROR(AddStrips(stage, prefix, step));
      group.ordered |= step.program.ordered;
      group.row_cost += step.program.cost_per_point *
                        static_cast<double>(step.rest) *
                        static_cast<double>(std::max<int64_t>(
                            stage.analysis.ReductionPoints(), 1));
      parts_.register_count =
          std::max(parts_.register_count, step.program.register_count());
    }
    group.steps.push_back(std::move(step));
  }
  LayOutScratch(rows, stages, group);
  parts_.groups.push_back(std::move(group));
  return OkStatus();
}

Status PlanBuilder::AddStrips(const AnalyzedStage& stage, int prefix,
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
  NoteSelfCopy(definition, step);
  return OkStatus();
}

void PlanBuilder::NoteSelfCopy(const tensor::Stage& stage, Step& step) const {
  const uint32_t output = stage.stores[0].buffer;
  if (dispatch_.buffers[output].kind != BufferKind::kOutput) return;
  for (uint32_t input = 0; input < dispatch_.input_count(); ++input) {
    if (!tensor::IsSelfCopy(dispatch_, stage, input, output)) continue;
    step.copied_input = static_cast<int>(input);
    step.copied_output = static_cast<int>(output);
  }
}

bool PlanBuilder::IsWrittenBy(const Group& group, int buffer) const {
  for (const Step& step : group.steps) {
    for (const tensor::Store& store : dispatch_.stages[step.stage].stores) {
      if (static_cast<int>(store.buffer) == buffer) return true;
    }
  }
  return false;
}

Status PlanBuilder::AddContraction(const AnalyzedStage& stage, int prefix,
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
  group.row_alignment = std::lcm(group.row_alignment, step.row_divisor);
  step.keeps_packed = ReadsOnlyConstants(stage, stage.contraction->b);
  EMBER_ASSIGN_OR_RETURN(
      step.packed_b,
      memory_.Allocate(contraction.packed_b_bytes(),
                       Concat({"packed operand of stage ", step.stage})));
  if (contraction.padded_bytes() > 0) {
    EMBER_ASSIGN_OR_RETURN(
        step.padded_a,
        memory_.Allocate(contraction.padded_bytes(),
                         Concat({"padded operand of stage ", step.stage})));
  }
  step.contraction = std::move(contraction);
  return OkStatus();
}

void PlanBuilder::LayOutScratch(const RowGroup& rows,
                                const std::vector<AnalyzedStage>& stages,
                                Group& group) {
  if (group.rows == 0) return;
  int64_t row_bytes = 0;
  for (int buffer : rows.temporaries) {
    ChunkBuffer chunk;
    chunk.buffer = buffer;
    chunk.row_bytes = BytesOf(buffer) / group.rows;
    // The rows of a temporary in a chunk are cleared, unless one stage stores
    // to all of them. Several stages that together store to the whole buffer do
    // not suffice, because a chunk holds only some of the rows.
    chunk.zero = !IsStoredByOneStage(buffer);
    row_bytes += chunk.row_bytes;
    group.chunk_buffers.push_back(chunk);
  }
  int64_t most = group.rows;
  if (row_bytes > 0) most = std::min(most, options_.scratch_target / row_bytes);
  // The preferred number of rows of a chunk is that of a contraction's register
  // block or, without a contraction, that of whole inner axes.
  const Step& first = group.steps.front();
  for (const Step& step : group.steps) {
    if (!step.contraction || step.row_factor != 1) continue;
    group.preferred_rows = step.row_divisor * step.contraction->micro_rows();
    group.wanted_rows = step.row_divisor * step.contraction->wanted_rows();
    break;
  }
  // A chunk may have the number of rows that the contraction wants even if its
  // temporaries exceed the scratch target, but only up to eight times the
  // target.
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
  parts_.scratch_bytes = std::max(parts_.scratch_bytes, offset + most_scratch);
}

}  // namespace

Status BuildPlanParts(const Dispatch& dispatch, const PlanHeader& header,
                      const Plan::Options& options, PlanMemory& memory,
                      PlanParts* parts) {
  return PlanBuilder(dispatch, header, options, memory, *parts).Build();
}

}  // namespace ember::vm

#include "jit/kernel/build_nest.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/kernel/content_key.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/registry/backends.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/normalise.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/lowering/lowering.h"
#include "jit/schedule/primitives/replay.h"
#include "tensor/range_rules.h"

namespace ember::jit {
namespace {

// Limits of a dispatch. Schedules, lowering, code generation and LLVM walk
// expressions by recursion, and some passes take n^2 time. Larger dispatches,
// which no model has, are left to tier 0.
constexpr size_t kMaxInstructions = 8192;
constexpr int kMaxDepth = 512;

Status CheckSize(const tensor::Dispatch& dispatch) {
  if (dispatch.instructions.size() > kMaxInstructions) {
    return Decline(
        DeclineReason::kTooLarge,
        Concat({"expected at most ", kMaxInstructions, " instructions, found ",
                dispatch.instructions.size()}));
  }
  std::vector<int> depths;
  for (const tensor::Instruction& instruction : dispatch.instructions) {
    int depth = 0;
    dispatch.ForEachOperand(instruction, [&](tensor::Register operand) {
      depth = std::max(depth, depths[operand] + 1);
    });
    if (depth > kMaxDepth) {
      return Decline(DeclineReason::kTooLarge,
                     Concat({"expected at most ", kMaxDepth,
                             " instructions that use each other"}));
    }
    depths.push_back(depth);
  }
  return OkStatus();
}

// Checks the terms from which schedules and code generation compute strides,
// regions and offsets, as numbers of 64 bits. If the terms are at most 2^40, as
// extents are, nothing overflows. Loaded values may be any numbers: only a
// kernel computes with them, modulo 2^64.
Status CheckIndexTerms(const schedule::Computation& computation) {
  const tensor::ExpressionPool& pool = computation.pool;
  std::vector<bool> seen;
  const auto check = [&](std::span<const tensor::NodeId> indices) -> Status {
    std::vector<tensor::NodeId> stack(indices.begin(), indices.end());
    while (!stack.empty()) {
      const tensor::NodeId id = stack.back();
      stack.pop_back();
      if (seen.size() <= id) seen.resize(id + 1);
      if (seen[id]) continue;
      seen[id] = true;
      const tensor::Node& node = pool[id];
      const std::optional<int64_t> constant = pool.IntegerConstant(id);
      if (constant &&
          (*constant < -tensor::kMaxExtent || *constant > tensor::kMaxExtent)) {
        return Decline(DeclineReason::kIndexTerm, std::to_string(*constant));
      }
      const bool is_load = node.opcode == tensor::Opcode::kLoad ||
                           node.opcode == tensor::Opcode::kPad;
      if (!is_load)
        stack.insert(stack.end(), node.operands.begin(), node.operands.end());
    }
    return OkStatus();
  };
  for (const schedule::ComputationStage& stage : computation.stages) {
    Status status;
    schedule::ForEachLoad(
        pool, schedule::RootsOf(stage), [&](tensor::NodeId load) {
          const tensor::Node& node = pool[load];
          const size_t rank = computation.buffers[node.buffer].extents.size();
          if (status.ok()) status = check(std::span(node.operands).first(rank));
        });
    EMBER_RETURN_IF_ERROR(status);
    for (const schedule::ComputationStore& store : stage.stores)
      EMBER_RETURN_IF_ERROR(check(store.indices));
  }
  return OkStatus();
}

}  // namespace

StatusOr<schedule::Computation> ComputationOf(
    const vm::KernelRequest& request) {
  EMBER_RETURN_IF_ERROR(CheckSize(*request.dispatch));
  schedule::Computation computation =
      schedule::Disassemble(*request.dispatch, request.parameters);
  EMBER_RETURN_IF_ERROR(CheckIndexTerms(computation));
  for (size_t i = 0; i < request.constant_inputs.size(); ++i) {
    if (request.constant_inputs[i])
      schedule::MakeConstant(computation.buffers[i], request.constant_data[i]);
  }
  schedule::Normalise(computation);
  return computation;
}

namespace {

// Gives the nest of a dispatch with canonical names the dispatch's own names.
// The nest's other buffers whose names are then taken get longer names.
void RestoreNames(const tensor::Dispatch& dispatch, loops::LoopNest& nest) {
  nest.name = dispatch.name;
  // A specialised nest has no parameters.
  if (!nest.parameters.empty()) nest.parameters = dispatch.parameters;
  const size_t count = dispatch.input_count() + dispatch.output_count();
  std::set<std::string> taken;
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    std::string& name = nest.buffers[i].name;
    if (i < count) name = dispatch.buffers[i].name;
    while (!taken.insert(name).second) name += "_";
  }
}

}  // namespace

StatusOr<loops::LoopNest> BuildNest(const vm::KernelRequest& request,
                                    const NestOptions& options, NestText* text,
                                    double* error_growth) {
  if (options.has_canonical_names) {
    const vm::KernelRequest canonical = WithCanonicalNames(request);
    NestOptions own = options;
    own.has_canonical_names = false;
    EMBER_ASSIGN_OR_RETURN(loops::LoopNest nest,
                           BuildNest(canonical, own, text, error_growth));
    RestoreNames(*request.dispatch, nest);
    if (text != nullptr) text->nest = loops::ToText(nest);
    return nest;
  }
  EMBER_ASSIGN_OR_RETURN(schedule::Computation computation,
                         ComputationOf(request));
  schedule::Schedule schedule(std::move(computation));
  Status scheduled;
  if (!options.given_schedule.empty()) {
    scheduled = Replay(options.given_schedule, schedule);
  } else {
    scheduled =
        BackendFor(request.target)
            .schedule(request.target,
                      {.is_exact = options.is_exact, .cpu = options.cpu},
                      schedule);
  }
  EMBER_RETURN_IF_ERROR(scheduled);
  EMBER_ASSIGN_OR_RETURN(loops::LoopNest nest, schedule::Lower(schedule));
  if (error_growth != nullptr) *error_growth = schedule.ErrorGrowth();
  if (text != nullptr)
    *text = {.schedule = schedule.ToText(), .nest = loops::ToText(nest)};
  // Modules come from strangers: code may run only if the verifier proves that
  // it stays in bounds.
  if (Status status = loops::Verify(nest); !status.ok())
    return Decline(DeclineReason::kNoProof, status.message());
  return nest;
}

}  // namespace ember::jit

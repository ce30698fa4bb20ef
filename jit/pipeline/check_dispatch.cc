#include "jit/pipeline/check_dispatch.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "tensor/range_rules.h"

namespace ember::jit {
namespace {

// Limits on the size of a dispatch that the JIT compiles. Several steps
// (schedules, lowering, code generation, LLVM) walk expressions by recursion,
// and some passes take n^2 time. Larger dispatches, which no model has, stay
// with tier 0.
constexpr size_t kMaxInstructions = 8192;
constexpr int kMaxDepth = 512;

}  // namespace

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

// Checks the terms of index expressions. Schedules and code generation compute
// strides, regions and offsets from them in 64 bits, which cannot overflow if
// each term is at most 2^40, as extents are. Values that are loaded at run time
// may be any: only a kernel computes with them, modulo 2^64.
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

}  // namespace ember::jit

#include "jit/gpu/invocations.h"

#include <algorithm>

#include "base/rounding.h"
#include "jit/loops/walk.h"

namespace ember::jit::gpu {

using loops::Block;
using loops::Statement;

namespace {

bool IsSubgroupLoop(const Statement& statement) {
  return statement.kind == Statement::Kind::kFor &&
         statement.loop == loops::LoopKind::kSubgroup;
}

bool HasSubgroupLoop(const Block& block) {
  return std::ranges::any_of(block, [](const Statement& statement) {
    return IsSubgroupLoop(statement) || HasSubgroupLoop(statement.body);
  });
}

int64_t LargestLoop(const loops::LoopNest& nest, const Block& block,
                    const DeviceTraits& device) {
  int64_t largest = 0;
  for (const Statement& statement : block) {
    largest = std::max(largest, LargestLoop(nest, statement.body, device));
    if (!loops::IsInvocationLoop(statement)) continue;
    const int64_t values = *nest.pool.IntegerConstant(
        loops::ExtentOf(nest.pool, statement.variable));
    largest = std::max(largest, IsSubgroupLoop(statement)
                                    ? values * device.subgroup_size
                                    : values);
  }
  return largest;
}

}  // namespace

bool HasSubgroupLoop(const loops::LoopNest& nest) {
  const auto in_phase = [](const loops::Phase& phase) {
    return HasSubgroupLoop(phase.body);
  };
  return std::ranges::any_of(nest.prologue, in_phase) ||
         std::ranges::any_of(nest.phases, in_phase);
}

int64_t InvocationsOf(const loops::LoopNest& nest, const loops::Phase& phase,
                      const DeviceTraits& device) {
  const int64_t largest = LargestLoop(nest, phase.body, device);
  const bool needs_whole = device.has_whole_subgroups || HasSubgroupLoop(nest);
  return needs_whole ? RoundUp(largest, device.subgroup_size) : largest;
}

}  // namespace ember::jit::gpu

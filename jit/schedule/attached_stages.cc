#include "jit/schedule/attached_stages.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "jit/schedule/dependences.h"

namespace ember::schedule {

bool StoresResult(const Computation& computation, int stage) {
  return std::ranges::any_of(
      computation.stages[stage].stores, [&](const auto& store) {
        return computation.buffers[store.buffer].role == BufferRole::kOutput;
      });
}

std::vector<AxisRegion> CoveredRegions(const Schedule& schedule, int stage,
                                       const LoopBody& body,
                                       std::span<const NodeId> full,
                                       Rewriter& header,
                                       loops::LoopNest& nest) {
  const Computation& computation = schedule.computation();
  const auto whole = [&](NodeId extent) {
    return AxisRegion{nest.pool.Constant(0, DType::kI64), extent};
  };
  const ComputationStage& computed = computation.stages[stage];
  std::vector<AxisRegion> regions;
  for (const ComputationStore& store : computed.stores) {
    const std::vector<NodeId> extents =
        header.Rewrite(computation.buffers[store.buffer].extents);
    std::vector<AxisRegion> read =
        RegionRead(computation, store.buffer, body, extents, nest);
    if (regions.empty()) {
      regions = std::move(read);
      continue;
    }
    // Several results: what all of them need.
    for (size_t d = 0; d < regions.size(); ++d) {
      if (regions[d].base != read[d].base ||
          regions[d].extent != read[d].extent) {
        regions[d] = whole(extents[d]);
      }
    }
  }
  if (StoresResult(computation, stage)) {
    // All of it is wanted, but for the parts that other iterations of the
    // loops around compute.
    const std::vector<int> axes = AxesOfReader(schedule, stage);
    for (size_t d = 0; d < regions.size(); ++d) {
      if (axes[d] < 0 || nest.pool.IsConstant(regions[d].base))
        regions[d] = whole(full[d]);
    }
  }
  for (size_t a = computed.spatial_count; a < computed.axes.size(); ++a)
    regions.push_back(whole(full[a]));
  return regions;
}

void KeepRegions(const Computation& computation, int stage,
                 std::span<const AxisRegion> regions,
                 std::optional<NodeId> invocation, loops::LoopNest& nest,
                 std::vector<std::optional<RegionStorage>>& storage) {
  for (const ComputationStore& store : computation.stages[stage].stores) {
    if (computation.buffers[store.buffer].role == BufferRole::kOutput) continue;
    loops::Buffer& buffer = nest.buffers[store.buffer];
    buffer.scope = loops::Scope::kTask;
    buffer.extents.clear();
    RegionStorage& kept = storage[store.buffer].emplace();
    kept.invocation = invocation;
    // Others of the loop compute theirs at the same time.
    if (invocation)
      buffer.extents.push_back(nest.pool[*invocation].operands[0]);
    for (size_t d = 0; d < computation.buffers[store.buffer].extents.size();
         ++d) {
      kept.bases.push_back(regions[d].base);
      buffer.extents.push_back(regions[d].extent);
    }
  }
}

}  // namespace ember::schedule

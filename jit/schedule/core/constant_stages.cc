#include "jit/schedule/core/constant_stages.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "jit/schedule/core/dependences.h"

namespace ember::schedule {
namespace {

// Returns the bytes of a buffer, at most 2^40; nullopt if an extent is not
// constant.
std::optional<int64_t> BytesOf(const Computation& c, uint32_t number) {
  const ComputationBuffer& buffer = c.buffers[number];
  int64_t bytes = DTypeByteSize(buffer.type);
  for (const NodeId extent : buffer.extents) {
    const std::optional<int64_t> size = c.pool.IntegerConstant(extent);
    if (!size) return std::nullopt;
    bytes = std::min(bytes * std::max<int64_t>(*size, 1), int64_t{1} << 40);
  }
  return bytes;
}

// Returns the number of stages that store to each buffer.
std::vector<int> StoresOf(const Computation& c) {
  std::vector<int> stores(c.buffers.size());
  for (const ComputationStage& stage : c.stages) {
    for (const ComputationStore& store : stage.stores) ++stores[store.buffer];
  }
  return stores;
}

bool IsOfConstants(const Computation& c, int number,
                   const std::vector<int>& stores) {
  const ComputationStage& stage = c.stages[number];
  if (stage.stores.size() != 1) return false;
  const uint32_t result = stage.stores[0].buffer;
  if (c.buffers[result].role != BufferRole::kTemporary || stores[result] != 1 ||
      !StoresAreIdentity(c, number) || !AccessesAreSafe(c, number)) {
    return false;
  }
  const std::optional<int64_t> bytes = BytesOf(c, result);
  if (!bytes) return false;
  bool is_of_constants = true;
  std::set<uint32_t> read;
  ForEachLoad(c.pool, RootsOf(stage), [&](NodeId load) {
    is_of_constants &= c.buffers[c.pool[load].buffer].is_constant;
    read.insert(c.pool[load].buffer);
  });
  if (!is_of_constants || read.empty()) return false;
  int64_t made_of = 0;
  for (const uint32_t buffer : read) made_of += BytesOf(c, buffer).value_or(0);
  return *bytes <= kMaxGrowth * made_of &&
         std::ranges::all_of(stage.axes, [&](const ComputationAxis& axis) {
           return c.pool.IntegerConstant(axis.extent).has_value();
         });
}

}  // namespace

void MarkConstantStages(Computation& computation) {
  const std::vector<int> stores = StoresOf(computation);
  for (size_t i = 0; i < computation.stages.size(); ++i) {
    if (!IsOfConstants(computation, static_cast<int>(i), stores)) continue;
    ComputationBuffer& result =
        computation.buffers[computation.stages[i].stores[0].buffer];
    result.role = BufferRole::kPacked;
    result.is_constant = true;
  }
}

}  // namespace ember::schedule

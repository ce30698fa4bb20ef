#include "jit/loops/analysis/may_share_memory.h"

#include <optional>

namespace ember::loops {

bool MayShareMemory(const LoopNest& nest, uint32_t a, uint32_t b) {
  if (a == b) return true;
  const Buffer& x = nest.buffers[a];
  const Buffer& y = nest.buffers[b];
  const bool are_arguments =
      (x.scope == MemoryScope::kInput && y.scope == MemoryScope::kOutput) ||
      (x.scope == MemoryScope::kOutput && y.scope == MemoryScope::kInput);
  if (!are_arguments || x.type != y.type ||
      x.extents.size() != y.extents.size()) {
    return false;
  }
  for (size_t dim = 0; dim < x.extents.size(); ++dim) {
    const auto n = nest.pool.IntegerConstant(x.extents[dim]);
    const auto m = nest.pool.IntegerConstant(y.extents[dim]);
    if (n && m && *n != *m) return false;
  }
  return true;
}

}  // namespace ember::loops

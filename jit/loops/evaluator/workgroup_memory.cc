#include "jit/loops/evaluator/workgroup_memory.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/concat.h"
#include "base/dtype.h"

namespace ember::loops {
namespace {

constexpr int64_t kMaxWorkgroupBytes = int64_t{1} << 30;

}  // namespace

Status WorkgroupMemory::Bind(const LoopNest& nest, const Workgroup& workgroup,
                             std::span<const std::vector<int64_t>> extents,
                             std::span<void*> memory) {
  ranges_.assign(nest.buffers.size(), {});
  const int64_t size = workgroup.shared_bytes;
  if (size < 0 || size > kMaxWorkgroupBytes) {
    return ResourceExhaustedError(
        Concat({"a workgroup's memory of ", size, " bytes, where ",
                kMaxWorkgroupBytes, " are allowed"}));
  }
  bytes_.resize(static_cast<size_t>(size));
  unit_ = 8;
  for (size_t i = 0; i < workgroup.storage.size(); ++i) {
    if (workgroup.storage[i].offset)
      unit_ = std::min<int64_t>(unit_, DTypeByteSize(nest.buffers[i].type));
  }
  for (size_t i = 0; i < workgroup.storage.size(); ++i) {
    const std::optional<int64_t> begin = workgroup.storage[i].offset;
    if (!begin) continue;
    const int64_t of_element = DTypeByteSize(nest.buffers[i].type);
    int64_t bytes = of_element;
    for (const int64_t extent : extents[i]) bytes *= extent;
    if (*begin < 0 || bytes > size || *begin > size - bytes) {
      return InternalError(
          Concat({"buffer %", nest.buffers[i].name, ": ", bytes, " bytes at ",
                  *begin, " of a workgroup's memory of ", size}));
    }
    ranges_[i] = {*begin / unit_, of_element / unit_};
    memory[i] = bytes_.data() + *begin;
  }
  return OkStatus();
}

int64_t WorkgroupMemory::Note(AccessLog& log, uint32_t buffer, int64_t position,
                              int64_t agent, bool stores) const {
  const Range& range = ranges_[buffer];
  const size_t count = bytes_.size() / static_cast<size_t>(unit_);
  for (int64_t i = 0; i < range.units; ++i) {
    const int64_t unit = range.begin + position * range.units + i;
    const int64_t other = log.Note(bytes_.data(), count, unit, agent, stores);
    if (other >= 0) return other;
  }
  return -1;
}

}  // namespace ember::loops

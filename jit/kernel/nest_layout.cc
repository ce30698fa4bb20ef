#include "jit/kernel/nest_layout.h"

#include <algorithm>

#include "base/concat.h"
#include "tensor/range_rules.h"

namespace ember::jit {
namespace {

// More of temporaries than this is refused before it is allocated.
constexpr int64_t kMaximumBytes = int64_t{1} << 36;

std::vector<tensor::NodeId> HeaderNodes(const loops::LoopNest& nest) {
  std::vector<tensor::NodeId> nodes;
  for (const auto* phases : {&nest.prologue, &nest.phases}) {
    for (const loops::Phase& phase : *phases)
      nodes.push_back(nest.pool[phase.task].operands[0]);
  }
  for (const loops::Buffer& buffer : nest.buffers)
    nodes.insert(nodes.end(), buffer.extents.begin(), buffer.extents.end());
  return nodes;
}

}  // namespace

NestHeader::NestHeader(const loops::LoopNest& nest, int64_t alignment)
    : nest_(nest),
      values_(nest.pool, HeaderNodes(nest)),
      alignment_(alignment) {}

StatusOr<NestLayout> NestHeader::LayoutFor(
    std::span<const int64_t> parameters) const {
  const std::vector<int64_t> values = values_.Evaluate(parameters);
  NestLayout layout;
  const size_t phases = nest_.prologue.size() + nest_.phases.size();
  layout.phase_tasks.assign(values.begin(),
                            values.begin() + static_cast<ptrdiff_t>(phases));
  for (const int64_t tasks : layout.phase_tasks) {
    // What ranges of variables promise to code generation.
    if (tasks <= tensor::kMaximumExtent) continue;
    return ResourceExhaustedError(
        Concat({"dispatch @", nest_.name, ": ", tasks, " tasks"}));
  }
  size_t next = phases;
  for (const loops::Buffer& buffer : nest_.buffers) {
    int64_t bytes = DTypeByteSize(buffer.type);
    std::vector<int64_t>& extents = layout.extents.emplace_back();
    for (size_t d = 0; d < buffer.extents.size(); ++d) {
      extents.push_back(std::max<int64_t>(values[next++], 0));
      // Extents of the dispatch's own buffers were checked by its plan.
      const bool overflows =
          __builtin_mul_overflow(bytes, extents.back(), &bytes);
      if (overflows || bytes > kMaximumBytes) bytes = kMaximumBytes + 1;
    }
    layout.bytes.push_back(bytes);
    int64_t* const total =
        buffer.scope == loops::Scope::kCall   ? &layout.call_bytes
        : buffer.scope == loops::Scope::kTask ? &layout.task_bytes
                                              : nullptr;
    layout.offsets.push_back(total == nullptr ? 0 : *total);
    if (total == nullptr) continue;
    if (bytes > kMaximumBytes - *total) {
      return ResourceExhaustedError(
          Concat({"dispatch @", nest_.name, ": temporary %", buffer.name,
                  " of ", bytes, " bytes"}));
    }
    *total += (bytes + alignment_ - 1) / alignment_ * alignment_;
  }
  return layout;
}

Status FailedCheck(const loops::LoopNest& nest, uint32_t buffer, uint32_t dim,
                   int64_t index, int64_t extent) {
  return InvalidArgumentError(Concat(
      {"dispatch @", nest.name, ": buffer %", nest.buffers[buffer].name,
       ": expected index ", dim, " in 0..", extent - 1, ", found ", index}));
}

Status CheckConstants(const loops::LoopNest& nest, const NestLayout& layout,
                      std::span<const std::span<const uint8_t>> constants) {
  for (size_t i = 0; i < constants.size(); ++i) {
    const auto size = static_cast<int64_t>(constants[i].size());
    if (size == 0 || size >= layout.bytes[i]) continue;
    return InvalidArgumentError(Concat(
        {"dispatch @", nest.name, ": buffer '", nest.buffers[i].name,
         "': expected at least ", layout.bytes[i], " bytes, found ", size}));
  }
  return OkStatus();
}

}  // namespace ember::jit

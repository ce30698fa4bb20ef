#include "vm/interpreter/stored_parts.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "tensor/range_rules.h"

namespace ember::vm {
namespace {

// Largest number of parts of a buffer that are considered. It is limited
// because each part is compared with all others.
constexpr size_t kMaxParts = 64;

struct Range {
  int64_t begin = 0;
  int64_t end = 0;
};

// A box of elements of a buffer: in each dimension the range of its indices.
using Box = std::vector<Range>;

// Returns the range of an index, if its values are contiguous and it depends on
// at most one axis, which no earlier index uses. `taken` has a bit for each
// axis that earlier indices use.
std::optional<Range> RangeOf(const StageAnalysis& stage, tensor::Register index,
                             uint32_t& taken) {
  if (stage.IsHeader(index)) {
    const auto value = static_cast<int64_t>(stage.header->values[index]);
    // The index is a number from an untrusted file, so adding 1 to it could
    // overflow.
    if (value < 0 || value > tensor::kMaxExtent) return std::nullopt;
    return Range{value, value + 1};
  }
  const StageValue& value = stage.ValueOf(index);
  if (!value.affine) return std::nullopt;
  Range range = {value.form.constant, value.form.constant + 1};
  bool has_axis = false;
  for (size_t axis = 0; axis < stage.axes.size(); ++axis) {
    if (value.form.coefficients[axis] == 0) continue;
    const uint32_t bit = uint32_t{1} << axis;
    if (value.form.coefficients[axis] != 1 || has_axis || (taken & bit) != 0)
      return std::nullopt;
    has_axis = true;
    taken |= bit;
    range.end = range.begin + stage.axes[axis].extent;
  }
  return range;
}

std::optional<Box> BoxOf(const StageAnalysis& stage,
                         const tensor::Store& store) {
  if (stage.needs_order) return std::nullopt;
  Box box;
  uint32_t taken = 0;
  for (const tensor::Register index : store.indices) {
    const std::optional<Range> range = RangeOf(stage, index, taken);
    if (!range) return std::nullopt;
    box.push_back(*range);
  }
  // An axis that no index uses must have the extent 1: with the extent 0 the
  // stage would store nothing.
  for (int axis = 0; axis < stage.spatial_count; ++axis) {
    if ((taken >> axis & 1) == 0 &&
        stage.axes[static_cast<size_t>(axis)].extent != 1)
      return std::nullopt;
  }
  return box;
}

// Returns the number of elements of a box. The box is inside of a buffer, so
// its number of elements does not overflow.
int64_t ElementsOf(const Box& box) {
  int64_t elements = 1;
  for (const Range& range : box) elements *= range.end - range.begin;
  return elements;
}

bool IsWithin(const Box& box, const std::vector<int64_t>& extents) {
  for (size_t dim = 0; dim < box.size(); ++dim) {
    if (box[dim].begin < 0 || box[dim].end > extents[dim]) return false;
  }
  return true;
}

bool AreApart(const Box& a, const Box& b) {
  for (size_t dim = 0; dim < a.size(); ++dim) {
    if (a[dim].end <= b[dim].begin || b[dim].end <= a[dim].begin) return true;
  }
  return false;
}

bool Reads(const StageAnalysis& stage, int buffer) {
  return std::ranges::any_of(stage.accesses, [&](const Access& access) {
    return access.buffer == buffer;
  });
}

}  // namespace

bool StoresCoverBuffer(std::span<const StageAnalysis* const> stages,
                       int buffer) {
  bool is_stored = false;
  std::vector<Box> parts;
  int64_t left = 0;  // number of elements of the buffer to which the parts so
                     // far do not store
  for (const StageAnalysis* const stage : stages) {
    if (const auto all = stage->StoresAllOf(buffer); all && !is_stored) {
      if (*all) return true;
      left = stage->header->elements[static_cast<size_t>(buffer)];
    }
    if (Reads(*stage, buffer)) return false;
    for (const tensor::Store& store : stage->stage().stores) {
      if (static_cast<int>(store.buffer) != buffer) continue;
      if (store.update != tensor::Update::kAssign) return false;
      is_stored = true;
      std::optional<Box> box = BoxOf(*stage, store);
      const auto& extents = stage->header->extents[static_cast<size_t>(buffer)];
      // A store to elements that are not a box, or not inside of the buffer, is
      // ignored: the buffer is covered only if the other parts suffice.
      if (!box || !IsWithin(*box, extents)) continue;
      const auto is_apart = [&](const Box& part) {
        return AreApart(part, *box);
      };
      if (parts.size() == kMaxParts || !std::ranges::all_of(parts, is_apart))
        return false;
      left -= ElementsOf(*box);
      parts.push_back(*std::move(box));
    }
    if (is_stored && left == 0) return true;
  }
  return !is_stored;
}

std::vector<std::vector<const StageAnalysis*>> StagesByBuffer(
    std::span<const StageAnalysis* const> stages, size_t buffer_count) {
  std::vector<std::vector<const StageAnalysis*>> by_buffer(buffer_count);
  for (const StageAnalysis* const stage : stages) {
    const auto add = [&](int buffer) {
      auto& touching = by_buffer[static_cast<size_t>(buffer)];
      if (touching.empty() || touching.back() != stage)
        touching.push_back(stage);
    };
    for (const Access& access : stage->accesses) add(access.buffer);
    for (const Access& access : stage->stores) add(access.buffer);
  }
  return by_buffer;
}

}  // namespace ember::vm

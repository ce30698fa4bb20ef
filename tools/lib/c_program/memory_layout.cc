#include "tools/lib/c_program/memory_layout.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/rounding.h"
#include "tools/lib/c_program/byte_ranges.h"

namespace ember::tools {
namespace {

// The steps from `first` to `last`, both included.
struct StepRange {
  size_t first = 0, last = 0;

  bool Overlaps(const StepRange& other) const {
    return first <= other.last && other.first <= last;
  }
};

// A range of the arena, and the steps during which it holds a value.
struct ArenaPart {
  ByteRange bytes;
  std::vector<StepRange> live;

  void Read(size_t step) {
    if (live.empty()) live.push_back({0, 0});
    live.back().last = step;
  }
  void Write(size_t step) { live.push_back({step, step}); }
  bool IsLiveIn(const StepRange& steps) const {
    return std::ranges::any_of(
        live, [&](const StepRange& range) { return range.Overlaps(steps); });
  }
};

bool Reads(const LineStep& step, size_t operand) {
  switch (step.kind) {
    case LineStep::Kind::kDispatch:
      return operand < step.input_count || !step.overwrites[operand];
    case LineStep::Kind::kCopy:
      return operand == 0;
    case LineStep::Kind::kClear:
    case LineStep::Kind::kStore:
      return false;
    case LineStep::Kind::kResult:
      return true;
  }
  return true;
}

bool Writes(const LineStep& step, size_t operand) {
  switch (step.kind) {
    case LineStep::Kind::kDispatch:
      return operand >= step.input_count;
    case LineStep::Kind::kCopy:
      return operand == 1;
    case LineStep::Kind::kClear:
    case LineStep::Kind::kStore:
      return true;
    case LineStep::Kind::kResult:
      return false;
  }
  return true;
}

// Calls visit(step, operand) for each operand in the memory.
template <typename Visit>
void ForEachIn(Memory memory, const StraightLine& line, Visit&& visit) {
  for (size_t i = 0; i < line.steps.size(); ++i) {
    const LineStep& step = line.steps[i];
    for (size_t k = 0; k < step.operands.size(); ++k) {
      if (step.operands[k].memory == memory && step.operands[k].bytes > 0)
        visit(i, k);
    }
  }
}

// Returns the arena in parts that are never read or written in part.
std::vector<ArenaPart> PartsOfArena(const StraightLine& line) {
  std::vector<int64_t> bounds;
  ForEachIn(Memory::kArena, line, [&](size_t i, size_t k) {
    const MemoryRange& range = line.steps[i].operands[k];
    bounds.push_back(range.offset);
    bounds.push_back(range.offset + range.bytes);
  });
  std::ranges::sort(bounds);
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  std::vector<ArenaPart> parts;
  for (size_t i = 0; i + 1 < bounds.size(); ++i)
    parts.push_back({{bounds[i], bounds[i + 1]}, {}});
  const auto for_each_part = [&](const MemoryRange& range, const auto& visit) {
    auto part = std::ranges::lower_bound(
        parts, range.offset, {},
        [](const ArenaPart& candidate) { return candidate.bytes.begin; });
    const int64_t end = range.offset + range.bytes;
    for (; part != parts.end() && part->bytes.begin < end; ++part) visit(*part);
  };
  // All operands of a step are read before any is written.
  for (size_t i = 0; i < line.steps.size(); ++i) {
    const LineStep& step = line.steps[i];
    for (const bool is_write : {false, true}) {
      for (size_t k = 0; k < step.operands.size(); ++k) {
        const MemoryRange& range = step.operands[k];
        if (range.memory != Memory::kArena) continue;
        if (!(is_write ? Writes(step, k) : Reads(step, k))) continue;
        for_each_part(range, [&](ArenaPart& part) {
          is_write ? part.Write(i) : part.Read(i);
        });
      }
    }
  }
  return parts;
}

// Something that needs memory of the arena during some steps. `offset` is where
// its position is written.
struct Item {
  int64_t bytes = 0;
  StepRange steps;
  int64_t* offset = nullptr;
};

class Placer {
 public:
  explicit Placer(std::vector<ArenaPart> parts) : parts_(std::move(parts)) {
    if (!parts_.empty()) end_ = parts_.back().bytes.end;
  }

  void Place(const Item& item) {
    ByteRanges used;
    for (const ArenaPart& part : parts_) {
      if (part.IsLiveIn(item.steps)) used.Add(part.bytes.begin, part.bytes.end);
    }
    for (const Item& other : placed_) {
      if (other.steps.Overlaps(item.steps))
        used.Add(*other.offset, *other.offset + other.bytes);
    }
    for (const ByteRange& gap : used.Gaps(0, INT64_MAX)) {
      const int64_t begin = RoundUp(gap.begin, kBlockAlignment);
      if (gap.end - begin < item.bytes) continue;
      *item.offset = begin;
      break;
    }
    end_ = std::max(end_, *item.offset + item.bytes);
    placed_.push_back(item);
  }

  int64_t end() const { return end_; }

 private:
  std::vector<ArenaPart> parts_;
  std::vector<Item> placed_;
  int64_t end_ = 0;
};

// Gives blocks that become whole results the caller's memory for them. A result
// that is set twice gets copies, because both blocks may be in use at once.
void UseResults(const StraightLine& line, MemoryLayout& layout) {
  std::map<uint32_t, int> times_set;
  for (const LineStep& step : line.steps)
    times_set[step.result] += step.kind == LineStep::Kind::kResult;
  for (const LineStep& step : line.steps) {
    if (step.kind != LineStep::Kind::kResult || times_set[step.result] > 1)
      continue;
    const MemoryRange& range = step.operands[0];
    if (range.memory != Memory::kBlock || range.offset != 0 ||
        range.bytes != line.block_bytes[range.number] || range.bytes == 0)
      continue;
    MemoryLayout::Block& block = layout.blocks[range.number];
    if (!block.result) block.result = step.result;
  }
}

}  // namespace

MemoryLayout LayOutMemory(const StraightLine& line,
                          std::span<const int64_t> scratch_bytes) {
  MemoryLayout layout;
  layout.blocks.resize(line.block_bytes.size());
  layout.scratch_offsets.resize(line.steps.size());
  UseResults(line, layout);

  std::vector<Item> items;
  for (size_t i = 0; i < line.steps.size(); ++i) {
    if (scratch_bytes[i] > 0) {
      items.push_back({scratch_bytes[i], {i, i}, &layout.scratch_offsets[i]});
    }
  }
  std::vector<std::optional<StepRange>> uses(line.block_bytes.size());
  ForEachIn(Memory::kBlock, line, [&](size_t i, size_t k) {
    std::optional<StepRange>& use = uses[line.steps[i].operands[k].number];
    if (!use) use = {i, i};
    use->last = i;
  });
  for (size_t i = 0; i < uses.size(); ++i) {
    if (uses[i] && !layout.blocks[i].result) {
      items.push_back(
          {line.block_bytes[i], *uses[i], &layout.blocks[i].offset});
    }
  }
  std::ranges::stable_sort(items, std::greater(), &Item::bytes);
  Placer placer(PartsOfArena(line));
  for (const Item& item : items) placer.Place(item);
  layout.arena_bytes = RoundUp(placer.end(), kBlockAlignment);
  return layout;
}

}  // namespace ember::tools

#include "vm/runtime/kernels/check.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/large_memory.h"
#include "base/rounding.h"

namespace ember::vm {
namespace {

constexpr size_t kAlignment = 64;

// A range of memory that is copied as a whole: an output together with all
// operands that overlap it.
struct Region {
  const uint8_t* begin = nullptr;
  const uint8_t* end = nullptr;
  uint8_t* copy = nullptr;

  bool Overlaps(const Region& other) const {
    return begin < other.end && other.begin < end;
  }
  void Add(const Region& other) {
    begin = std::min(begin, other.begin);
    end = std::max(end, other.end);
  }
  size_t offset() const {
    return reinterpret_cast<uintptr_t>(begin) % kAlignment;
  }
  size_t size() const { return static_cast<size_t>(end - begin); }
  size_t needed() const { return RoundUp(offset() + size(), kAlignment); }
};

// Groups outputs that overlap, directly or through other operands, and returns
// one region for each set. No two regions overlap.
std::vector<Region> OutputRegions(std::span<const Region> operands,
                                  size_t input_count) {
  std::vector<Region> regions;
  for (const Region& output : operands.subspan(input_count)) {
    Region region = output;
    // All operands are searched again until none is added, because an operand
    // that was added to the region may make it overlap further operands.
    for (size_t size = 0; size != region.size();) {
      size = region.size();
      for (const Region& operand : operands) {
        if (operand.Overlaps(region)) region.Add(operand);
      }
    }
    std::erase_if(regions,
                  [&](const Region& other) { return other.Overlaps(region); });
    regions.push_back(region);
  }
  return regions;
}

}  // namespace

class KernelCheck::Memory {
 public:
  static StatusOr<std::unique_ptr<Memory>> Take(
      std::shared_ptr<MemoryPool> pool, size_t bytes) {
    EMBER_RETURN_IF_ERROR(pool->Charge(static_cast<int64_t>(bytes)));
    std::unique_ptr<Memory> memory(new Memory(std::move(pool), bytes));
    if (memory->data() == nullptr)
      return ResourceExhaustedError("no memory to check a kernel in");
    return memory;
  }
  ~Memory() {
    std::free(data_);
    pool_->Discharge(static_cast<int64_t>(bytes_));
  }
  uint8_t* data() const { return data_; }

 private:
  Memory(std::shared_ptr<MemoryPool> pool, size_t bytes)
      : pool_(std::move(pool)),
        bytes_(bytes),
        data_(static_cast<uint8_t*>(
            std::aligned_alloc(kAlignment, std::max(bytes, kAlignment)))) {}

  const std::shared_ptr<MemoryPool> pool_;
  const size_t bytes_;
  uint8_t* const data_;
};

KernelCheck::KernelCheck() = default;
KernelCheck::~KernelCheck() = default;
KernelCheck::KernelCheck(KernelCheck&& other) noexcept = default;
KernelCheck& KernelCheck::operator=(KernelCheck&& other) noexcept = default;

StatusOr<KernelCheck> KernelCheck::Copy(std::shared_ptr<MemoryPool> pool,
                                        std::span<void* const> buffers,
                                        std::span<const int64_t> bytes,
                                        size_t input_count,
                                        const Interrupt* interrupt) {
  std::vector<Region> operands;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto* const begin = static_cast<const uint8_t*>(buffers[i]);
    operands.push_back({.begin = begin, .end = begin + bytes[i]});
  }
  std::vector<Region> regions = OutputRegions(operands, input_count);
  // Inputs that the call overwrites are copied a second time, so that their old
  // contents can be passed to the judge.
  std::vector<bool> is_overwritten(input_count);
  size_t needed = 0;
  for (const Region& region : regions) {
    needed += region.needed();
    for (size_t i = 0; i < input_count; ++i)
      is_overwritten[i] = is_overwritten[i] || operands[i].Overlaps(region);
  }
  for (size_t i = 0; i < input_count; ++i)
    needed += is_overwritten[i] ? operands[i].needed() : 0;

  KernelCheck check;
  EMBER_ASSIGN_OR_RETURN(check.memory_, Memory::Take(std::move(pool), needed));
  uint8_t* next = check.memory_->data();
  const auto copy = [&](Region& region) {
    region.copy = next + region.offset();
    next += region.needed();
    return CopyMemory(region.copy, region.begin,
                      static_cast<int64_t>(region.size()), interrupt)
               ? OkStatus()
               : interrupt->status();
  };
  for (Region& region : regions) EMBER_RETURN_IF_ERROR(copy(region));
  for (size_t i = 0; i < buffers.size(); ++i) {
    void* buffer = buffers[i];
    for (const Region& region : regions) {
      if (region.begin <= operands[i].begin && operands[i].end <= region.end &&
          (i >= input_count || is_overwritten[i]))
        buffer = region.copy + (operands[i].begin - region.begin);
    }
    check.buffers_.push_back(buffer);
    if (i >= input_count) continue;
    if (is_overwritten[i]) EMBER_RETURN_IF_ERROR(copy(operands[i]));
    check.inputs_.push_back(is_overwritten[i] ? operands[i].copy : buffers[i]);
  }
  for (size_t i = input_count; i < buffers.size(); ++i) {
    const auto inputs = buffers.first(input_count);
    const auto input = std::ranges::find(inputs, buffers[i]);
    const bool is_shared = bytes[i] > 0 && input != inputs.end();
    check.shared_.push_back(is_shared ? static_cast<int>(input - inputs.begin())
                                      : -1);
    check.output_bytes_.push_back(bytes[i]);
    check.is_apart_.push_back(std::ranges::none_of(
        std::span(operands).first(input_count),
        [&](const Region& other) { return other.Overlaps(operands[i]); }));
  }
  return check;
}

bool KernelCheck::Overwrite(size_t output, bool is_float,
                            const Interrupt* interrupt) {
  if (!is_apart_[output]) return true;
  return FillMemory(buffers_[inputs_.size() + output], is_float ? 0xff : 0xa5,
                    output_bytes_[output], interrupt);
}

}  // namespace ember::vm

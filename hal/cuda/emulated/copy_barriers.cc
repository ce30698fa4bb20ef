#include "hal/cuda/emulated/copy_barriers.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/concat.h"

namespace ember::hal::cuda {
namespace {

// Number of bytes of a row of a swizzled box. The swizzle xors the number of
// each 16-byte piece of a row with the number of the row modulo eight.
constexpr uint64_t kSwizzledRow = 128;
constexpr uint64_t kSwizzledRows = 8;
constexpr uint64_t kPiece = 16;
// Alignment in bytes of a box in shared memory.
constexpr uint64_t kAlignment = 128;
// Alignment in bytes of a swizzled box: the size of eight rows.
constexpr uint64_t kSwizzledAlignment = 1024;

uint64_t RowBytes(const TensorMap& map) {
  return uint64_t{map.box[0]} * map.element_bytes;
}

uint64_t RowsOf(const TensorMap& map) {
  uint64_t rows = 1;
  for (uint32_t d = 1; d < map.rank; ++d) rows *= map.box[d];
  return rows;
}

uint64_t BytesOf(const TensorMap& map) { return RowBytes(map) * RowsOf(map); }

uint64_t PositionOf(const TensorMap& map, uint64_t offset) {
  if (map.is_swizzled == 0) return offset;
  return offset ^ (offset / kSwizzledRow % kSwizzledRows) * kPiece;
}

// A row of a box that is copied: [begin, end) are those of its elements that
// are inside of the tensor. `address` is that of the row's first element, even
// if that element is outside.
struct Row {
  int64_t begin = 0, end = 0;
  uint64_t address = 0;
};

Row RowAt(const TensorMap& map, std::span<const int32_t> coordinates,
          uint64_t number) {
  Row row;
  row.address = map.address;
  for (uint32_t d = 1; d < map.rank; ++d) {
    const int64_t at =
        coordinates[d] + static_cast<int64_t>(number % map.box[d]);
    number /= map.box[d];
    if (at < 0 || at >= static_cast<int64_t>(map.extents[d])) return row;
    row.address += static_cast<uint64_t>(at) * map.strides[d];
  }
  const int64_t first = coordinates[0];
  row.begin = std::clamp<int64_t>(-first, 0, map.box[0]);
  row.end = std::clamp<int64_t>(static_cast<int64_t>(map.extents[0]) - first,
                                row.begin, map.box[0]);
  row.address += static_cast<uint64_t>(first * map.element_bytes);
  return row;
}

}  // namespace

CopyBarriers::Barrier* CopyBarriers::Find(uint64_t offset) {
  const auto found = barriers_.find(offset);
  return found == barriers_.end() ? nullptr : &found->second;
}

std::string CopyBarriers::Init(uint64_t offset, uint32_t count) {
  if (offset % kBytes != 0 || count == 0 || offset + kBytes > shared_bytes_)
    return "makes a copy barrier, expected one of arrivals and aligned to 8";
  const bool is_new = !barriers_.contains(offset);
  Barrier& barrier = barriers_[offset];
  const uint32_t agent = is_new ? races_.AddAgent() : barrier.agent;
  barrier = {};
  barrier.agent = agent;
  barrier.count = barrier.pending = count;
  return "";
}

std::string CopyBarriers::Arrive(uint32_t thread, uint64_t offset,
                                 uint64_t bytes) {
  Barrier* const barrier = Find(offset);
  if (barrier == nullptr) return "arrives where there is no copy barrier";
  if (barrier->pending == 0)
    return "arrives at a copy barrier whose phase has all its arrivals";
  --barrier->pending;
  barrier->expected += bytes;
  races_.Release(thread, barrier->arrived);
  // If no copies are expected in this phase, its last arrival ends it at once.
  // EndPhase gets no shared memory, because nothing is copied to it.
  if (barrier->pending == 0 && barrier->expected == 0 &&
      barrier->copies.empty()) {
    EndPhase(*barrier, nullptr);
  }
  return "";
}

std::string CopyBarriers::BeginCopy(
    uint32_t thread, const TensorMap& map, std::span<const int32_t> coordinates,
    uint64_t to, uint64_t offset,
    const std::function<bool(uintptr_t begin, uint64_t bytes)>& can_read) {
  Barrier* const barrier = Find(offset);
  if (barrier == nullptr) return "copies a box without a copy barrier";
  if (coordinates.size() != map.rank) {
    return Concat({"copies a box at ", coordinates.size(),
                   " coordinates, expected ", map.rank});
  }
  const uint64_t alignment =
      map.is_swizzled != 0 ? kSwizzledAlignment : kAlignment;
  const uint64_t bytes = BytesOf(map);
  if (to % alignment != 0 || to + bytes > shared_bytes_) {
    return Concat({"copies a box of ", bytes, " bytes to ", to, ", expected ",
                   shared_bytes_, " bytes of shared memory, aligned to ",
                   alignment});
  }
  for (uint64_t i = 0; i < RowsOf(map); ++i) {
    const Row row = RowAt(map, coordinates, i);
    if (row.begin == row.end) continue;
    const auto begin = static_cast<uint64_t>(row.begin) * map.element_bytes;
    const auto end = static_cast<uint64_t>(row.end) * map.element_bytes;
    if (!can_read(row.address + begin, end - begin))
      return "copies a box of a tensor outside of the device's memory";
  }
  const std::optional<uint32_t> other =
      races_.StoreBy(barrier->agent, thread, to, bytes);
  if (other) {
    return Concat({"copies a box to byte ", to, " of shared memory, which ",
                   *other, " accesses, too, without a barrier between"});
  }
  barrier->begun += bytes;
  barrier->copies.push_back(
      {map, {coordinates.begin(), coordinates.end()}, to});
  return "";
}

bool CopyBarriers::IsOver(uint32_t thread, uint64_t offset, uint32_t parity) {
  const Barrier* const barrier = Find(offset);
  if (barrier == nullptr || barrier->phase % 2 == parity) return false;
  races_.Acquire(thread, barrier->known);
  return true;
}

bool CopyBarriers::EndPhases(uint8_t* shared) {
  bool any = false;
  for (auto& [offset, barrier] : barriers_) {
    if (barrier.pending != 0 || barrier.expected != barrier.begun) continue;
    EndPhase(barrier, shared);
    any = true;
  }
  return any;
}

void CopyBarriers::EndPhase(Barrier& barrier, uint8_t* shared) {
  for (const Copy& copy : barrier.copies) {
    const TensorMap& map = copy.map;
    for (uint64_t i = 0; i < RowsOf(map); ++i) {
      const Row row = RowAt(map, copy.coordinates, i);
      for (int64_t e = 0; e < map.box[0]; ++e) {
        const auto in_row = static_cast<uint64_t>(e) * map.element_bytes;
        uint8_t* const to =
            shared + PositionOf(map, copy.to + i * RowBytes(map) + in_row);
        if (e < row.begin || e >= row.end) {
          std::memset(to, 0, map.element_bytes);
        } else {
          std::memcpy(to,
                      reinterpret_cast<const uint8_t*>(row.address + in_row),
                      map.element_bytes);
        }
      }
    }
  }
  if (!barrier.copies.empty()) races_.Release(barrier.agent, barrier.arrived);
  barrier.copies.clear();
  barrier.known = std::exchange(barrier.arrived, {});
  barrier.pending = barrier.count;
  barrier.expected = barrier.begun = 0;
  ++barrier.phase;
}

std::string CopyBarriers::Lacks(uint64_t offset) const {
  const auto found = barriers_.find(offset);
  if (found == barriers_.end()) return "a copy barrier that was not made";
  const Barrier& barrier = found->second;
  return Concat({"a copy barrier that lacks ", barrier.pending, " of ",
                 barrier.count, " arrivals and has ", barrier.begun, " of ",
                 barrier.expected, " bytes"});
}

}  // namespace ember::hal::cuda

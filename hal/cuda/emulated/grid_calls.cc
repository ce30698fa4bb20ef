// Implements the functions that kernels call: barriers, copies, shuffles, and
// the check of each access.
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/check.h"
#include "hal/cuda/emulated/grid_emulator.h"
#include "hal/cuda/emulated/tensor_map.h"
#include "hal/cuda/emulated/warp_shuffles.h"

namespace ember::hal::cuda {
namespace {

// Number of barriers that bar.sync can name, including barrier 0, which is for
// all threads.
constexpr uint32_t kNamedBarriers = 16;

}  // namespace

void GridEmulator::Barrier(GridThread* thread) {
  GridEmulator& emulator = Of(thread);
  const uint32_t number = emulator.NumberOf(*thread);
  if (!emulator.launch_.kernel.has_barriers)
    return emulator.Fail(number, "a barrier in a kernel that has none");
  emulator.threads_[number].state = State::kAtBarrier;
  emulator.threads_[number].barrier_threads = 0;
  emulator.FiberOf(number).Pause();
}

float GridEmulator::PowerOfTwo(GridThread*, float x) {
  const auto power = static_cast<float>(std::exp2(double{x}));
  if (power < std::numeric_limits<float>::min()) return 0;
  // The instruction specifies exact results for an x of zero or infinity and
  // for NaN.
  if (x == 0 || !std::isfinite(power)) return power;
  // Half of the other results are changed by one unit in the last place, up or
  // down.
  switch (std::bit_cast<uint32_t>(x) * 0x9e3779b9u >> 30) {
    case 0:
      return std::nextafter(power, 0.0f);
    case 1:
      return std::nextafter(power, std::numeric_limits<float>::infinity());
    default:
      return power;
  }
}

void GridEmulator::Synchronize(GridThread* seen, uint32_t barrier,
                               uint32_t threads) {
  GridEmulator& emulator = Of(seen);
  const uint32_t number = emulator.NumberOf(*seen);
  if (!emulator.launch_.kernel.has_barriers || barrier == 0 ||
      barrier >= kNamedBarriers || threads == 0 ||
      threads % kWarpThreads != 0) {
    return emulator.Fail(number,
                         Concat({"waits at barrier ", barrier, " of ", threads,
                                 " threads, expected 1 to ", kNamedBarriers - 1,
                                 " and whole warps"}));
  }
  Thread& thread = emulator.threads_[number];
  thread.state = State::kAtBarrier;
  thread.barrier = barrier;
  thread.barrier_threads = threads;
  emulator.FiberOf(number).Pause();
}

uint64_t GridEmulator::OffsetOf(uint32_t number, const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const auto shared = reinterpret_cast<uintptr_t>(shared_);
  if (address < shared || address >= shared + shared_bytes_)
    Fail(number, "names a place outside of shared memory");
  return address - shared;
}

void GridEmulator::MakeCopyBarrier(GridThread* seen, void* barrier,
                                   uint32_t arrivals) {
  GridEmulator& emulator = Of(seen);
  const uint32_t number = emulator.NumberOf(*seen);
  const std::string wrong = emulator.copy_barriers_.Init(
      emulator.OffsetOf(number, barrier), arrivals);
  if (!wrong.empty()) emulator.Fail(number, wrong);
}

void GridEmulator::Arrive(GridThread* seen, void* barrier, uint32_t bytes) {
  GridEmulator& emulator = Of(seen);
  const uint32_t number = emulator.NumberOf(*seen);
  const std::string wrong = emulator.copy_barriers_.Arrive(
      number, emulator.OffsetOf(number, barrier), bytes);
  if (!wrong.empty()) emulator.Fail(number, wrong);
}

void GridEmulator::AwaitPhase(GridThread* seen, void* barrier,
                              uint32_t parity) {
  GridEmulator& emulator = Of(seen);
  const uint32_t number = emulator.NumberOf(*seen);
  if (!emulator.launch_.kernel.has_barriers)
    return emulator.Fail(number, "waits in a kernel that does not");
  Thread& thread = emulator.threads_[number];
  thread.copy_barrier = emulator.OffsetOf(number, barrier);
  thread.parity = parity;
  if (emulator.copy_barriers_.IsOver(number, thread.copy_barrier, parity))
    return;
  thread.state = State::kAwaitsPhase;
  emulator.FiberOf(number).Pause();
}

void GridEmulator::CopyBox(GridThread* seen, const void* map_bytes,
                           uint32_t rank, const int32_t* coordinates, void* to,
                           void* barrier) {
  GridEmulator& emulator = Of(seen);
  const uint32_t number = emulator.NumberOf(*seen);
  TensorMap map;
  if (!ReadTensorMap(map_bytes, map))
    return emulator.Fail(number, "copies a box without a tensor map");
  const auto can_read = [&emulator](uintptr_t begin, uint64_t bytes) {
    const MemoryRange range = emulator.memory_(begin);
    return range.begin <= begin && begin < range.end &&
           bytes <= range.end - begin;
  };
  const std::string wrong = emulator.copy_barriers_.BeginCopy(
      number, map, {coordinates, rank}, emulator.OffsetOf(number, to),
      emulator.OffsetOf(number, barrier), can_read);
  if (!wrong.empty()) return emulator.Fail(number, wrong);
  ++emulator.statistics_.box_copies;
}

void GridEmulator::SynchronizeWarp(uint32_t number, uint32_t mask) {
  Thread& thread = threads_[number];
  ++thread.synchronizations;
  thread.mask = mask;
  thread.state = State::kWithWarp;
  FiberOf(number).Pause();
}

uint32_t GridEmulator::WholeWarpOf(uint32_t number, const char* what) {
  const uint32_t first = number - number % kWarpThreads;
  if (!launch_.kernel.has_barriers || first + kWarpThreads > thread_count_)
    Fail(number, Concat({what, " without a whole warp"}));
  return first;
}

void GridEmulator::CopyAsync(GridThread* seen, uint32_t bytes, void* to,
                             const void* from, uint32_t read) {
  GridEmulator& emulator = Of(seen);
  const uint32_t number = emulator.NumberOf(*seen);
  const AsyncCopy copy = {.to = static_cast<uint8_t*>(to),
                          .from = static_cast<const uint8_t*>(from),
                          .bytes = bytes,
                          .read = read};
  const bool is_aligned =
      reinterpret_cast<uintptr_t>(to) % bytes == 0 &&
      (read == 0 || reinterpret_cast<uintptr_t>(from) % bytes == 0);
  if (!is_aligned || read > bytes || copy.to < emulator.shared_ ||
      copy.to >= emulator.shared_ + emulator.shared_bytes_) {
    emulator.Fail(
        number, Concat({"begins a copy of ", bytes,
                        " bytes, expected one to shared memory and aligned"}));
  }
  if (read != 0) Access(seen, from, read, kLoadKind);
  Access(seen, to, bytes, kStoreKind);
  emulator.threads_[number].copies.Begin(copy);
  ++emulator.statistics_.async_copies;
}

void GridEmulator::CommitCopies(GridThread* seen) {
  Of(seen).threads_[Of(seen).NumberOf(*seen)].copies.Commit();
}

void GridEmulator::AwaitCopies(GridThread* seen, uint32_t groups) {
  Of(seen).threads_[Of(seen).NumberOf(*seen)].copies.Await(
      groups, [seen](const AsyncCopy& copy) {
        Access(seen, copy.to, copy.bytes, kStoreKind);
      });
}

uint32_t GridEmulator::Shuffle(GridThread* seen, uint32_t mode, uint32_t mask,
                               uint32_t value, uint32_t b, uint32_t c) {
  GridEmulator& emulator = Of(seen);
  const uint32_t number = emulator.NumberOf(*seen);
  if (!emulator.launch_.kernel.has_barriers)
    emulator.Fail(number, "a shuffle in a kernel that has none");
  Thread& thread = emulator.threads_[number];
  const uint32_t parity = thread.synchronizations % 2;
  thread.brought[parity].value = value;
  emulator.SynchronizeWarp(number, mask);
  const uint32_t lane = number % kWarpThreads;
  const uint32_t from =
      LaneToShuffle(static_cast<ShuffleMode>(mode), lane, b, c);
  const uint32_t other = number - lane + from;
  if (other >= emulator.thread_count_ || (mask >> from & 1) == 0)
    emulator.Fail(number, Concat({"shuffles with lane ", from,
                                  ", which does not take part"}));
  return emulator.threads_[other].brought[parity].value;
}

void GridEmulator::Access(GridThread* thread, const void* pointer,
                          uint64_t bytes, uint32_t kind) {
  Of(thread).CheckAccess(*thread, reinterpret_cast<uintptr_t>(pointer), bytes,
                         static_cast<AccessKind>(kind));
}

void GridEmulator::CheckAccess(const GridThread& thread, uintptr_t address,
                               uint64_t bytes, AccessKind kind) {
  const uint32_t number = NumberOf(thread);
  const auto shared = reinterpret_cast<uintptr_t>(shared_);
  if (address >= shared && address < shared + shared_bytes_) {
    return CheckShared(number, address - shared, bytes, kind);
  }
  if (address >= last_.begin && address < last_.end &&
      bytes <= last_.end - address)
    return;
  if (FiberOf(number).Owns(address)) return;
  const MemoryRange range = memory_(address);
  if (range.begin <= address && address < range.end &&
      bytes <= range.end - address) {
    last_ = range;
    return;
  }
  Fail(number, Concat({kind == AccessKind::kLoad ? "loads " : "stores ", bytes,
                       " bytes outside of the device's memory"}));
}

void GridEmulator::CheckShared(uint32_t number, uint64_t offset, uint64_t bytes,
                               AccessKind kind) {
  if (bytes > shared_bytes_ - offset) {
    return Fail(number, Concat({"expected an access within ", shared_bytes_,
                                " bytes of shared memory, found ", bytes,
                                " at ", offset}));
  }
  if (kind != AccessKind::kLoad) unordered_.Store(number, offset, bytes);
  const std::optional<uint32_t> other =
      races_.Access(number, offset, bytes, kind);
  if (!other) return;
  const std::string text =
      *other < thread_count_
          ? Concat(
                {"thread ", PositionText(PositionOf(*other, launch_.threads))})
          : "a copy of a box";
  Fail(number, Concat({kind == AccessKind::kLoad ? "loads" : "stores", " byte ",
                       offset, " of shared memory, which ", text,
                       " accesses, too, without a barrier between"}));
}

void GridEmulator::Fail(uint32_t number, const std::string& what) {
  problem_ =
      Concat({"thread ", PositionText(PositionOf(number, launch_.threads)), " ",
              what});
  FiberOf(number).Pause();
  EMBER_CHECK(false) << "a thread continues after its failure";
}

}  // namespace ember::hal::cuda

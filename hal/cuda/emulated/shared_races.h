// Finds races in the shared memory of a block: accesses of one byte by two
// threads, one of them storing, with no barrier between.
//
//   SharedRaces races(48 << 10);
//   races.BeginBlock();
//   races.Access(3, 128, 4, AccessKind::kStore);   // nothing
//   races.Access(5, 128, 4, AccessKind::kLoad);    // thread 3
//   races.Barrier();
//
// Atomic accesses do not race with each other. What hardware reads beside the
// threads, beyond barriers, it holds until that is over: whoever stores there,
// races.
//
//   races.Hold(3, 128, 16);
//   races.Barrier();
//   races.Access(3, 130, 1, AccessKind::kStore);   // thread 3
//   races.Release(128, 16);
//
// Not thread-safe.
#ifndef EMBER_HAL_CUDA_EMULATED_SHARED_RACES_H_
#define EMBER_HAL_CUDA_EMULATED_SHARED_RACES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hal/cuda/emulated/grid.h"

namespace ember::hal::cuda {

class SharedRaces {
 public:
  explicit SharedRaces(uint64_t bytes) : bytes_(bytes), held_(bytes) {}

  void BeginBlock() {
    held_.assign(held_.size(), {});
    Barrier();
  }
  // All threads of the block have met: what was before is over.
  void Barrier() { ++epoch_; }
  // The thread with which the access races, if there is one.
  std::optional<uint32_t> Access(uint32_t thread, uint64_t offset,
                                 uint64_t bytes, AccessKind kind);
  // For the thread, as often as it is released.
  void Hold(uint32_t thread, uint64_t offset, uint64_t bytes);
  void Release(uint64_t offset, uint64_t bytes);

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  // What happened to a byte since the last barrier: in `epoch`, or nothing.
  // Two readers are enough to find one that is another thread.
  struct Byte {
    uint64_t epoch = 0;
    uint32_t writer = kNobody;
    uint32_t readers[2] = {kNobody, kNobody};
    uint32_t atomic = kNobody;
    uint32_t other_atomic = kNobody;
  };

  struct Held {
    uint32_t times = 0;
    uint32_t thread = kNobody;  // who came last
  };

  uint64_t epoch_ = 1;
  std::vector<Byte> bytes_;
  std::vector<Held> held_;  // by byte
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_SHARED_RACES_H_

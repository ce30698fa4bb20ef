// Finds races in the shared memory of a block: accesses of one byte by two
// threads, one of them storing, with no barrier between.
//
//   SharedRaces races(48 << 10);
//   races.BeginBlock();
//   races.Access(3, 128, 4, AccessKind::kStore);   // nothing
//   races.Access(5, 128, 4, AccessKind::kLoad);    // thread 3
//   races.Barrier();
//
// Atomic accesses do not race with each other. Not thread-safe.
#ifndef EMBER_HAL_CUDA_EMULATED_SHARED_RACES_H_
#define EMBER_HAL_CUDA_EMULATED_SHARED_RACES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hal/cuda/emulated/grid.h"

namespace ember::hal::cuda {

class SharedRaces {
 public:
  explicit SharedRaces(uint64_t bytes) : bytes_(bytes) {}

  void BeginBlock() { Barrier(); }
  // All threads of the block have met: what was before is over.
  void Barrier() { ++epoch_; }
  // The thread with which the access races, if there is one.
  std::optional<uint32_t> Access(uint32_t thread, uint64_t offset,
                                 uint64_t bytes, AccessKind kind);

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

  uint64_t epoch_ = 1;
  std::vector<Byte> bytes_;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_SHARED_RACES_H_

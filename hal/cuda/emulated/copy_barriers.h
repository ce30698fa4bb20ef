// Barriers in shared memory that end a phase when copies of boxes complete
// (PTX's mbarrier and cp.async.bulk.tensor), for a block of the emulated grid.
//
//   CopyBarriers barriers(races, shared_bytes);
//   barriers.BeginBlock();
//   barriers.Init(4096, /*count=*/1);           // a barrier at byte 4096
//   barriers.Arrive(0, 4096, /*bytes=*/2048);   // thread 0 expects so many
//   barriers.BeginCopy(0, map, coordinates, /*to=*/0, 4096, can_read);
//   barriers.EndPhases(shared);                 // copies, and ends phase 0
//   barriers.IsOver(5, 4096, /*parity=*/0);     // true, and thread 5 knows it
//
// A phase ends when the expected number of threads have arrived and the bytes
// that they expect have been copied. Copies are performed as late as a GPU may
// perform them: when the block can do nothing else than wait for them.
//
// Offsets are in shared memory. A function that returns a text returns an error
// that continues "thread (0, 0, 0) ..."; empty if all is well. Not thread-safe.
//
// Source: PTX ISA 8.5, "mbarrier" and "cp.async.bulk.tensor"; tiled mode, one
// block of threads to a cluster.
#ifndef EMBER_HAL_CUDA_EMULATED_COPY_BARRIERS_H_
#define EMBER_HAL_CUDA_EMULATED_COPY_BARRIERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hal/cuda/emulated/shared_races.h"
#include "hal/cuda/emulated/tensor_map.h"

namespace ember::hal::cuda {

class CopyBarriers {
 public:
  // Number of bytes of a barrier in shared memory.
  static constexpr uint64_t kBytes = 8;

  // Makes the barriers of a block, none at first. `races` must outlive the
  // object.
  CopyBarriers(SharedRaces& races, uint64_t shared_bytes)
      : races_(races), shared_bytes_(shared_bytes) {}

  void BeginBlock() { barriers_.clear(); }
  bool Any() const { return !barriers_.empty(); }
  // Makes a barrier at an offset in shared memory. A phase of it needs `count`
  // arrivals.
  std::string Init(uint64_t offset, uint32_t count);
  // Records that a thread arrives at a barrier. The thread also announces
  // copies: the phase does not end before `bytes` more bytes have been copied.
  std::string Arrive(uint32_t thread, uint64_t offset, uint64_t bytes);
  // Begins to copy a box of a tensor to the offset `to`. The box begins at the
  // coordinates (innermost first); elements outside of the tensor become zeros.
  // `can_read` returns true if a range of addresses is memory of the device.
  std::string BeginCopy(
      uint32_t thread, const TensorMap& map,
      std::span<const int32_t> coordinates, uint64_t to, uint64_t offset,
      const std::function<bool(uintptr_t begin, uint64_t bytes)>& can_read);
  // True if the barrier's phase with this parity is over. In this case the
  // thread is ordered after everything that happened before the end of the
  // phase.
  bool IsOver(uint32_t thread, uint64_t offset, uint32_t parity);
  // Ends each phase that waits only for copies that have begun, and performs
  // these copies in the block's shared memory. Returns true if there was such a
  // phase.
  bool EndPhases(uint8_t* shared);
  // Returns a text for error messages that says what the barrier's present
  // phase is still waiting for.
  std::string Lacks(uint64_t offset) const;

 private:
  struct Copy {
    TensorMap map;
    std::vector<int32_t> coordinates;
    uint64_t to = 0;
  };
  struct Barrier {
    uint32_t count = 0;
    // Number of arrivals that this phase still waits for.
    uint32_t pending = 0;
    // Number of bytes announced by arrivals in this phase (see Arrive).
    uint64_t expected = 0;
    // Number of bytes of the copies that have begun in this phase.
    uint64_t begun = 0;
    // Number of phases of this barrier that are over.
    uint32_t phase = 0;
    std::vector<Copy> copies;  // copies that have begun in this phase
    // Number of the agent in SharedRaces that represents the hardware which
    // performs the copies.
    uint32_t agent = 0;
    // Vector clocks (see SharedRaces): `arrived` is the time of all arrivals in
    // this phase, `known` the time at which the last finished phase ended.
    Clock arrived, known;
  };

  Barrier* Find(uint64_t offset);
  void EndPhase(Barrier& barrier, uint8_t* shared);

  SharedRaces& races_;
  const uint64_t shared_bytes_;
  std::map<uint64_t, Barrier> barriers_;  // all barriers, by their offset in
                                          // shared memory
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_COPY_BARRIERS_H_

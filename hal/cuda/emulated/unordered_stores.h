// Finds products of warpgroups that may read what was in shared memory before a
// store: they read by another way than loads do (PTX's async proxy), and see
// what a thread stored only behind its fence (fence.proxy.async) and a meeting.
//
//   UnorderedStores stores(48 << 10, 128);
//   stores.BeginBlock();
//   stores.Store(3, 128, 4);
//   stores.Meet(3);
//   stores.Find(5, 128, 16);   // thread 3, which has made no fence
//   stores.Order(3);
//   stores.Find(5, 128, 16);   // thread 3: the fence may come too late
//   stores.Meet(3);
//   stores.Find(5, 128, 16);   // nothing
//
// That threads meet at all between store and product, SharedRaces sees to. A
// copy by cp.async is a store of its thread, where that waits for it. The
// source is PTX ISA 8.5, "Async proxy" and "membar/fence". Not thread-safe.
#ifndef EMBER_HAL_CUDA_EMULATED_UNORDERED_STORES_H_
#define EMBER_HAL_CUDA_EMULATED_UNORDERED_STORES_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace ember::hal::cuda {

class UnorderedStores {
 public:
  // Of a block's shared memory, and of its threads.
  UnorderedStores(uint64_t bytes, uint32_t threads)
      : bytes_(bytes), threads_(threads) {}

  void BeginBlock();
  void Store(uint32_t thread, uint64_t offset, uint64_t bytes);
  // The thread's fence.
  void Order(uint32_t thread) { ++threads_[thread].fences; }
  // Others may know from here on what the thread did.
  void Meet(uint32_t thread);
  void MeetAll();
  // The thread whose store is not ordered before what the product of `thread`
  // reads, if there is one.
  std::optional<uint32_t> Find(uint32_t thread, uint64_t offset,
                               uint64_t bytes) const;

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  // Who stored a byte last, and how many fences it had made by then.
  struct Byte {
    uint32_t thread = kNobody;
    uint32_t fences = 0;
  };
  struct Thread {
    uint32_t fences = 0;
    uint32_t known_fences = 0;  // when it met others last
  };

  std::vector<Byte> bytes_;
  std::vector<Thread> threads_;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_UNORDERED_STORES_H_

// Finds products of warpgroups (wgmma) that may read bytes of shared memory as
// they were before a store. Unlike loads, products read through PTX's async
// proxy. A product reads the new value for certain only if the storing thread
// has made a fence (fence.proxy.async) after the store and has synchronised
// after the fence.
//
//   UnorderedStores stores(48 << 10, 128);
//   stores.BeginBlock();
//   stores.Store(3, 128, 4);
//   stores.Synchronize(3);
//   stores.Find(5, 128, 16);   // thread 3, which has made no fence
//   stores.Order(3);
//   stores.Find(5, 128, 16);   // thread 3: the fence may come too late
//   stores.Synchronize(3);
//   stores.Find(5, 128, 16);   // nothing
//
// SharedRaces checks that threads synchronise at all between store and product.
// A copy by cp.async is a store of its thread at the time when the thread waits
// for it. Source: PTX ISA 8.5, "Async proxy" and "membar/fence". Not
// thread-safe.
#ifndef EMBER_HAL_CUDA_EMULATED_UNORDERED_STORES_H_
#define EMBER_HAL_CUDA_EMULATED_UNORDERED_STORES_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace ember::hal::cuda {

class UnorderedStores {
 public:
  // Makes the records for the shared memory of a block with this number of
  // bytes and threads.
  UnorderedStores(uint64_t bytes, uint32_t threads)
      : bytes_(bytes), threads_(threads) {}

  void BeginBlock();
  void Store(uint32_t thread, uint64_t offset, uint64_t bytes);
  // Records that the thread makes a fence (fence.proxy.async), which orders its
  // earlier stores.
  void Order(uint32_t thread) { ++threads_[thread].fences; }
  // Records that the thread synchronises: from now on other threads may know of
  // its earlier stores and fences.
  void Synchronize(uint32_t thread);
  void SynchronizeAll();
  // Looks for a store to these bytes that is not ordered before the product of
  // `thread` that reads them. Returns the thread that stored, if there is one.
  std::optional<uint32_t> Find(uint32_t thread, uint64_t offset,
                               uint64_t bytes) const;

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  // The thread that stored to a byte last, and the number of fences that it had
  // made before this store.
  struct Byte {
    uint32_t thread = kNobody;
    uint32_t fences = 0;
  };
  struct Thread {
    uint32_t fences = 0;
    // Number of fences that the thread had made at its last synchronisation.
    uint32_t known_fences = 0;
  };

  std::vector<Byte> bytes_;
  std::vector<Thread> threads_;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_UNORDERED_STORES_H_

// The packed constants of the kernels of a process, so that kernels which pack
// the same constants in the same way share one copy: a product for 1 row and
// the same product for 128 rows, for example.
//
//   const std::string key = PackingKey(request, nest);
//   if (std::optional<PackedBuffers> packed = store.Find(key)) ...
//   store.Add(key, {kernel->packed(), kernel->packed_owner()});
//
// The store does not own the memory. A copy is found as long as a kernel uses
// it. Thread-safe.
#ifndef EMBER_JIT_KERNEL_PACKED_STORE_H_
#define EMBER_JIT_KERNEL_PACKED_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

// Contents of the buffers into which a kernel packed its constants, in order,
// and an object that keeps them alive.
struct PackedBuffers {
  std::vector<std::span<const uint8_t>> contents;
  std::shared_ptr<const void> owner;
};

class PackedStore {
 public:
  std::optional<PackedBuffers> Find(const std::string& key);
  void Add(const std::string& key, const PackedBuffers& packed);

 private:
  struct Entry {
    std::vector<std::span<const uint8_t>> contents;
    std::weak_ptr<const void> owner;
  };

  std::mutex mutex_;  // guards entries_
  std::map<std::string, Entry> entries_;
};

// Returns a text such that, if it is equal for two requests, the prologues of
// their nests write the same contents. It has the text of the prologue, and the
// addresses of the request's constants relative to `base`. Empty if the nest
// has no prologue. The constants must not change as long as kernels with their
// packed copies exist.
std::string PackingKey(const vm::KernelRequest& request,
                       const loops::LoopNest& nest, uintptr_t base = 0);

}  // namespace ember::jit

#endif  // EMBER_JIT_KERNEL_PACKED_STORE_H_

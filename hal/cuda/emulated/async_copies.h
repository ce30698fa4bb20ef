// The asynchronous copies of a thread of the emulated grid (PTX's cp.async), in
// groups. The copies of a group are performed when the thread waits for the
// group, which is the latest time at which a GPU may perform them.
//
//   AsyncCopies copies;
//   copies.Begin({.to = to, .from = from, .bytes = 16, .read = 16});
//   copies.Commit();
//   copies.Await(0, [](const AsyncCopy& copy) { ... });   // before each is done
//
// Not thread-safe.
#ifndef EMBER_HAL_CUDA_EMULATED_ASYNC_COPIES_H_
#define EMBER_HAL_CUDA_EMULATED_ASYNC_COPIES_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace ember::hal::cuda {

struct AsyncCopy {
  uint8_t* to = nullptr;
  const uint8_t* from = nullptr;
  uint32_t bytes = 0;
  // Number of bytes to read from the source; the rest of the target becomes
  // zeros.
  uint32_t read = 0;
};

class AsyncCopies {
 public:
  void Begin(const AsyncCopy& copy) { copies_.push_back(copy); }
  // Puts the copies that have begun since the last call of Commit into a new
  // group.
  void Commit() { groups_.push_back(std::exchange(copies_, {})); }
  // Performs the copies of all groups except the last `groups` ones.
  // visit(copy) is called before each copy.
  template <typename Visit>
  void Await(uint32_t groups, Visit&& visit) {
    for (; groups_.size() > groups; groups_.pop_front()) {
      for (const AsyncCopy& copy : groups_.front()) {
        visit(copy);
        std::copy_n(copy.from, copy.read, copy.to);
        std::fill_n(copy.to + copy.read, copy.bytes - copy.read, uint8_t{0});
      }
    }
  }

 private:
  // Copies that have begun since the last Commit, in no group yet.
  std::vector<AsyncCopy> copies_;
  // Groups of copies that were committed earlier, the oldest group first.
  std::deque<std::vector<AsyncCopy>> groups_;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_ASYNC_COPIES_H_

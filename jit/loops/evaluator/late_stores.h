// Performs the stores of a nest that is evaluated. Asynchronous stores are
// performed in the await that covers them, which is as late as they may be;
// values that the invocations of a subgroup combine are stored at the end of
// the invocation loop; other stores are performed at once.
//
//   stores.BeginTask();
//   stores.Begin(store, position, value);      // async
//   EMBER_RETURN_IF_ERROR(stores.EndGroups(/*groups=*/0));
//
// A late store counts as an access by the invocation that began it. Not
// thread-safe.
#ifndef EMBER_JIT_LOOPS_EVALUATOR_LATE_STORES_H_
#define EMBER_JIT_LOOPS_EVALUATOR_LATE_STORES_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "base/status.h"
#include "jit/loops/evaluator/race_finder.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

class LateStores {
 public:
  // memory: the memory of each buffer; the entries may change between phases.
  LateStores(const LoopNest& nest, const std::vector<void*>& memory,
             RaceFinder& races)
      : nest_(nest), memory_(memory), races_(races) {}

  void BeginTask();
  // Stores the value to an element, or updates the element with it,
  // immediately.
  void StoreNow(const Store& store, int64_t position, uint64_t value);

  // Begins an asynchronous store by the current invocation.
  void Begin(const Store& store, int64_t position, uint64_t value) {
    begun_.push_back({&store, position, value, races_.agent()});
  }
  // Runs an await: puts the asynchronous stores since the last await into a
  // group, and performs the stores of all groups but the last `groups`.
  Status EndGroups(int64_t groups);
  // Performs the asynchronous stores that fill a slot of a ring.
  void EndSlot(uint32_t ring, int64_t slot);

  // Combines the value of the current invocation with the values of its
  // subgroup. All invocations of a subgroup pass the same element's position.
  void Combine(const Store& store, int64_t position, uint64_t value);
  // Stores the combined value of each subgroup.
  Status StoreCombined();

 private:
  struct LateStore {
    const Store* store = nullptr;
    int64_t position = 0;
    uint64_t value = 0;
    int64_t invocation = -1;
  };

  const LoopNest& nest_;
  const std::vector<void*>& memory_;
  RaceFinder& races_;
  // Asynchronous stores of the running task: `begun_` holds those that no await
  // has put into a group yet; `on_their_way_` holds the groups whose stores are
  // not performed yet.
  std::vector<LateStore> begun_;
  std::deque<std::vector<LateStore>> on_their_way_;
  std::vector<LateStore> combined_;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_EVALUATOR_LATE_STORES_H_

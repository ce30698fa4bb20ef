// When buffers of a phase are in use, so that those which never are at the same
// time can have one place in a workgroup's memory.
//
//   const Lifetimes lifetimes(nest, phase.body);
//   if (!lifetimes.MayMeet(a, b)) { ... the same bytes for both ... }
//
// A buffer is in use from the first statement of the body that touches it to
// the last. Inside a serial loop
//
//   for b < 8 {
//     invocation i < 64 { %score[i] = ... }
//     invocation i < 64 { %power[i] = exp(%score[i]) }
//     invocation i < 64 { %next[i] = %power[i] * %total[i] }
//   }
//
// %score and %next are not in use together either: nothing of %score is left
// for the loop's next turn, as each turn stores all that it reads of it.
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_LIFETIMES_H_
#define EMBER_JIT_GPU_LIFETIMES_H_

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

class Lifetimes {
 public:
  // Of the nest's buffers that hold what a task computes.
  Lifetimes(const loops::LoopNest& nest, const loops::Block& body);

  // Whether both may be in use at some time; false where one is never used.
  bool MayMeet(size_t a, size_t b) const;
  // Of two that never meet: whether all invocations meet between their uses in
  // each turn of a loop that has both, before one of these statements, so that
  // one place for both takes no more barriers in the loop.
  bool HaveBarriersBetween(
      size_t a, size_t b,
      const std::unordered_set<const loops::Statement*>& barriers) const;

 private:
  // Statements of a body, from `begin` to the one before `end`.
  struct Interval {
    size_t begin = SIZE_MAX;
    size_t end = 0;
    bool operator==(const Interval&) const = default;
  };

  void Find(const loops::LoopNest& nest, const loops::Block& body,
            const std::vector<uint32_t>& buffers, size_t level);

  // How many levels two buffers have in one body, and whether they never meet
  // in the last of these.
  size_t CommonLevels(size_t a, size_t b, bool& are_apart) const;

  // By buffer: in the phase's body; in the body of the loop that is all of the
  // interval before, if nothing is left for the loop's next turn; and so on.
  std::vector<std::vector<Interval>> intervals_;
  std::vector<std::vector<const loops::Block*>> bodies_;  // likewise
};

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_LIFETIMES_H_

// Computes when buffers of a phase are in use. Buffers that are never in use at
// the same time can share bytes of a workgroup's memory.
//
//   const Lifetimes lifetimes(nest, phase.body);
//   if (!lifetimes.MayOverlap(a, b)) { ... the same bytes for both ... }
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
// %score and %next are not in use together either: each iteration stores all
// elements of %score that it reads, so none is needed from an earlier
// iteration.
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_LIFETIMES_H_
#define EMBER_JIT_GPU_LIFETIMES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

class Lifetimes {
 public:
  // Computes the lifetimes of all buffers of the nest in the memory of a task.
  Lifetimes(const loops::LoopNest& nest, const loops::Block& body);

  // True if the two buffers, which are in the memory of a task, may be in use
  // at the same time; false if one of them is never used.
  bool MayOverlap(size_t a, size_t b) const;
  // Expects two buffers that are never in use together. True if no loop has
  // both, or if barriers of that loop's body lie between their uses, both
  // within an iteration and before the next one. Then sharing bytes takes no
  // more barriers in the loop. The body must still exist.
  bool HaveBarriersBetween(size_t a, size_t b) const;

 private:
  // The statements of a body during which a buffer is in use: from `begin` to
  // the one before `end`.
  struct Interval {
    size_t begin = SIZE_MAX;
    size_t end = 0;
    bool operator==(const Interval&) const = default;
  };

  void Find(const loops::LoopNest& nest, const loops::Block& body,
            const std::vector<uint32_t>& buffers, size_t level);

  // Returns at how many levels of loops, from the outermost, both buffers have
  // an interval in the same body. Sets `are_apart` to true if their intervals
  // at the last of these levels do not overlap.
  size_t CommonLevels(size_t a, size_t b, bool& are_apart) const;

  // For each buffer: its intervals by level of loops. The first interval is in
  // the phase's body. If it is a single loop, and no iteration of that loop
  // reads what an earlier one stored to the buffer, the next interval is in
  // that loop's body; and so on.
  std::vector<std::vector<Interval>> intervals_;
  // for each buffer and level: the body of statements that the interval refers
  // to
  std::vector<std::vector<const loops::Block*>> bodies_;
};

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_LIFETIMES_H_

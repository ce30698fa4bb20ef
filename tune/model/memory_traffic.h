// Estimates how many bytes a nest's accesses fetch from beyond a cache, from
// the working sets of its loops.
//
//   const MemoryTraffic traffic(tree);
//   traffic.BytesBeyond(32 << 10);   // bytes that a cache of 32 KiB misses
//
// The working set of a loop is the set of cache lines that its iterations
// touch. If the lines of one iteration fit in the cache, the next iteration
// finds those that both touch, so the loop fetches each line once. If they do
// not fit, each iteration fetches all of its lines again. Caches are modelled
// as fully associative. At the beginning of a call they hold what the previous
// call left, because kernels are called many times.
//
// Source of the model: Wolf, Lam, "A data locality optimizing algorithm" (PLDI
// 1991), with bounding boxes of the touched elements in place of reuse vectors.
// Internal to NestFeatures. Buffers in registers do not count as memory.
#ifndef EMBER_TUNE_MODEL_MEMORY_TRAFFIC_H_
#define EMBER_TUNE_MODEL_MEMORY_TRAFFIC_H_

#include <cstdint>
#include <span>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "tune/model/loop_tree.h"

namespace ember::tune {

class MemoryTraffic {
 public:
  explicit MemoryTraffic(const LoopTree& tree);

  // Returns the number of bytes that a cache of this size fetches in a call, in
  // all phases or in one phase.
  double BytesBeyond(double cache_bytes) const;
  double BytesBeyond(double cache_bytes, int phase) const;
  // Return the number of bytes in different cache lines that are touched by one
  // iteration of a loop, and by all its iterations.
  double BytesOfIteration(int loop) const;
  double BytesOfLoop(int loop) const;
  // Returns the number of bytes in different cache lines that a call touches.
  double BytesOfCall() const;

 private:
  // All accesses to one buffer in one loop, which are treated as a single one:
  // each number is the largest of any access, because accesses in a loop touch
  // mostly the same lines.
  struct Group {
    int loop = 0;
    uint32_t buffer = 0;
    double share = 0;
    // lines[i] is the number of cache lines that are touched while the loops
    // from position i of the chain (outermost first) on iterate, and the loops
    // before it are at their first iteration. The last element is for one
    // iteration of the innermost loop.
    std::vector<double> lines;
  };

  void Note(int loop, double share, uint32_t buffer,
            std::span<const loops::NodeId> indices);
  std::vector<double> LinesOf(std::span<const int> chain, uint32_t buffer,
                              std::span<const loops::NodeId> indices) const;
  // Returns the number of cache lines that an access touches while these loops
  // iterate. `variables` holds, for each index, the loop variables in it.
  double LinesIn(std::span<const int> iterating, uint32_t buffer,
                 std::span<const loops::NodeId> indices,
                 std::span<const std::vector<loops::NodeId>> variables) const;

  const LoopTree& tree_;
  std::vector<Group> groups_;
  // For each loop and buffer, the number of cache lines that one iteration, and
  // the whole loop, touches.
  std::vector<std::vector<double>> of_iteration_, of_loop_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_MEMORY_TRAFFIC_H_

// Estimates how many bytes a nest's accesses fetch from beyond a cache, from
// the working sets of its loops.
//
//   const MemoryTraffic traffic(tree);
//   traffic.BytesBeyond(32 << 10);   // bytes that a cache of 32 KiB misses
//
// The working set of a loop is the memory lines that its iterations touch. If
// one iteration fits the cache, the next one finds there what both touch, so
// that the loop fetches each line once. If it does not fit, each iteration
// fetches all of its lines again. The caches are taken to be fully associative,
// and to hold at the beginning of a call what they held at its end: kernels are
// called many times.
//
// Source of the model: Wolf, Lam, "A data locality optimizing algorithm" (PLDI
// 1991), with footprints of boxes in place of reuse vectors. Internal to
// NestFeatures. Registers are not memory here.
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

  // Returns the bytes that cross the cache's boundary in a call.
  double BytesBeyond(double cache_bytes) const;
  double BytesBeyond(double cache_bytes, int phase) const;
  // Return the bytes that one iteration of a loop touches, and that the whole
  // loop touches.
  double BytesOfIteration(int loop) const;
  double BytesOfLoop(int loop) const;
  // Returns the bytes that a call touches.
  double BytesOfCall() const;

 private:
  // The accesses to one buffer in one loop. The largest counts, as others touch
  // mostly the same lines.
  struct Group {
    int loop = 0;
    uint32_t buffer = 0;
    double share = 0;
    // Lines that iterations of the loops from position i of the chain on touch,
    // where those before it are at their first iteration. The last element is
    // for one iteration of the innermost loop.
    std::vector<double> lines;
  };

  void Note(int loop, double share, uint32_t buffer,
            std::span<const loops::NodeId> indices);
  std::vector<double> LinesOf(std::span<const int> chain, uint32_t buffer,
                              std::span<const loops::NodeId> indices) const;
  // Returns the lines that an access touches while these loops iterate.
  // variables: those of each index.
  double LinesIn(std::span<const int> iterating, uint32_t buffer,
                 std::span<const loops::NodeId> indices,
                 std::span<const std::vector<loops::NodeId>> variables) const;

  const LoopTree& tree_;
  std::vector<Group> groups_;
  // For each loop and buffer, the lines of an iteration and of all.
  std::vector<std::vector<double>> of_iteration_, of_loop_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_MEMORY_TRAFFIC_H_

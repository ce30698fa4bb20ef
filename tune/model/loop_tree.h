// A nest's loops as a tree, with the number of times that each runs, and its
// statements as the leaves.
//
//   const LoopTree tree(nest, parameters, /*is_gpu=*/false);
//   for (const Leaf& leaf : tree.leaves())
//     for (int loop : tree.ChainOf(leaf.loop)) ...   // outermost first
//
// Conditions count as the share of their iterations for which they probably
// hold. The prologue is left out: it does not run in a call. Refers to the
// nest, which must outlive it. Internal to NestFeatures.
#ifndef EMBER_TUNE_MODEL_LOOP_TREE_H_
#define EMBER_TUNE_MODEL_LOOP_TREE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "tune/model/value_ranges.h"

namespace ember::tune {

// The loop of a phase's tasks, or the kind of a loop (loops::LoopKind). On CPUs
// loops over invocations and matrices are serial loops.
enum class LoopRole : uint8_t {
  kTasks,
  kSerial,
  kUnrolled,
  kLanes,
  kInvocations,  // loops over invocations and over subgroups
  kDot,
  kMatrix,
};

struct TreeLoop {
  int parent = -1;  // -1: a loop of tasks
  int phase = 0;
  LoopRole role = LoopRole::kSerial;
  loops::NodeId variable = 0;
  double extent = 1;
  double runs = 1;  // number of times that the whole loop runs in a call
  // For each buffer of the nest: true if the body stores to it.
  std::vector<bool> stores;

  // True for loops that are loops in the code, too.
  bool IsCodeLoop() const {
    return role == LoopRole::kTasks || role == LoopRole::kSerial;
  }
};

// A statement without a body, or the condition of a branch.
struct Leaf {
  const loops::Statement* statement = nullptr;
  int loop = 0;            // the innermost loop around it
  double share = 1;        // share of that loop's iterations that execute it
  bool is_masked = false;  // a condition around it differs between lanes
};

class LoopTree {
 public:
  LoopTree(const loops::LoopNest& nest, std::span<const int64_t> parameters,
           bool is_gpu);

  const loops::LoopNest& nest() const { return nest_; }
  const ValueRanges& ranges() const { return ranges_; }
  std::span<const TreeLoop> loops() const { return loops_; }
  std::span<const Leaf> leaves() const { return leaves_; }

  // Returns the loop and those around it, outermost first.
  std::vector<int> ChainOf(int loop) const;
  // Returns the innermost loop of the code that is or contains the loop.
  int CodeLoopOf(int loop) const;
  // Returns the number of elements of the buffer.
  double ElementsOf(uint32_t buffer) const;
  double BytesOf(uint32_t buffer) const;

 private:
  void Add(const loops::Block& block, int loop, double share, bool is_masked);
  double ShareOf(loops::NodeId condition) const;
  bool DiffersInLanes(loops::NodeId condition, int loop) const;

  const loops::LoopNest& nest_;
  const bool is_gpu_;
  ValueRanges ranges_;
  std::vector<TreeLoop> loops_;
  std::vector<Leaf> leaves_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_LOOP_TREE_H_

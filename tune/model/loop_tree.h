// The loops of a nest as a tree: each loop with the number of times that it
// runs in a call, and the statements as leaves.
//
//   const LoopTree tree(nest, parameters, /*is_gpu=*/false);
//   for (const Leaf& leaf : tree.leaves())
//     for (int loop : tree.ChainOf(leaf.loop)) ...   // outermost first
//
// A branch counts with the share of iterations in which its condition probably
// holds. The prologue (which packs constants when a kernel is made) is left
// out, because it does not run in a call. Refers to the nest, which must
// outlive it. Internal to NestFeatures.
#ifndef EMBER_TUNE_MODEL_LOOP_TREE_H_
#define EMBER_TUNE_MODEL_LOOP_TREE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "tune/model/value_ranges.h"

namespace ember::tune {

// The kind of a loop for cost estimates: the loop over a phase's tasks, or one
// of loops::LoopKind. On CPUs, loops over invocations and matrices become
// serial loops.
enum class LoopRole : uint8_t {
  kTasks,
  kSerial,
  kUnrolled,
  kLanes,
  kInvocations,  // a loop over the invocations or the subgroups of a workgroup
  kDot,
  kMatrix,
};

struct TreeLoop {
  // Number of the loop around this one; -1 for a loop over tasks.
  int parent = -1;
  int phase = 0;
  LoopRole role = LoopRole::kSerial;
  loops::NodeId variable = 0;
  double extent = 1;
  double runs = 1;  // number of times that the loop is entered in a call
  // One flag for each buffer of the nest: true if the loop's body stores to it.
  std::vector<bool> stores;

  // True if the loop remains a loop in the generated code: it is not unrolled
  // and not executed in lanes or invocations.
  bool IsCodeLoop() const {
    return role == LoopRole::kTasks || role == LoopRole::kSerial;
  }
};

// A leaf of the tree: a statement without a body, or the condition of a branch.
struct Leaf {
  const loops::Statement* statement = nullptr;
  int loop = 0;  // number of the innermost loop around the statement
  // Share of that loop's iterations that execute the statement.
  double share = 1;
  // True if the statement is in a branch whose condition differs between lanes.
  bool is_masked = false;
};

class LoopTree {
 public:
  LoopTree(const loops::LoopNest& nest, std::span<const int64_t> parameters,
           bool is_gpu);

  const loops::LoopNest& nest() const { return nest_; }
  const ValueRanges& ranges() const { return ranges_; }
  std::span<const TreeLoop> loops() const { return loops_; }
  std::span<const Leaf> leaves() const { return leaves_; }

  // Returns the numbers of the loop and of all loops around it, the outermost
  // first.
  std::vector<int> ChainOf(int loop) const;
  // Returns the innermost loop for which IsCodeLoop holds, among the loop
  // itself and those around it.
  int CodeLoopOf(int loop) const;
  // Returns the number of elements of a buffer of the nest, given by its
  // number.
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

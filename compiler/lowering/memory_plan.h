// Plans the memory of each value while the program runs.
//
// Values whose size is known when compiling share one arena: blocks whose
// lifetimes overlap get disjoint ranges (largest first, at the lowest offset
// that fits). Values of symbolic size become blocks that the program allocates
// before the first use and releases after the last. A dispatch may overwrite an
// operand that dies there if tier 0 says that this is safe (vm::MayAlias).
// Operands of control flow live as long as its results, which may be the same
// values.
//
//   MemoryPlan plan = PlanMemory(steps, {logits});
//   plan.blocks[plan.block_of.at(value)].arena_offset   // or -1: allocated
#ifndef EMBER_COMPILER_LOWERING_MEMORY_PLAN_H_
#define EMBER_COMPILER_LOWERING_MEMORY_PLAN_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/lowering/step.h"

namespace ember::compiler {

struct MemoryBlock {
  graph::Dim bytes;
  int first_step = 0;
  int last_step = 0;
  // Offset in the arena in bytes; -1: allocated by the program.
  int64_t arena_offset = -1;
};

struct MemoryPlan {
  std::vector<MemoryBlock> blocks;
  // For each stored value, the number of its block in `blocks`. Values that the
  // program returns have no block.
  std::map<const graph::Value*, int> block_of;
  int64_t arena_bytes = 0;
  // For each step (by number), the values whose memory can be freed after it:
  // an earlier step allocated the memory, and no later step reads it.
  std::map<int, std::vector<const graph::Value*>> dead_after;
};

// Plans the memory of all values. `results` are the values whose memory the
// program returns (storage roots): each gets an allocation of its own instead
// of a block.
MemoryPlan PlanMemory(const std::vector<Step>& steps,
                      const std::set<const graph::Value*>& results);

// Returns the number of bytes of a value as an expression.
graph::Dim ByteSize(const graph::TensorType& type);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_MEMORY_PLAN_H_

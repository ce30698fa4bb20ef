#include "compiler/lowering/memory_plan.h"

#include <algorithm>

#include "base/rounding.h"
#include "vm/interpreter/plan.h"

namespace ember::compiler {
namespace {

using graph::Dim;
using graph::Value;

constexpr int64_t kAlignment = 64;

class MemoryPlanner {
 public:
  MemoryPlanner(const std::vector<Step>& steps,
                const std::set<const Value*>& results)
      : steps_(steps), results_(results) {}

  MemoryPlan Run() {
    for (int i = 0; i < static_cast<int>(steps_.size()); ++i) {
      for (const auto* values :
           {&steps_[i].inputs, &steps_[i].outputs, &steps_[i].made}) {
        for (const Value* value : *values) last_use_[value] = i;
      }
    }
    KeepAliased();
    for (int i = 0; i < static_cast<int>(steps_.size()); ++i) AssignBlocks(i);
    PlaceInArena();
    for (const Step& step : steps_) {
      for (const Value* value : step.made) {
        if (!results_.contains(value))
          plan_.dead_after[last_use_.at(value)].push_back(value);
      }
    }
    return std::move(plan_);
  }

 private:
  // Keeps operands of control flow as long as its results, because control flow
  // may return its operands unchanged (a branch that returns a capture, a loop
  // of no iterations).
  void KeepAliased() {
    for (int i = static_cast<int>(steps_.size()) - 1; i >= 0; --i) {
      if (steps_[i].operation == nullptr ||
          steps_[i].operation->regions().empty())
        continue;
      int last = i;
      for (const Value* made : steps_[i].made) {
        last = std::max(last, results_.contains(made)
                                  ? static_cast<int>(steps_.size())
                                  : last_use_.at(made));
      }
      for (const Value* input : steps_[i].inputs)
        last_use_[input] = std::max(last_use_[input], last);
    }
  }

  void AssignBlocks(int index) {
    const Step& step = steps_[index];
    // Numbers of the blocks that other outputs of this dispatch overwrite; each
    // block can be reused for one output only.
    std::set<int> taken;
    for (size_t o = 0; o < step.outputs.size(); ++o) {
      const Value* output = step.outputs[o];
      if (results_.contains(output)) continue;
      int block = ReusableBlock(step, index, static_cast<int>(o), taken);
      if (block < 0) {
        block = static_cast<int>(plan_.blocks.size());
        plan_.blocks.push_back({ByteSize(output->type()), index, index, -1});
      }
      taken.insert(block);
      plan_.blocks[block].last_step = last_use_.at(output);
      plan_.block_of[output] = block;
    }
  }

  // Returns the number of a block that the output may overwrite: the block of
  // an input of the same size that no later step reads, if the dispatch allows
  // this (vm::MayAlias). Returns -1 if there is none.
  int ReusableBlock(const Step& step, int index, int output,
                    const std::set<int>& taken) {
    if (step.dispatch == nullptr) return -1;
    const tensor::Dispatch& dispatch = step.dispatch->dispatch;
    const Value* value = step.outputs[output];
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const Value* input = step.inputs[i];
      const auto block = plan_.block_of.find(input);
      if (block == plan_.block_of.end() || taken.contains(block->second))
        continue;
      if (last_use_.at(input) != index ||
          ByteSize(input->type()) != ByteSize(value->type())) {
        continue;
      }
      // An input that is bound to two buffers (with different extents) is not
      // overwritten, because the dispatch may still read it through the second
      // buffer.
      if (std::count(step.inputs.begin(), step.inputs.end(), input) != 1)
        continue;
      if (plan_.blocks[block->second].last_step != index) continue;
      if (vm::MayAlias(dispatch, static_cast<int>(i),
                       static_cast<int>(dispatch.input_count()) + output)) {
        return block->second;
      }
    }
    return -1;
  }

  void PlaceInArena() {
    std::vector<int> order;
    for (int i = 0; i < static_cast<int>(plan_.blocks.size()); ++i) {
      if (plan_.blocks[i].bytes.is_constant()) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return plan_.blocks[a].bytes.constant() >
             plan_.blocks[b].bytes.constant();
    });
    // Numbers of the blocks that have an offset so far, sorted by offset.
    std::vector<int> placed;
    for (int index : order) {
      MemoryBlock& block = plan_.blocks[index];
      // A block of 0 bytes is treated as 1 byte, because its offset must be
      // inside of the arena, which then is not empty.
      const int64_t size =
          RoundUp(std::max<int64_t>(1, block.bytes.constant()), kAlignment);
      int64_t offset = 0;
      for (int other_index : placed) {
        const MemoryBlock& other = plan_.blocks[other_index];
        if (other.last_step < block.first_step ||
            block.last_step < other.first_step) {
          continue;
        }
        if (offset + size <= other.arena_offset) break;
        offset =
            std::max(offset, other.arena_offset +
                                 RoundUp(other.bytes.constant(), kAlignment));
      }
      block.arena_offset = offset;
      plan_.arena_bytes = std::max(plan_.arena_bytes, offset + size);
      placed.insert(std::upper_bound(placed.begin(), placed.end(), index,
                                     [&](int a, int b) {
                                       return plan_.blocks[a].arena_offset <
                                              plan_.blocks[b].arena_offset;
                                     }),
                    index);
    }
  }

  const std::vector<Step>& steps_;
  const std::set<const Value*>& results_;
  std::map<const Value*, int> last_use_;
  MemoryPlan plan_;
};

}  // namespace

Dim ByteSize(const graph::TensorType& type) {
  return ElementCount(type.shape) * Dim(DTypeByteSize(type.dtype));
}

MemoryPlan PlanMemory(const std::vector<Step>& steps,
                      const std::set<const Value*>& results) {
  return MemoryPlanner(steps, results).Run();
}

}  // namespace ember::compiler

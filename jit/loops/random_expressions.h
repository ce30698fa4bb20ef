// Random expressions of a nest in the making, and the guards that their loads
// need. Internal to jit/loops/random_nest.h.
#ifndef EMBER_JIT_LOOPS_RANDOM_EXPRESSIONS_H_
#define EMBER_JIT_LOOPS_RANDOM_EXPRESSIONS_H_

#include <optional>
#include <span>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/loops/random_nest.h"
#include "tensor/simplify.h"

namespace ember::loops {

// An extent, and the number that it will be. What is done with it must not
// depend on what its node was simplified to.
struct RandomExtent {
  NodeId node = 0;
  int64_t value = 0;
  bool is_constant = false;
  int parameter = -1;  // if it is one
};

struct RandomVariable {
  NodeId node = 0;
  RandomExtent extent;
  LoopKind kind = LoopKind::kSerial;
};

struct RandomBuffer {
  uint32_t number = 0;
  DType type = DType::kF32;
  MemoryScope scope = MemoryScope::kInput;
  std::vector<RandomExtent> extents;
  // The leading indices, if this phase stores to it and others see it: a task
  // sees its own rows only.
  size_t own_rows = 0;
  bool changes = false;  // by other tasks of this phase
  // kRegister: the first index is that of the invocation.
  bool per_invocation = false;
};

inline bool IsRegister(const RandomBuffer& buffer) {
  return buffer.scope == MemoryScope::kRegister;
}

class RandomExpressions : public tensor::RandomChoices {
 public:
  RandomExpressions(uint64_t seed, const RandomNestOptions& options,
                    LoopNest& nest)
      : RandomChoices(seed),
        options_(options),
        nest_(nest),
        simplifier_(nest.pool) {}

  // --- what expressions may use ---

  std::vector<RandomExtent> parameters;
  std::vector<RandomVariable> variables;  // of the loops around
  std::vector<RandomBuffer> readable;
  std::vector<NodeId> rows;  // see RandomBuffer::own_rows

  // --- expressions ---

  NodeId Make(tensor::Opcode opcode, DType type,
              std::initializer_list<NodeId> operands);
  NodeId Integer(int64_t value, DType type = DType::kI64);
  NodeId MakeIndex(tensor::Opcode opcode, NodeId a, NodeId b) {
    return Make(opcode, DType::kI64, {a, b});
  }
  RandomExtent ConstantExtent(int64_t value) {
    return {Integer(value), value, true};
  }
  // A constant, a parameter or made of one.
  RandomExtent AnyExtent(int64_t largest);
  // With about `room` points at the most.
  std::vector<RandomExtent> Extents(int rank, int64_t room);
  RandomExtent Times(const RandomExtent& a, const RandomExtent& b);
  // How many steps of a constant size reach over the extent.
  RandomExtent Steps(const RandomExtent& extent, const RandomExtent& step);
  NodeId Value(DType type, int depth);
  // An integer of at most 4 bits and a sign; never -0.
  NodeId SmallValue(DType type);
  // A load along the last dim with a variable of `count` values, which nothing
  // else knows of.
  NodeId LoadAlong(const RandomBuffer& buffer, NodeId variable, int64_t count);
  NodeId Condition(int depth);
  // Within the extent, if the guards hold.
  NodeId Index(const RandomExtent& extent);
  // `index` in 0..extent-1 as a condition, written in one of several ways.
  NodeId InBounds(NodeId index, NodeId extent);
  // The same as a guard.
  void Guard(NodeId index, const RandomExtent& extent);

  bool NeedsGuards() const { return !guards_.empty(); }
  // Puts what the expressions made so far need around a statement.
  Block Guarded(Statement statement);

 private:
  NodeId Raw(tensor::Opcode opcode, DType type,
             std::initializer_list<NodeId> operands);
  NodeId Constant(DType type);
  NodeId RoughIndex();
  std::optional<NodeId> GatheredIndex(const RandomExtent& extent);
  std::optional<std::vector<NodeId>> RegisterIndices(
      const RandomBuffer& buffer);
  std::optional<NodeId> Load(const RandomBuffer& buffer);
  NodeId Leaf(DType type);
  NodeId BinaryValue(DType type, int depth);
  NodeId UnaryValue(DType type, int depth);
  NodeId BitcastValue(DType type, int depth);
  NodeId BoolValue(int depth);

  const RandomNestOptions options_;
  LoopNest& nest_;
  tensor::Simplifier simplifier_;
  std::vector<Statement> guards_;  // kIf and kCheck, outermost first
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_RANDOM_EXPRESSIONS_H_

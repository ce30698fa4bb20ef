// Makes random expressions for a nest that is being generated, and the
// conditions (guards) that keep their loads in bounds. Internal to
// jit/loops/testing/random_nest.h.
#ifndef EMBER_JIT_LOOPS_TESTING_RANDOM_EXPRESSIONS_H_
#define EMBER_JIT_LOOPS_TESTING_RANDOM_EXPRESSIONS_H_

#include <optional>
#include <span>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/loops/testing/random_nest.h"
#include "tensor/builder/simplify.h"

namespace ember::loops {

// An extent (a node), and its value under the chosen parameters. The generator
// decides by the value, because equal seeds must give equal choices whether or
// not the node was simplified.
struct RandomExtent {
  NodeId node = 0;
  int64_t value = 0;
  bool is_constant = false;
  int parameter = -1;  // the parameter's number if the extent is a parameter
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
  // Number of leading indices that must be those of the task's own rows. Not 0
  // if this phase stores to the buffer and other tasks see it, because a task
  // may only access its own rows then.
  size_t own_rows = 0;
  // true if other tasks of this phase store to the buffer
  bool changes = false;
  // For kRegister: true if the first index is the number of the invocation.
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

  // --- The buffers, variables and parameters that expressions may use. ---

  std::vector<RandomExtent> parameters;
  std::vector<RandomVariable> variables;  // variables of the surrounding loops
  std::vector<RandomBuffer> readable;
  // indices of the task's own rows, which come first in buffers with own_rows
  std::vector<NodeId> rows;

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
  // Returns a constant, a parameter, or an extent that is computed from a
  // parameter.
  RandomExtent AnyExtent(int64_t largest);
  // Returns extents of a buffer with so many dims. Their product is about
  // `room` at most.
  std::vector<RandomExtent> Extents(int rank, int64_t room);
  RandomExtent Times(const RandomExtent& a, const RandomExtent& b);
  // Returns how many steps of a constant size cover the extent, rounded up.
  RandomExtent Steps(const RandomExtent& extent, const RandomExtent& step);
  NodeId Value(DType type, int depth);
  // Returns a value of small magnitude, whose sums are exact: a cast of an
  // integer from -8 to 15. It is never -0.
  NodeId SmallValue(DType type);
  // Returns a load for a dot loop: its last index is the loop's variable, which
  // has `count` values, plus a constant, and no other index uses the variable.
  NodeId LoadAlong(const RandomBuffer& buffer, NodeId variable, int64_t count);
  NodeId Condition(int depth);
  // Returns an index that is within the extent, at least under the guards that
  // this call adds.
  NodeId Index(const RandomExtent& extent);
  // Returns the condition that `index` is in 0..extent-1. The condition is
  // written in one of several ways, chosen at random.
  NodeId InBounds(NodeId index, NodeId extent);
  // Adds the condition that `index` is in 0..extent-1 as a guard.
  void Guard(NodeId index, const RandomExtent& extent);

  bool NeedsGuards() const { return !guards_.empty(); }
  // Returns the statement within the guards that the expressions made since the
  // last call need, and removes these guards from the list.
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
  // the guards that the expressions made so far need: kIf and kCheck
  // statements, outermost first
  std::vector<Statement> guards_;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TESTING_RANDOM_EXPRESSIONS_H_

// Random expressions for a nest that is being generated, and the guards that
// their loads need. Internal to jit/loops/testing/random_nest.h.
#ifndef EMBER_JIT_LOOPS_TESTING_RANDOM_EXPRESSIONS_H_
#define EMBER_JIT_LOOPS_TESTING_RANDOM_EXPRESSIONS_H_

#include <optional>
#include <span>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/loops/testing/random_nest.h"
#include "tensor/builder/simplify.h"

namespace ember::loops {

// An extent, and its value with the chosen parameters. The generator's choices
// use the value, because they must not depend on the form to which the node was
// simplified.
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
  // Number of leading indices that must be the task's own, if this phase stores
  // to the buffer and other tasks see it: a task may access its own rows only.
  size_t own_rows = 0;
  // true if other tasks of this phase store to the buffer
  bool changes = false;
  // For kRegister: true if the first index is the invocation's.
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
  // the task's own leading indices (RandomBuffer::own_rows)
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
  // Returns extents whose product is about `room` at most.
  std::vector<RandomExtent> Extents(int rank, int64_t room);
  RandomExtent Times(const RandomExtent& a, const RandomExtent& b);
  // Returns the number of steps of a constant size that cover the extent.
  RandomExtent Steps(const RandomExtent& extent, const RandomExtent& step);
  NodeId Value(DType type, int depth);
  // Returns a cast of an integer that has a sign and at most 4 bits; the value
  // is never -0.
  NodeId SmallValue(DType type);
  // Returns a load whose last index is the variable, which has `count` values,
  // plus a constant. No other expression uses this variable.
  NodeId LoadAlong(const RandomBuffer& buffer, NodeId variable, int64_t count);
  NodeId Condition(int depth);
  // Returns an index that is within the extent if the guards hold.
  NodeId Index(const RandomExtent& extent);
  // Returns the condition that `index` is in 0..extent-1. The condition is
  // written in one of several ways, chosen at random.
  NodeId InBounds(NodeId index, NodeId extent);
  // Adds the condition that `index` is in 0..extent-1 as a guard.
  void Guard(NodeId index, const RandomExtent& extent);

  bool NeedsGuards() const { return !guards_.empty(); }
  // Puts the guards that the expressions made so far need around the statement,
  // and forgets these guards.
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
  // the guards, which are kIf and kCheck, outermost first
  std::vector<Statement> guards_;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TESTING_RANDOM_EXPRESSIONS_H_

// Makes legal nodes: nodes whose instructions the target has. The legaliser
// passes each instruction to the rules, which replace those that the target
// lacks.
//
//   Legaliser legaliser(AllRules(), operations, ranges, nest.pool);
//   NodeId sum = legaliser.Make({Opcode::kAdd, DType::kBF16, {a, b}});
//   // raw(bf16(...)) of a sum of f32
//
// Folds constants, too. Not thread-safe; the pool must outlive it.
#ifndef EMBER_JIT_LEGALISE_LEGALISER_H_
#define EMBER_JIT_LEGALISE_LEGALISER_H_

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "jit/legalise/target_operations.h"
#include "tensor/builder/expression_pool.h"
#include "tensor/interval.h"

namespace ember::jit::legalise {

using tensor::NodeId;
using tensor::Opcode;

// An instruction with its operands and the type of its result. Constants,
// variables and loads are not instructions here.
struct Instruction {
  Opcode opcode = Opcode::kAdd;
  DType type = DType::kI64;  // element type of the result
  std::vector<NodeId> operands;
  bool is_raw = false;  // true for a raw instruction (jit/loops/raw.h)
};

// A function that returns the range of an i64 node.
using RangeOf = std::function<tensor::Interval(NodeId)>;

class Legaliser;

// A rule handles one kind of operation that targets may lack. It returns a node
// that replaces the instruction, or nullopt if it does not apply or the target
// has the operation. The nodes that a rule makes are passed to all rules again,
// so they must be simpler than the instruction.
using Rule = std::optional<NodeId> (*)(Legaliser& legaliser,
                                       const Instruction& instruction);

// A row of the table of rules: a rule with its name and description.
struct RuleRow {
  std::string_view name;
  std::string_view doc;
  Rule rule = nullptr;
};

class Legaliser {
 public:
  // `rules` are tried in their order; the first one that returns a node is
  // used. They must outlive the legaliser.
  Legaliser(std::span<const RuleRow> rules, const TargetOperations& target,
            RangeOf range_of, tensor::ExpressionPool& pool)
      : rules_(rules),
        target_(target),
        range_of_(std::move(range_of)),
        pool_(pool) {}

  const tensor::ExpressionPool& pool() const { return pool_; }
  const TargetOperations& target() const { return target_; }

  // Returns a legal node with the value of the instruction, whose operands must
  // be legal nodes.
  NodeId Make(const Instruction& instruction);
  NodeId Constant(uint64_t bits, DType type) {
    return pool_.Constant(bits, type);
  }

  DType TypeOf(NodeId id) const { return pool_[id].type; }
  bool IsConstant(NodeId id) const { return pool_.IsConstant(id); }
  // Returns the value of an integer or bool constant; nullopt for other nodes.
  std::optional<int64_t> IntegerConstant(NodeId id) const {
    return pool_.IntegerConstant(id);
  }
  // Returns the range of an integer node. For u64 that is the range of the
  // type.
  tensor::Interval RangeOfInteger(NodeId id) const;

 private:
  std::optional<NodeId> Fold(const Instruction& instruction);

  const std::span<const RuleRow> rules_;
  const TargetOperations target_;
  const RangeOf range_of_;
  tensor::ExpressionPool& pool_;
};

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_LEGALISER_H_

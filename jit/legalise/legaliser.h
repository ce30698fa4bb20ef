// Makes nodes that the target has for the rules of legalisation. The legaliser
// asks the rules about each operation that the target lacks.
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

// An instruction with operands and a result. Constants, variables and loads are
// no instructions in this sense.
struct Instruction {
  Opcode opcode = Opcode::kAdd;
  DType type = DType::kI64;  // type of the result
  std::vector<NodeId> operands;
  bool is_raw = false;  // true for a raw instruction (jit/loops/raw.h)
};

// A function that returns the range of an i64 node.
using RangeOf = std::function<tensor::Interval(NodeId)>;

class Legaliser;

// Handles one kind of operation that targets may lack. Returns a node that
// replaces the instruction, or nothing if the rule does not apply or the target
// has the operation. All rules are applied again to the nodes that a rule
// makes, so these have to be simpler.
using Rule = std::optional<NodeId> (*)(Legaliser& legaliser,
                                       const Instruction& instruction);

// A row of the table of rules.
struct RuleRow {
  std::string_view name;
  std::string_view doc;
  Rule rule = nullptr;
};

class Legaliser {
 public:
  // rules: the rules are tried in this order, and the first rule that returns a
  // node is used. The rules must outlive the legaliser.
  Legaliser(std::span<const RuleRow> rules, const TargetOperations& target,
            RangeOf range_of, tensor::ExpressionPool& pool)
      : rules_(rules),
        target_(target),
        range_of_(std::move(range_of)),
        pool_(pool) {}

  const tensor::ExpressionPool& pool() const { return pool_; }
  const TargetOperations& target() const { return target_; }

  // Returns a node with the value of the instruction. The target must have the
  // operations of the operands.
  NodeId Make(const Instruction& instruction);
  NodeId Constant(uint64_t bits, DType type) {
    return pool_.Constant(bits, type);
  }

  DType TypeOf(NodeId id) const { return pool_[id].type; }
  bool IsConstant(NodeId id) const { return pool_.IsConstant(id); }
  // Returns the value of an integer or bool constant; nothing for other nodes.
  std::optional<int64_t> IntegerConstant(NodeId id) const {
    return pool_.IntegerConstant(id);
  }
  // Returns the range of an integer node; for u64 that of the type.
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

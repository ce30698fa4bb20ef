// What rules of legalisation work with: makes nodes that the target has, by
// asking the rules about each that it has not.
//
//   Legaliser legaliser(AllRules(), operations, ranges, nest.pool);
//   NodeId sum = legaliser.Make({Opcode::kAdd, DType::kBF16, {a, b}});
//   // raw(bf16(...)) of a sum of f32
//
// Constants are folded on the way. Not thread-safe; the pool must outlive it.
#ifndef EMBER_JIT_LEGALISE_LEGALISER_H_
#define EMBER_JIT_LEGALISE_LEGALISER_H_

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "jit/legalise/target_operations.h"
#include "tensor/expression_pool.h"
#include "tensor/interval.h"

namespace ember::jit::legalise {

using tensor::NodeId;
using tensor::Opcode;

// An instruction with operands and a result: no constant, variable or load.
struct Instruction {
  Opcode opcode = Opcode::kAdd;
  DType type = DType::kI64;  // of the result
  std::vector<NodeId> operands;
  bool is_raw = false;  // jit/loops/raw.h
};

// What is known of the values of an i64 node.
using RangeOf = std::function<tensor::Interval(NodeId)>;

class Legaliser;

// One family of what targets lack: a node instead of the instruction; nullopt
// where it is not the rule's, or the target has it. What a rule makes is
// brought before all rules again, so it has to be simpler.
using Rule = std::optional<NodeId> (*)(Legaliser& legaliser,
                                       const Instruction& instruction);

class Legaliser {
 public:
  // rules: asked in this order, the first that has an answer gives it; they
  // must outlive the legaliser.
  Legaliser(std::span<const Rule> rules, const TargetOperations& target,
            RangeOf range_of, tensor::ExpressionPool& pool)
      : rules_(rules),
        target_(target),
        range_of_(std::move(range_of)),
        pool_(pool) {}

  const tensor::ExpressionPool& pool() const { return pool_; }
  const TargetOperations& target() const { return target_; }

  // A node with the value of the instruction on operands that the target has.
  NodeId Make(const Instruction& instruction);
  NodeId Constant(uint64_t bits, DType type) {
    return pool_.Constant(bits, type);
  }

  DType TypeOf(NodeId id) const { return pool_[id].type; }
  bool IsConstant(NodeId id) const { return pool_.IsConstant(id); }
  // The value of an integer or bool constant.
  std::optional<int64_t> IntegerConstant(NodeId id) const {
    return pool_.IntegerConstant(id);
  }
  // Of an integer; full of u64.
  tensor::Interval RangeOfInteger(NodeId id) const;

 private:
  std::optional<NodeId> Fold(const Instruction& instruction);

  const std::span<const Rule> rules_;
  const TargetOperations target_;
  const RangeOf range_of_;
  tensor::ExpressionPool& pool_;
};

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_LEGALISER_H_

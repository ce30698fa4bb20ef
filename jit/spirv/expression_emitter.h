// Emits expressions of a nest as SPIR-V, at the code builder's current
// position.
//
// Nodes without loads are computed once, as far out as
// jit/loops/analysis/scope_depths.h says. Most i64 values are only needed in 32
// bits: an index is less than 2^31 (kernel_abi.h), so its sums and products are
// computed modulo 2^32. Quotients and comparisons need the full value. They are
// computed in 32 bits if no operand is wide (loops::LoopNest::wide), otherwise
// in 64 bits.
#ifndef EMBER_JIT_SPIRV_EXPRESSION_EMITTER_H_
#define EMBER_JIT_SPIRV_EXPRESSION_EMITTER_H_

#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "jit/loops/analysis/scope_depths.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/workgroup.h"
#include "jit/spirv/arithmetic.h"
#include "jit/spirv/code_builder.h"
#include "jit/spirv/memory.h"
#include "tensor/builder/linear.h"

namespace ember::jit::spirv {

using loops::NodeId;

class ExpressionEmitter {
 public:
  // Makes an emitter for the code of one phase. It adds nodes to the nest's
  // pool. `words`: id of the variable with the push constants.
  ExpressionEmitter(loops::LoopNest& nest, const loops::Workgroup& workgroup,
                    Id words, CodeBuilder& code, Memory& memory,
                    Arithmetic& arithmetic, Status& error)
      : nest_(nest),
        workgroup_(workgroup),
        words_(words),
        c_(code),
        memory_(memory),
        arithmetic_(arithmetic),
        error_(error),
        depths_(nest.pool) {}

  // --- Scopes of the code, and the values of variables in them. ---

  void EnterEntry();
  void EnterLoop(NodeId variable, Value value);
  // Enters code in which the variable is bound to a value that is already
  // available in the scope of depth `outermost`.
  void EnterBinding(NodeId variable, Value value, int outermost);
  void EnterBranch();
  void Leave();

  // Begins a statement: forgets the values of loads, because memory may have
  // changed, or other lanes are active.
  void BeginStatement() { loaded_.clear(); }
  // Sets the condition under which the code emitted next is active. Loads are
  // emitted so that they touch no memory if it does not hold.
  void SetMask(std::optional<Value> mask) { mask_ = mask; }
  std::optional<Value> mask() const { return mask_; }

  // --- values ---

  Value Emit(NodeId id);
  // Returns the lower 32 bits of an i64 node's value.
  Value EmitIndex(NodeId id);
  // Returns an i64 node's value, as a 32-bit integer if the node is not wide
  // (loops::LoopNest::wide), else as a 64-bit one.
  Value EmitShort(NodeId id) { return Fits(id) ? EmitIndex(id) : Emit(id); }
  // Returns the number of the element with these indices in its buffer, in
  // row-major order.
  Value Element(uint32_t buffer, std::span<const NodeId> indices) {
    return EmitSum(SumOf(buffer, indices));
  }
  // Returns the vector that contains the element with these indices, and the
  // element's lane in it. A vector has `width` units of `unit` elements each.
  Memory::VectorElement InVector(uint32_t buffer,
                                 std::span<const NodeId> indices,
                                 uint32_t width, uint32_t unit = 1);
  // Loads four contiguous elements of one byte each as one word. `load`: the
  // load of the first element, a factor of a dot loop that is marked as a word.
  Value EmitBytes(const tensor::Node& load);
  // Returns a bool that is true if `index` is in 0..extent-1, computed by the
  // comparisons that `test` asks for.
  Value InBounds(NodeId index, NodeId extent, loops::BoundsTest test);
  // Returns 32-bit word `number` of the push constants.
  Value PushedWord(uint32_t number);
  bool Fits(NodeId id) const;
  bool DependsOn(NodeId id, NodeId variable) {
    return depths_.DependsOn(id, variable);
  }

 private:
  struct Scope {
    bool is_branch = false;
    std::optional<NodeId> variable;
    std::unordered_map<uint64_t, Value> values;
  };

  void Push(std::optional<NodeId> variable, Value value, bool has_prologue);
  template <typename Make>
  Value Memorized(NodeId id, bool is_low, Make&& make);
  Value EmitNode(NodeId id, const tensor::Node& node);
  Value EmitLowNode(NodeId id, const tensor::Node& node);
  Value EmitParameter(uint64_t number);
  Value EmitArithmetic(const tensor::Node& node);
  Value EmitLowCast(NodeId id, const tensor::Node& node);
  // Returns the result of the node's instruction for operands of `type`. The
  // result for integer constants is a constant.
  Value Apply(const tensor::Node& node, DType type, Value a, Value b);
  Value EmitLoad(const tensor::Node& node);
  Value EmitPad(const tensor::Node& node);
  // Returns the variable's value if it is bound to a constant; otherwise
  // nullopt.
  std::optional<int64_t> ValueOf(NodeId variable) const;
  tensor::LinearSum SumOf(uint32_t buffer, std::span<const NodeId> indices);
  Value EmitSum(const tensor::LinearSum& linear);

  loops::LoopNest& nest_;
  const loops::Workgroup& workgroup_;
  const Id words_;
  CodeBuilder& c_;
  Memory& memory_;
  Arithmetic& arithmetic_;
  Status& error_;
  loops::ScopeDepths depths_;
  std::vector<Scope> scopes_;
  std::unordered_map<NodeId, Value> bound_;
  std::unordered_map<uint64_t, Value> loaded_;
  std::optional<Value> mask_;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_EXPRESSION_EMITTER_H_

// Emits expressions of a nest as SPIR-V, at the code builder's current place.
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
  // Emits code of one phase. Nodes are added to the nest's pool. words: the
  // variable of the push constants.
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

  // --- Scopes of the code, and what is known in them. ---

  void EnterEntry();
  void EnterLoop(NodeId variable, Value value);
  // Binds a variable whose value is available from depth `outermost` on.
  void EnterBinding(NodeId variable, Value value, int outermost);
  void EnterBranch();
  void Leave();

  // Forgets the values of loads: from here on, memory may have changed,
  // or other lanes are active.
  void BeginStatement() { loaded_.clear(); }
  // Sets the condition under which following code is active; inactive code
  // touches no memory.
  void SetMask(std::optional<Value> mask) { mask_ = mask; }
  std::optional<Value> mask() const { return mask_; }

  // --- values ---

  Value Emit(NodeId id);
  // Emits the lower 32 bits of an i64 node.
  Value EmitIndex(NodeId id);
  // Emits an i64 node in 32 bits if it fits, else in 64.
  Value EmitShort(NodeId id) { return Fits(id) ? EmitIndex(id) : Emit(id); }
  // Emits the number of the element in its buffer, in row-major order.
  Value Element(uint32_t buffer, std::span<const NodeId> indices) {
    return EmitSum(SumOf(buffer, indices));
  }
  // Emits the number of the vector of `width` units that contains the element.
  // A unit is a number of elements.
  Memory::VectorElement InVector(uint32_t buffer,
                                 std::span<const NodeId> indices,
                                 uint32_t width, uint32_t unit = 1);
  // Loads four neighbours of one byte each, from the element on, as the word
  // that they form in memory. load: a marked factor of a dot loop.
  Value EmitBytes(const tensor::Node& load);
  // Returns a bool that is true if `index` is in 0..extent-1.
  Value InBounds(NodeId index, NodeId extent, loops::BoundsTest test);
  // Returns word `number` of the push constants.
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
  // Emits the instruction of a node for operands of `type`; folds constants.
  Value Apply(const tensor::Node& node, DType type, Value a, Value b);
  Value EmitLoad(const tensor::Node& node);
  Value EmitPad(const tensor::Node& node);
  // Returns the value of a variable that is a constant here; nothing if it is
  // not.
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

// Expressions of a nest as SPIR-V, at the place where the code builder is.
//
// Nodes without loads are computed once, as far out as jit/loops/placement.h
// says. Of i64 values mostly 32 bits are wanted: an index is less than 2^31
// (kernel_abi.h), so its sums and products are computed modulo 2^32, and
// whatever needs the value itself (quotients, comparisons) is done in 32 bits
// where its range shows that it fits, else in 64.
#ifndef EMBER_JIT_SPIRV_EXPRESSION_EMITTER_H_
#define EMBER_JIT_SPIRV_EXPRESSION_EMITTER_H_

#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "jit/gpu/phase_plan.h"
#include "jit/loops/facts.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/placement.h"
#include "jit/spirv/arithmetic.h"
#include "jit/spirv/code_builder.h"
#include "jit/spirv/memory.h"

namespace ember::jit::spirv {

using loops::NodeId;

class ExpressionEmitter {
 public:
  // Nodes are added to the nest's pool. words: the variable of the push
  // constants.
  ExpressionEmitter(loops::LoopNest& nest, const loops::Facts& facts,
                    const gpu::PhasePlan& plan, Id words, CodeBuilder& code,
                    Memory& memory, Arithmetic& arithmetic, Status& error)
      : nest_(nest),
        facts_(facts),
        plan_(plan),
        words_(words),
        c_(code),
        memory_(memory),
        arithmetic_(arithmetic),
        error_(error),
        placement_(nest.pool) {}

  // --- scopes: of the code, with what is known in them ---

  void EnterEntry();
  void EnterLoop(NodeId variable, Value value);
  // A variable whose value is there from depth `place` on.
  void EnterBinding(NodeId variable, Value value, int place);
  void EnterBranch();
  void Leave();

  // What was loaded may have changed from here on, or lanes have.
  void BeginStatement() { loaded_.clear(); }
  // Code runs where this holds; what does not run touches no memory.
  void SetMask(std::optional<Value> mask) { mask_ = mask; }
  std::optional<Value> mask() const { return mask_; }

  // --- values ---

  Value Emit(NodeId id);
  // The lower 32 bits of an i64 node.
  Value EmitIndex(NodeId id);
  // An i64 node in 32 bits if it fits, else in 64.
  Value EmitShort(NodeId id) { return Fits(id) ? EmitIndex(id) : Emit(id); }
  // The number of the element in its buffer, row by row.
  Value Element(uint32_t buffer, std::span<const NodeId> indices) {
    return EmitSum(LinearElement(buffer, indices));
  }
  // The element as one of a vector, if neighbours of it are accessed by what a
  // loop around is written out as.
  struct InVector {
    Memory::VectorElement element;
    NodeId variable = 0;    // of that loop
    bool is_whole = false;  // see gpu::VectorAccess
  };
  std::optional<InVector> FindInVector(uint32_t buffer,
                                       std::span<const NodeId> indices);
  // Four neighbours of one byte each as they lie in memory, in a word, from the
  // element on. nullopt where that they begin a word is not proved, or lanes
  // are off.
  std::optional<Value> EmitBytes(uint32_t buffer,
                                 std::span<const NodeId> indices);
  // Whether `index` is in 0..extent-1.
  Value InBounds(NodeId index, NodeId extent);
  // Word number i of the push constants.
  Value PushedWord(uint32_t number);
  bool Fits(NodeId id) const;
  bool DependsOn(NodeId id, NodeId variable) {
    return placement_.DependsOn(id, variable);
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
  // The row on values of `type`; folded if they are constants.
  Value Apply(const tensor::Node& node, DType type, Value a, Value b);
  Value EmitLoad(const tensor::Node& node);
  Value EmitPad(const tensor::Node& node);
  // The value of a variable that is a constant here.
  std::optional<int64_t> ValueOf(NodeId variable) const;
  // Whether all values of the access' variable are in one vector.
  bool IsShared(const gpu::VectorAccess& access);
  tensor::LinearSum LinearElement(uint32_t buffer,
                                  std::span<const NodeId> indices);
  Value EmitSum(const tensor::LinearSum& linear);

  loops::LoopNest& nest_;
  const loops::Facts& facts_;
  const gpu::PhasePlan& plan_;
  const Id words_;
  CodeBuilder& c_;
  Memory& memory_;
  Arithmetic& arithmetic_;
  Status& error_;
  loops::Placement placement_;
  std::vector<Scope> scopes_;
  std::unordered_map<NodeId, Value> bound_;
  std::unordered_map<uint64_t, Value> loaded_;
  std::optional<Value> mask_;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_EXPRESSION_EMITTER_H_

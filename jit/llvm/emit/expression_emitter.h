// Emits expressions of a nest as LLVM IR, at the builder's insertion point.
//
// Nodes without loads are computed once, in the outermost scope that has their
// variables. Nodes with loads are computed once per statement, since memory may
// change in between.
#ifndef EMBER_JIT_LLVM_EMIT_EXPRESSION_EMITTER_H_
#define EMBER_JIT_LLVM_EMIT_EXPRESSION_EMITTER_H_

#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "jit/legalise/formula.h"
#include "jit/llvm/emit/arithmetic.h"
#include "jit/llvm/emit/ir.h"
#include "jit/llvm/emit/kernel_arguments.h"
#include "jit/llvm/emit/lane_masks.h"
#include "jit/llvm/emit/linear_index.h"
#include "jit/llvm/emit/memory_access.h"
#include "jit/llvm/emit/scopes.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::llvm_ir {

class ExpressionEmitter {
 public:
  // Makes an emitter for the code of one phase. The operands are those of
  // MemoryAccess's constructor.
  ExpressionEmitter(const loops::LoopNest& nest, bool is_prologue,
                    KernelArguments& arguments, llvm::Function& function,
                    TargetTraits target, Builder& builder, FirstError& error);

  // Begins a statement: forgets the values of loads, because an earlier
  // statement may have changed memory.
  void BeginStatement() { statement_.clear(); }
  // Returns the mask of the active lanes of the surrounding vector loop; null
  // if all are active. At least one lane is active.
  llvm::Value* mask() const { return mask_; }
  void SetMask(llvm::Value* mask) { mask_ = mask; }

  // Returns the node's value: a scalar, or a vector if the value differs from
  // lane to lane.
  llvm::Value* Emit(NodeId id);
  // A node of an expression whose value the caller supplies: a vector with any
  // number of lanes.
  struct LeafValue {
    NodeId leaf = 0;
    llvm::Value* lanes = nullptr;
  };
  // Returns the value of `id`, computed from the values that the caller
  // supplies for some leaves. These have the same number of lanes; all other
  // leaves must be the same in all lanes.
  llvm::Value* EmitFrom(std::span<const LeafValue> leaves, NodeId id);
  // Emits the combination of an element `a` with a value `b` by an update, for
  // example a + b. Both have the type `type`, and are scalars or vectors of any
  // number of lanes.
  llvm::Value* EmitUpdate(tensor::Update update, DType type, llvm::Value* a,
                          llvm::Value* b);
  // Returns the lanes (i1, or lanes x i1) in which `index` is in 0..extent-1.
  llvm::Value* EmitInBounds(NodeId index, NodeId extent);
  // The contiguous memory that all lanes of a load or pad read together.
  // `begin`: address of lane 0; `in_bounds`: an i1 that is true if all lanes
  // are in the buffer. If it is false, no lane is in the buffer, and the pad's
  // value is zero in all lanes.
  struct Run {
    llvm::Value* begin = nullptr;
    llvm::Value* in_bounds = nullptr;
  };
  std::optional<Run> RunOf(NodeId value);
  // Returns the number of nodes that were emitted so far, as a measure of the
  // code's size.
  int64_t emitted() const { return emitted_; }

  Scopes& scopes() { return scopes_; }
  MemoryAccess& memory() { return memory_; }

 private:
  llvm::Value* EmitNode(NodeId id, const tensor::Node& node);
  llvm::Value* EmitConstant(const tensor::Node& node);
  llvm::Value* EmitLoad(const tensor::Node& node);
  llvm::Value* EmitPad(const tensor::Node& node);
  llvm::Value* EmitSelect(const tensor::Node& node);
  // Emits an instruction, raw or not, given the values of its operands.
  llvm::Value* EmitInstruction(const tensor::ExpressionPool& pool,
                               const tensor::Node& node,
                               llvm::SmallVector<llvm::Value*, 3> operands);
  llvm::Value* EmitArithmetic(const tensor::Node& node);

  const loops::LoopNest& nest_;
  const legalise::TargetOperations operations_;
  Builder& b_;
  FirstError& error_;
  Scopes scopes_;
  IndexLinearizer linearizer_;
  MemoryAccess memory_;
  LaneMasks lane_masks_;
  Arithmetic arithmetic_;
  std::map<std::pair<tensor::Update, DType>, legalise::Formula> formulas_;
  std::unordered_map<NodeId, llvm::Value*> statement_;
  llvm::Value* mask_ = nullptr;
  int64_t emitted_ = 0;
};

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_EXPRESSION_EMITTER_H_

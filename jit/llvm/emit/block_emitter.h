// Emits blocks of statements as LLVM IR: the part of a phase that all kinds of
// machines share. The class for a kind of machine defines how loops over
// invocations run, and what a failed check does.
//
//   class PhaseEmitter : public BlockEmitter { … };
//
// Not thread-safe.
#ifndef EMBER_JIT_LLVM_EMIT_BLOCK_EMITTER_H_
#define EMBER_JIT_LLVM_EMIT_BLOCK_EMITTER_H_

#include <cstdint>
#include <span>

#include "jit/llvm/emit/dot_products.h"
#include "jit/llvm/emit/expression_emitter.h"
#include "jit/llvm/emit/ir.h"
#include "jit/llvm/emit/kernel_arguments.h"
#include "jit/llvm/emit/store_emitter.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::llvm_ir {

class BlockEmitter {
 public:
  // Emits code of one phase. All operands must outlive the emitter.
  BlockEmitter(const loops::LoopNest& nest, bool is_prologue,
               KernelArguments& arguments, TargetTraits target,
               llvm::Function& function);
  virtual ~BlockEmitter() = default;

 protected:
  // True if the emitted code is not to contain the statement.
  virtual bool IsLeftOut(const loops::Statement&) const { return false; }
  // Called after the code of each statement but a barrier.
  virtual void AfterStatement(const loops::Statement&) {}
  // These functions are called around the code of a body that may run several
  // times, or not at all.
  virtual void EnterBody() {}
  virtual void LeaveBody() {}
  // Emits a loop over invocations (kInvocation, kSubgroup), or over matrices.
  virtual void EmitInvocations(const loops::Statement& statement) = 0;
  // Emits check number `number` of the block. Returns true if it also emitted
  // the statements after the check.
  virtual bool EmitCheck(const loops::Block& block, size_t number) = 0;

  // Emits a dot loop with the machine's instructions for it. Returns false if
  // there are none, and the loop must be unrolled.
  virtual bool EmitDot(const loops::Statement& loop) {
    return dot_products_.Emit(loop);
  }

  // Emits an await. The default is nothing, as asynchronous stores are done at
  // once.
  virtual void EmitAwait(const loops::Statement&) {}

  // Emits a barrier. The default is nothing, as one thread runs all invocations
  // of a loop before it runs the next statement.
  virtual void EmitBarrier(const loops::Statement&) {}

  // Emits a step of a slot of a ring. The default is nothing, for the same
  // reason.
  virtual void EmitSlot(const loops::Statement&) {}

  // Emits a body that only the first invocation runs. The default is the body.
  virtual void EmitFirst(const loops::Statement& first) {
    EmitBlock(first.body);
  }

  // Emits a store. By default all threads that run the code perform it.
  virtual void EmitStore(const loops::Statement& statement) {
    stores_.Emit(statement.stores);
  }

  // Emits the block's statements, beginning with statement number `begin`.
  void EmitBlock(const loops::Block& block, size_t begin = 0);
  // Emits a serial loop.
  void EmitSerial(const loops::Statement& statement);
  // Emits a loop over the values of the variable from `begin` to `end` - 1.
  void EmitLoop(NodeId variable, llvm::Value* begin, llvm::Value* end,
                bool may_be_empty, const loops::Block& body);
  // Runs emit() so that its code is executed only where the condition (i1)
  // holds.
  template <typename Emit>
  void EmitBranch(llvm::Value* condition, Emit&& emit);

  // The result and the operands of a check. In a vector loop the operands are
  // those of the first lane that fails.
  struct Checked {
    llvm::Value* inside = nullptr;  // an i1: true if the check holds
    llvm::Value* index = nullptr;
    llvm::Value* extent = nullptr;
  };
  Checked EmitChecked(const loops::Statement& check);

  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, &function_);
  }
  int64_t Constant(NodeId id) const { return *nest_.pool.IntegerConstant(id); }
  NodeId ExtentOf(NodeId variable) const {
    return nest_.pool[variable].operands[0];
  }

  const loops::LoopNest& nest_;
  const TargetTraits target_;
  llvm::Function& function_;
  FirstError error_;
  Builder b_;
  ExpressionEmitter expressions_;
  StoreEmitter stores_;

 private:
  void EmitStatement(const loops::Statement& statement);
  void EmitFor(const loops::Statement& statement);
  void EmitUnrolled(const loops::Statement& statement, int64_t extent);
  void EmitVector(const loops::Statement& statement, int64_t extent);
  void EmitIf(const loops::Statement& statement);
  void EmitLanesIf(const loops::Statement& statement, llvm::Value* condition);
  // True if everything in the block is done lane by lane and accesses
  // neighbouring elements, so that the block does nothing if no lane is active.
  bool IsOfLanes(const loops::Block& block);
  bool IsOfLanes(std::span<const NodeId> indices);
  void EmitPrefetch(const loops::Statement& statement);
  // Returns a scalar value as it is. For a vector, returns the value in the
  // first lane that is set in `which`.
  llvm::Value* FirstLane(llvm::Value* value, llvm::Value* which);

  DotProducts dot_products_;
  int64_t statements_ = 0;
};

template <typename Emit>
void BlockEmitter::EmitBranch(llvm::Value* condition, Emit&& emit) {
  llvm::BasicBlock* const then = NewBlock("then");
  llvm::BasicBlock* const body = NewBlock("body");
  llvm::BasicBlock* const after = NewBlock("endif");
  b_.CreateCondBr(condition, then, after);
  b_.SetInsertPoint(then);
  b_.CreateBr(body);
  b_.SetInsertPoint(body);
  expressions_.scopes().EnterBranch(then);
  EnterBody();
  emit();
  LeaveBody();
  expressions_.scopes().Leave();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_BLOCK_EMITTER_H_

// Emits blocks of statements as LLVM IR. CPUs and GPUs share this base class. A
// derived class for each defines how loops over invocations run, and what a
// failed check does.
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
  // Makes an emitter for the code of one phase. All operands must outlive the
  // emitter.
  BlockEmitter(const loops::LoopNest& nest, bool is_prologue,
               KernelArguments& arguments, TargetTraits target,
               llvm::Function& function);
  virtual ~BlockEmitter() = default;

 protected:
  // True if the emitter must skip the statement.
  virtual bool IsLeftOut(const loops::Statement&) const { return false; }
  // Called after the code of each statement, except barriers.
  virtual void AfterStatement(const loops::Statement&) {}
  // EnterBody and LeaveBody are called before and after the code of a body that
  // may run several times or not at all.
  virtual void EnterBody() {}
  virtual void LeaveBody() {}
  // Emits a loop over invocations (kInvocation, kSubgroup), or over matrices.
  virtual void EmitInvocations(const loops::Statement& statement) = 0;
  // Emits the check that is statement number `number` of the block. Returns
  // true if it also emitted the statements after the check.
  virtual bool EmitCheck(const loops::Block& block, size_t number) = 0;

  // Emits a dot loop by the machine's dot product instructions. Returns false
  // and emits nothing if there are none; the caller then unrolls the loop.
  virtual bool EmitDot(const loops::Statement& loop) {
    return dot_products_.Emit(loop);
  }

  // Emits an await. The default emits nothing, because stores marked as
  // asynchronous are performed at once.
  virtual void EmitAwait(const loops::Statement&) {}

  // Emits a barrier. The default emits nothing, because one thread runs all
  // invocations of a loop before it runs the next statement.
  virtual void EmitBarrier(const loops::Statement&) {}

  // Emits a step of a ring's slot. The default emits nothing, because one
  // thread runs producer and readers one after the other.
  virtual void EmitSlot(const loops::Statement&) {}

  // Emits the body of a `first` statement, which only the first invocation
  // runs. The default emits the body without a condition, for a single thread.
  virtual void EmitFirst(const loops::Statement& first) {
    EmitBlock(first.body);
  }

  // Emits a store. By default every thread that runs the code performs it.
  virtual void EmitStore(const loops::Statement& statement) {
    stores_.Emit(statement.stores);
  }

  // Emits the block's statements, beginning with statement number `begin`.
  void EmitBlock(const loops::Block& block, size_t begin = 0);
  // Emits a serial loop.
  void EmitSerial(const loops::Statement& statement);
  // Emits a loop in which the variable has the values from `begin` to `end` -
  // 1.
  void EmitLoop(NodeId variable, llvm::Value* begin, llvm::Value* end,
                bool may_be_empty, const loops::Block& body);
  // Emits a branch: the code that emit() emits is executed only if the
  // condition (i1) holds.
  template <typename Emit>
  void EmitBranch(llvm::Value* condition, Emit&& emit);

  // The result of a check, and its operands for the error message. In a vector
  // loop the operands are those of the first lane that fails.
  struct Checked {
    // An i1 that is true if the index is in bounds.
    llvm::Value* inside = nullptr;
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
  // True if the block consists of assignments that load (except from registers)
  // and store neighbouring elements, one per lane, so that under a mask without
  // active lanes it does nothing.
  bool IsOfLanes(const loops::Block& block);
  bool IsOfLanes(std::span<const NodeId> indices);
  void EmitPrefetch(const loops::Statement& statement);
  // Returns a scalar value as it is. For a vector, returns the value of the
  // first lane that is true in the mask `which`.
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

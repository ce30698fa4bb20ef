// Blocks of statements as LLVM IR: what phases of all kinds of machines have in
// common. How the loops over invocations run, and what a failed check does, the
// class for a kind of machine says.
//
//   class PhaseEmitter : public BlockEmitter { … };
//
// Not thread-safe.
#ifndef EMBER_JIT_LLVM_BLOCK_EMITTER_H_
#define EMBER_JIT_LLVM_BLOCK_EMITTER_H_

#include <cstdint>
#include <span>

#include "jit/llvm/dot_products.h"
#include "jit/llvm/expression_emitter.h"
#include "jit/llvm/ir.h"
#include "jit/llvm/kernel_arguments.h"
#include "jit/llvm/store_emitter.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit {

class BlockEmitter {
 public:
  // Of one phase. All must outlive the emitter.
  BlockEmitter(const loops::LoopNest& nest, bool is_prologue,
               KernelArguments& arguments, TargetTraits target,
               llvm::Function& function);
  virtual ~BlockEmitter() = default;

 protected:
  // Whether the statement is none of this code's.
  virtual bool IsLeftOut(const loops::Statement&) const { return false; }
  // Before and behind the code of each statement.
  virtual void BeforeStatement(const loops::Statement&) {}
  virtual void AfterStatement(const loops::Statement&) {}
  // Around the code of a body that runs several times, or not always.
  virtual void EnterBody() {}
  virtual void LeaveBody() {}
  // A loop over invocations (kInvocation, kSubgroup), or of matrices.
  virtual void EmitInvocations(const loops::Statement& statement) = 0;
  // Check number `number` of the block. True: and what is behind it, too.
  virtual bool EmitCheck(const loops::Block& block, size_t number) = 0;

  // A dot loop as instructions for it; false: it is to be written out.
  virtual bool EmitDot(const loops::Statement& loop) {
    return dot_products_.Emit(loop);
  }

  // An await. By default nothing, as asynchronous stores are done at once.
  virtual void EmitAwait(const loops::Statement&) {}

  // A store; by default, all that run the code do it.
  virtual void EmitStore(const loops::Statement& statement) {
    stores_.Emit(statement.stores);
  }

  // From statement `begin` on.
  void EmitBlock(const loops::Block& block, size_t begin = 0);
  // One value after the other.
  void EmitSerial(const loops::Statement& statement);
  // For each value of the variable from `begin` to `end` - 1.
  void EmitLoop(NodeId variable, llvm::Value* begin, llvm::Value* end,
                bool may_be_empty, const loops::Block& body);
  // What emit() emits, where the condition (i1) holds.
  template <typename Emit>
  void EmitBranch(llvm::Value* condition, Emit&& emit);

  // What a check compares: in lanes, of the first lane that fails.
  struct Checked {
    llvm::Value* inside = nullptr;  // i1
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
  // Whether all that the block does is done lane by lane, and neighbours are
  // accessed: without any lane on it does nothing.
  bool IsOfLanes(const loops::Block& block);
  bool IsOfLanes(std::span<const NodeId> indices);
  void EmitPrefetch(const loops::Statement& statement);
  // In lanes: what the first lane that is on in `which` has.
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

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_BLOCK_EMITTER_H_

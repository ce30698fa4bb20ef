#include "jit/llvm/emit/statement_emitter.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "jit/llvm/emit/block_emitter.h"
#include "jit/llvm/emit/kernel_arguments.h"
#include "jit/loops/analysis/self_copy.h"
#include "llvm/IR/Constants.h"
#include "vm/format/kernel_abi.h"

namespace ember::jit::llvm_ir {

using llvm::BasicBlock;
using llvm::Value;
using loops::Block;
using loops::Statement;

namespace {

// Emits the function of a phase for CPUs, which runs tasks, and the invocations
// of each task, one after the other.
class HostPhaseEmitter final : public BlockEmitter {
 public:
  HostPhaseEmitter(const loops::LoopNest& nest, bool is_prologue,
                   KernelArguments& arguments, TargetTraits target,
                   llvm::Function& function)
      : BlockEmitter(nest, is_prologue, arguments, target, function),
        arguments_(arguments) {}

  Status EmitPhase(const loops::Phase& phase);

 private:
  void EmitInvocations(const Statement& statement) override {
    EmitSerial(statement);
  }
  bool EmitCheck(const Block& block, size_t number) override;
  // If the phase only copies an input to an output, emits a branch to `done`
  // that is taken if both have the same memory.
  void SkipIfInPlace(const loops::Phase& phase, BasicBlock* done);
  // Emits a branch for a check: the code that is emitted next runs only if the
  // condition holds. Otherwise the function records the failed check and
  // returns.
  void FailUnless(Value* condition, const Statement& check, Value* index,
                  Value* extent);
  void EmitFailure();

  KernelArguments& arguments_;
  // The block to which all failed checks branch; null before the first check.
  BasicBlock* failed_ = nullptr;
  llvm::PHINode* failed_fields_[4] = {};
};

Status HostPhaseEmitter::EmitPhase(const loops::Phase& phase) {
  BasicBlock* entry = NewBlock("entry");
  BasicBlock* start = NewBlock("start");
  BasicBlock* done = NewBlock("done");
  b_.SetInsertPoint(entry);
  b_.CreateBr(start);
  b_.SetInsertPoint(start);
  expressions_.scopes().Enter(entry);
  SkipIfInPlace(phase, done);
  EmitLoop(phase.task, function_.getArg(2), function_.getArg(3), true,
           phase.body);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  b_.CreateRet(b_.getInt32(0));
  if (failed_ != nullptr) EmitFailure();
  return std::move(error_.status);
}

void HostPhaseEmitter::SkipIfInPlace(const loops::Phase& phase,
                                     BasicBlock* done) {
  const std::optional<loops::SelfCopy> copy = loops::SelfCopyOf(nest_, phase);
  if (!copy) return;
  BasicBlock* apart = NewBlock("apart");
  b_.CreateCondBr(b_.CreateICmpEQ(arguments_.Buffer(b_, copy->input),
                                  arguments_.Buffer(b_, copy->output)),
                  done, apart);
  b_.SetInsertPoint(apart);
}

bool HostPhaseEmitter::EmitCheck(const Block& block, size_t number) {
  const Checked checked = EmitChecked(block[number]);
  FailUnless(checked.inside, block[number], checked.index, checked.extent);
  return false;
}

void HostPhaseEmitter::FailUnless(Value* condition, const Statement& check,
                                  Value* index, Value* extent) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (known->isOne()) return;
  }
  if (failed_ == nullptr) {
    failed_ = NewBlock("failed");
    Builder::InsertPointGuard guard(b_);
    b_.SetInsertPoint(failed_);
    for (int i = 0; i < 4; ++i) {
      llvm::Type* type = i < 2 ? b_.getInt32Ty() : b_.getInt64Ty();
      failed_fields_[i] = b_.CreatePHI(type, 2);
    }
  }
  Value* const fields[] = {b_.getInt32(check.buffer), b_.getInt32(check.dim),
                           index, extent};
  for (int i = 0; i < 4; ++i) {
    failed_fields_[i]->addIncoming(fields[i], b_.GetInsertBlock());
  }
  BasicBlock* passed = NewBlock("passed");
  b_.CreateCondBr(condition, passed, failed_);
  b_.SetInsertPoint(passed);
}

void HostPhaseEmitter::EmitFailure() {
  constexpr size_t kOffsets[] = {
      offsetof(vm::IndexFailure, buffer), offsetof(vm::IndexFailure, dim),
      offsetof(vm::IndexFailure, index), offsetof(vm::IndexFailure, extent)};
  b_.SetInsertPoint(failed_);
  for (int i = 0; i < 4; ++i) {
    Value* field = b_.CreateConstInBoundsGEP1_64(
        b_.getInt8Ty(), function_.getArg(4), kOffsets[i]);
    b_.CreateAlignedStore(failed_fields_[i], field, llvm::Align(i < 2 ? 4 : 8));
  }
  b_.CreateRet(b_.getInt32(1));
}

}  // namespace

Status EmitPhase(const loops::LoopNest& nest, const loops::Phase& phase,
                 bool is_prologue, TargetTraits target,
                 llvm::Function& function) {
  HostArguments arguments(nest, function);
  HostPhaseEmitter emitter(nest, is_prologue, arguments, target, function);
  return emitter.EmitPhase(phase);
}

}  // namespace ember::jit::llvm_ir

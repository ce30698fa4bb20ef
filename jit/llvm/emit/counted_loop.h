// Emits a loop over an i64, at the builder's position:
//
//   CountedLoop loop(builder, function, begin, end, "i");
//   ... code that uses loop.value(); the builder is in the body
//   loop.Finish(after);
//
// The body runs at least once. The block header() dominates the body.
#ifndef EMBER_JIT_LLVM_EMIT_COUNTED_LOOP_H_
#define EMBER_JIT_LLVM_EMIT_COUNTED_LOOP_H_

#include <string>

#include "jit/llvm/emit/ir.h"

namespace ember::jit::llvm_ir {

class CountedLoop {
 public:
  // Makes the loop, and leaves the builder in its body. The loop variable is a
  // phi that gets both incoming values at once: the builder's folder would
  // replace a phi with only one incoming value by that value.
  CountedLoop(Builder& builder, llvm::Function& function, llvm::Value* begin,
              llvm::Value* end, const std::string& name)
      : b_(builder), end_(end), header_(NewBlock(function, "loop")) {
    llvm::BasicBlock* body = NewBlock(function, "body");
    latch_ = NewBlock(function, "latch");
    llvm::BasicBlock* before = b_.GetInsertBlock();
    b_.CreateBr(header_);
    b_.SetInsertPoint(header_);
    llvm::PHINode* variable = b_.CreatePHI(b_.getInt64Ty(), 2, name);
    b_.CreateBr(body);
    b_.SetInsertPoint(latch_);
    next_ = llvm::BinaryOperator::CreateAdd(variable, b_.getInt64(1));
    b_.Insert(next_);
    variable->addIncoming(begin, before);
    variable->addIncoming(next_, latch_);
    b_.SetInsertPoint(body);
    value_ = variable;
  }

  llvm::Value* value() const { return value_; }
  llvm::BasicBlock* header() const { return header_; }

  // Ends the loop's body, and leaves the builder in the block `after`, which
  // follows the loop.
  void Finish(llvm::BasicBlock* after) {
    b_.CreateBr(latch_);
    b_.SetInsertPoint(latch_);
    next_->setHasNoSignedWrap();
    next_->setHasNoUnsignedWrap();
    b_.CreateCondBr(b_.CreateICmpSLT(next_, end_), header_, after);
    b_.SetInsertPoint(after);
  }

 private:
  llvm::BasicBlock* NewBlock(llvm::Function& function, const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, &function);
  }

  Builder& b_;
  llvm::Value* end_;
  llvm::BasicBlock* header_;
  llvm::BasicBlock* latch_ = nullptr;
  llvm::Instruction* next_ = nullptr;
  llvm::Value* value_ = nullptr;
};

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_COUNTED_LOOP_H_

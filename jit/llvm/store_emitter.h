// Assignments and updates, of one element or of all lanes.
#ifndef EMBER_JIT_LLVM_STORE_EMITTER_H_
#define EMBER_JIT_LLVM_STORE_EMITTER_H_

#include <functional>
#include <span>

#include "jit/llvm/expression_emitter.h"
#include "jit/llvm/ir.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit {

class StoreEmitter {
 public:
  StoreEmitter(const loops::LoopNest& nest, TargetTraits target,
               llvm::Function& function, Builder& builder,
               ExpressionEmitter& expressions)
      : nest_(nest),
        target_(target),
        function_(function),
        b_(builder),
        expressions_(expressions) {}

  void Emit(std::span<const loops::Target> targets);

 private:
  // A target with its operands computed: value, or factor * other_factor.
  struct Pending {
    const loops::Target* target = nullptr;
    Address address;
    llvm::Value* value = nullptr;
    llvm::Value* factor = nullptr;
    llvm::Value* other_factor = nullptr;
  };

  Pending Prepare(const loops::Target& target);
  bool IsFused(const loops::Target& target) const;
  void Store(const Pending& pending);
  void Update(const Pending& pending);
  // All lanes count; several may have the same element.
  void UpdateLaneByLane(const Pending& pending);
  llvm::Value* Combined(const Pending& pending, llvm::Value* old);
  llvm::Value* Combine(const loops::Target& target, llvm::Value* a,
                       llvm::Value* b);
  // The lanes that are on combined to one value.
  llvm::Value* Reduce(const Pending& pending);
  llvm::Value* ReduceLanes(const loops::Target& target, llvm::Value* lanes);
  llvm::Value* ValueOf(const Pending& pending);
  llvm::Constant* Identity(const loops::Target& target);
  DType TypeOf(const loops::Target& target) const {
    return nest_.buffers[target.buffer].type;
  }

  const loops::LoopNest& nest_;
  TargetTraits target_;
  llvm::Function& function_;
  Builder& b_;
  ExpressionEmitter& expressions_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_STORE_EMITTER_H_

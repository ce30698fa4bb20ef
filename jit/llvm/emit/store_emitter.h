// Emits assignments and updates, of one element or of all lanes.
#ifndef EMBER_JIT_LLVM_EMIT_STORE_EMITTER_H_
#define EMBER_JIT_LLVM_EMIT_STORE_EMITTER_H_

#include <span>

#include "jit/llvm/emit/expression_emitter.h"
#include "jit/llvm/emit/ir.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::llvm_ir {

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

  void Emit(std::span<const loops::Store> stores);
  // Performs the store with `value` instead of its own value: assigns it to the
  // element, or updates the element with it.
  void EmitValue(const loops::Store& store, llvm::Value* value);

  // Returns a and b combined by the store's update, for example a + b.
  llvm::Value* Combine(const loops::Store& store, llvm::Value* a,
                       llvm::Value* b);
  // Returns the identity of the store's update: a constant whose combination
  // with another value gives that value, except for NaNs.
  llvm::Constant* Identity(const loops::Store& store);

 private:
  // A store whose operands have been emitted. The value is `value`, or factor *
  // other_factor if it is added by a fused multiply-add.
  struct Pending {
    const loops::Store* store = nullptr;
    Address address;
    llvm::Value* value = nullptr;
    llvm::Value* factor = nullptr;
    llvm::Value* other_factor = nullptr;
  };

  Pending Prepare(const loops::Store& store);
  bool IsFused(const loops::Store& store) const;
  void StoreNow(const Pending& pending);
  void Update(const Pending& pending);
  // Updates the elements one lane after the other. Needed if several lanes may
  // update the same element.
  void UpdateLaneByLane(const Pending& pending);
  llvm::Value* Combined(const Pending& pending, llvm::Value* old);
  // Returns the active lanes of the store's value, combined to one value by the
  // store's update.
  llvm::Value* Reduce(const Pending& pending);
  llvm::Value* ReduceLanes(const loops::Store& store, llvm::Value* lanes);
  llvm::Value* ValueOf(const Pending& pending);
  DType TypeOf(const loops::Store& store) const {
    return nest_.buffers[store.buffer].type;
  }

  const loops::LoopNest& nest_;
  TargetTraits target_;
  llvm::Function& function_;
  Builder& b_;
  ExpressionEmitter& expressions_;
};

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_STORE_EMITTER_H_

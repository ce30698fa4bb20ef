// Emits stores and updates of a phase as SPIR-V, at the code builder's current
// position.
//
//   StoreEmitter::Pending pending = stores.Prepare(store);  // reads operands
//   stores.StoreAll({&pending, 1}, 1);                       // reads and stores
//
// In a vector loop, the operands of a statement's stores are computed for all
// lanes before the first store is emitted. Not thread-safe.
#ifndef EMBER_JIT_SPIRV_STORE_EMITTER_H_
#define EMBER_JIT_SPIRV_STORE_EMITTER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "jit/gpu/kernel_abi.h"
#include "jit/loops/loop_nest.h"
#include "jit/spirv/arithmetic.h"
#include "jit/spirv/code_builder.h"
#include "jit/spirv/expression_emitter.h"
#include "jit/spirv/memory.h"

namespace ember::jit::spirv {

class StoreEmitter {
 public:
  // Makes an emitter for the stores of one phase. phase: its multiply_adds
  // counts fused multiply-adds.
  StoreEmitter(const loops::LoopNest& nest, CodeBuilder& code, Memory& memory,
               Arithmetic& arithmetic, ExpressionEmitter& expressions,
               gpu::PhaseCode& phase)
      : nest_(nest),
        c_(code),
        memory_(memory),
        arithmetic_(arithmetic),
        expressions_(expressions),
        phase_(phase) {}

  // A store whose operands have been emitted. The value is `value`, or factor *
  // value if it is added by a fused multiply-add.
  struct Pending {
    const loops::Store* store = nullptr;
    Value element;  // number of the stored element; unused if in_vector is set
    std::optional<Memory::VectorElement> in_vector;
    Value value;
    std::optional<Value> factor;
    std::optional<Value> mask;
  };

  // Emits the operands of a store, for the lane and under the mask that the
  // expression emitter has at this moment.
  Pending Prepare(const loops::Store& store);
  // Emits prepared stores. `all` has the `stride` stores of a statement for
  // lane 0, then those for lane 1 and so on. A store is performed only if its
  // mask is true.
  void StoreAll(std::span<const Pending> all, size_t stride);
  // Emits one prepared store. Every invocation that executes the code performs
  // it.
  void Write(const Pending& pending);

 private:
  // Emits the store of a vector. Its elements are the values of stores number
  // `begin`, `begin` + `stride` and so on.
  void StoreVector(std::span<const Pending> all, size_t begin, size_t stride);
  bool IsFused(const loops::Store& store) const;

  const loops::LoopNest& nest_;
  CodeBuilder& c_;
  Memory& memory_;
  Arithmetic& arithmetic_;
  ExpressionEmitter& expressions_;
  gpu::PhaseCode& phase_;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_STORE_EMITTER_H_

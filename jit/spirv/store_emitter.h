// Emits stores and updates of a phase as SPIR-V, at the code builder's current
// place.
//
//   StoreEmitter::Pending pending = stores.Prepare(store);  // reads operands
//   stores.StoreAll({&pending, 1}, 1);                       // reads and stores
//
// A statement's stores in all lanes of a vector loop are prepared before any of
// them is emitted. Not thread-safe.
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
  // Emits stores of one phase. phase: its multiply_adds counts fused
  // operations.
  StoreEmitter(const loops::LoopNest& nest, CodeBuilder& code, Memory& memory,
               Arithmetic& arithmetic, ExpressionEmitter& expressions,
               gpu::PhaseCode& phase)
      : nest_(nest),
        c_(code),
        memory_(memory),
        arithmetic_(arithmetic),
        expressions_(expressions),
        phase_(phase) {}

  // A store whose operands are computed: value, or factor * value.
  struct Pending {
    const loops::Store* store = nullptr;
    Value element;  // number of the element; unused if in_vector is set
    std::optional<Memory::VectorElement> in_vector;
    Value value;
    std::optional<Value> factor;
    std::optional<Value> mask;
  };

  // Computes the operands of a store, under the mask and in the vector lane
  // that the expression emitter is set to at this moment.
  Pending Prepare(const loops::Store& store);
  // Emits prepared stores. `all` holds `stride` stores for each lane, one lane
  // after the other. A store happens only where its mask is set.
  void StoreAll(std::span<const Pending> all, size_t stride);
  // Emits one prepared store, which every invocation that executes this place
  // carries out.
  void Write(const Pending& pending);

 private:
  // Stores a vector whose elements are the stores number `begin`, `begin` +
  // `stride` and so on.
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

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
#include <vector>

#include "jit/gpu/kernel_abi.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/workgroup.h"
#include "jit/spirv/arithmetic.h"
#include "jit/spirv/code_builder.h"
#include "jit/spirv/expression_emitter.h"
#include "jit/spirv/memory.h"

namespace ember::jit::spirv {

// The lanes and the invocation around a statement.
struct Surroundings {
  // The lanes of a vector loop, whose body is unrolled.
  struct Lanes {
    NodeId variable = 0;
    int64_t count = 0;
    std::vector<Value> masks;  // condition of each lane; empty: all are active
  };
  std::optional<Lanes> lanes;
  Value invocation;  // number of the invocation in the workgroup
  bool in_invocations = false;
};

class StoreEmitter {
 public:
  // Emits stores of one phase. around: kept up to date by the caller. phase:
  // its multiply_adds counts fused operations.
  StoreEmitter(const loops::LoopNest& nest, const loops::Workgroup& workgroup,
               const Surroundings& around, CodeBuilder& code, Memory& memory,
               Arithmetic& arithmetic, ExpressionEmitter& expressions,
               gpu::PhaseCode& phase)
      : nest_(nest),
        workgroup_(workgroup),
        around_(around),
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
  // after the other. A store happens only where its mask is set; if all
  // invocations of the workgroup would store the same value to shared memory,
  // only the first invocation does.
  void StoreAll(std::span<const Pending> all, size_t stride);
  // Emits one prepared store, which every invocation that executes this place
  // carries out.
  void Write(const Pending& pending);

 private:
  // Stores a vector whose elements are the stores number `begin`, `begin` +
  // `stride` and so on.
  void StoreVector(std::span<const Pending> all, size_t begin, size_t stride);
  bool IsFused(const loops::Store& store) const;
  bool IsOfOne(uint32_t buffer) const;

  const loops::LoopNest& nest_;
  const loops::Workgroup& workgroup_;
  const Surroundings& around_;
  CodeBuilder& c_;
  Memory& memory_;
  Arithmetic& arithmetic_;
  ExpressionEmitter& expressions_;
  gpu::PhaseCode& phase_;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_STORE_EMITTER_H_

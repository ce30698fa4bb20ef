#include "jit/spirv/store_emitter.h"

#include <cstdint>
#include <vector>

namespace ember::jit::spirv {

using tensor::Opcode;
using tensor::Update;

bool StoreEmitter::IsFused(const loops::Store& store) const {
  const DType type = nest_.buffers[store.buffer].type;
  return store.update == Update::kAdd &&
         (type == DType::kF32 || type == DType::kF64) &&
         nest_.pool[store.value].opcode == Opcode::kMultiply;
}

StoreEmitter::Pending StoreEmitter::Prepare(const loops::Store& store) {
  Pending pending;
  pending.store = &store;
  pending.mask = expressions_.mask();
  if (store.vector != 0 && !pending.mask) {
    pending.in_vector =
        expressions_.InVector(store.buffer, store.indices, store.vector);
  } else {
    pending.element = expressions_.Element(store.buffer, store.indices);
  }
  if (IsFused(store)) {
    const std::vector<NodeId> factors = nest_.pool[store.value].operands;
    pending.factor = expressions_.Emit(factors[0]);
    pending.value = expressions_.Emit(factors[1]);
  } else {
    pending.value = expressions_.Emit(store.value);
  }
  return pending;
}

void StoreEmitter::StoreAll(std::span<const Pending> all, size_t stride) {
  for (size_t store = 0; store < stride; ++store) {
    for (size_t i = store; i < all.size(); i += stride) {
      const Pending& pending = all[i];
      if (pending.in_vector) {
        // The lanes of a vector are stored together, when lane 0 is reached.
        if (pending.in_vector->lane == 0) StoreVector(all, i, stride);
        continue;
      }
      const Value condition = pending.mask.value_or(c_.Bool(true));
      if (c_.IsKnown(condition, 1)) {
        Write(pending);
      } else {
        c_.If(condition, [&] { Write(pending); });
      }
    }
  }
}

void StoreEmitter::StoreVector(std::span<const Pending> all, size_t begin,
                               size_t stride) {
  std::vector<Value> values;
  const Memory::VectorElement& first = *all[begin].in_vector;
  values.reserve(first.width);
  for (size_t lane = 0; lane < first.width; ++lane)
    values.push_back(all[begin + lane * stride].value);
  memory_.StoreVector(all[begin].store->buffer, first.number, values);
}

void StoreEmitter::Write(const Pending& pending) {
  const uint32_t buffer = pending.store->buffer;
  const Update update = pending.store->update;
  Value value = pending.value;
  if (update != Update::kAssign) {
    const Value old = memory_.Load(buffer, pending.element);
    phase_.multiply_adds += pending.factor.has_value();
    value = pending.factor
                ? arithmetic_.MultiplyAdd(*pending.factor, value, old,
                                          pending.store->rounds_once)
                : arithmetic_.EmitUpdate(update, nest_.buffers[buffer].type,
                                         old, value);
  }
  memory_.Store(buffer, pending.element, value);
}

}  // namespace ember::jit::spirv

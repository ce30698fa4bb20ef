// Emits code that combines the values of a subgroup's invocations, for example
// into their sum (loops::Combining).
//
//   SubgroupCombiner combiner(code, arithmetic);
//   const Value sum = combiner.Combine(DType::kF32, Update::kAdd, value);
//
// Minimum and maximum of floats follow tensor/semantics.h: a NaN wins. Not
// thread-safe.
#ifndef EMBER_JIT_SPIRV_SUBGROUP_COMBINER_H_
#define EMBER_JIT_SPIRV_SUBGROUP_COMBINER_H_

#include "base/dtype.h"
#include "jit/spirv/arithmetic.h"
#include "jit/spirv/code_builder.h"
#include "tensor/dispatch.h"

namespace ember::jit::spirv {

class SubgroupCombiner {
 public:
  SubgroupCombiner(CodeBuilder& code, Arithmetic& arithmetic)
      : c_(code), arithmetic_(arithmetic) {}

  // Returns the combination, by the update, of the values of the subgroup's
  // invocations that execute the code.
  Value Combine(DType type, tensor::Update update, Value value);
  // Returns a bool that is true in exactly one of the subgroup's invocations
  // that execute the code.
  Value IsElected();

 private:
  // KeyOf converts floats to integers with the same order, where a NaN is
  // beyond all numbers in the direction that `update` keeps; FromKey converts
  // back.
  Value KeyOf(tensor::Update update, Value value);
  Value FromKey(Value key);
  Id Subgroup();

  CodeBuilder& c_;
  Arithmetic& arithmetic_;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_SUBGROUP_COMBINER_H_

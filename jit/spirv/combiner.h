// Combines a value of each invocation of a workgroup into one, for combining
// loops (jit/loops/analysis/combining.h).
//
//   Combiner combiner(target, workgroup, code, memory, arithmetic);
//   const Value sum =
//       combiner.Combine(DType::kF32, store, value, invocation);
//   ... the first invocation has it ...
//
// The store says if subgroups combine their values, whose results are combined
// one after another, or if halves of the workgroup are combined repeatedly, in
// its memory. Minimum and maximum of
// floats follow tensor/semantics.h: a NaN wins. Not thread-safe.
#ifndef EMBER_JIT_SPIRV_COMBINER_H_
#define EMBER_JIT_SPIRV_COMBINER_H_

#include <array>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/loops/workgroup.h"
#include "jit/spirv/arithmetic.h"
#include "jit/spirv/code_builder.h"
#include "jit/spirv/memory.h"
#include "jit/spirv/memory_model.h"
#include "jit/spirv/target.h"
#include "tensor/dispatch.h"

namespace ember::jit::spirv {

class Combiner {
 public:
  Combiner(const Target& target, const loops::Workgroup& workgroup,
           CodeBuilder& code, Memory& memory, Arithmetic& arithmetic)
      : target_(target),
        workgroup_(workgroup),
        c_(code),
        memory_(memory),
        arithmetic_(arithmetic) {}

  // Returns the value that changes nothing when it is combined with others.
  Value Neutral(DType type, tensor::Update update);

  // Returns the combined value in the first invocation; the results of other
  // invocations are undefined. All invocations of the workgroup must execute
  // the code. The workgroup's memory for it must not be in use: there must be a
  // barrier after the previous call.
  Value Combine(DType type, const loops::Store& store, Value value,
                Value invocation);

  // Variables of the workgroup that the code uses.
  const std::vector<Id>& interface() const { return interface_; }

 private:
  Value BySubgroups(DType type, tensor::Update update, Value value,
                    Value invocation);
  Value ByHalves(DType type, tensor::Update update, Value value,
                 Value invocation);
  Value OfSubgroup(DType type, tensor::Update update, Value value);
  // KeyOf converts floats to integers of the same order, with all NaNs beyond
  // the values that `update` keeps; FromKey converts back.
  Value KeyOf(tensor::Update update, Value value);
  Value FromKey(Value key);
  Value Apply(DType type, tensor::Update update, Value a, Value b);
  Value BuiltInWord(spv::BuiltIn which, const char* name);
  Id PartAt(Scalar type, Value index);
  Value LoadPart(Scalar type, Value index) {
    return c_.Load(type, PartAt(type, index), ++version_,
                   MemoryModel(target_).SharedAccess());
  }
  void StorePart(Value index, Value value) {
    c_.Store(PartAt(value.type, index), value,
             MemoryModel(target_).SharedAccess());
  }

  const Target& target_;
  const loops::Workgroup& workgroup_;
  CodeBuilder& c_;
  Memory& memory_;
  Arithmetic& arithmetic_;
  // ids of the arrays, by Scalar; 0: not declared yet
  std::array<Id, 8> parts_ = {};
  std::vector<Id> interface_;
  uint32_t version_ = 0;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_COMBINER_H_

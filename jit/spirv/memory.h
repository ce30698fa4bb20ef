// Loads and stores of a phase's buffers, an element at a time, wherever the
// plan has put them; and the record of a failed check.
//
//   Memory memory(nest, plan, code, conversions, phase_code, error);
//   const Value x = memory.Load(buffer, element);
//   memory.Store(buffer, element, value);
//
// Elements are numbered row by row, in a word. Not thread-safe.
#ifndef EMBER_JIT_SPIRV_MEMORY_H_
#define EMBER_JIT_SPIRV_MEMORY_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "jit/loops/loop_nest.h"
#include "jit/spirv/code_builder.h"
#include "jit/spirv/conversions.h"
#include "jit/spirv/kernel_abi.h"
#include "jit/spirv/phase_plan.h"

namespace ember::jit::spirv {

class Memory {
 public:
  // Declares what the phase binds: phase.bindings gets them in order, and
  // interface() the variables.
  Memory(const loops::LoopNest& nest, const PhasePlan& plan, CodeBuilder& code,
         Conversions& conversions, PhaseCode& phase, Status& error);

  Value Load(uint32_t buffer, Value element);
  // The element where the condition holds, else anything.
  Value LoadIf(Value condition, uint32_t buffer, Value element);
  void Store(uint32_t buffer, Value element, Value value);

  // The buffers may have other contents from here on.
  void Changed(const std::vector<bool>& buffers);
  // All invocations of the workgroup meet, and see what the others stored.
  void Meet();

  // Each workgroup's part of sliced buffers begins at the element.
  void SetSlice(uint32_t buffer, Value first_element) {
    variables_[buffer].first = first_element;
    variables_[buffer].has_first = true;
  }

  // Notes a failed check, if it is the first.
  void Fail(const loops::Statement& check, Value index, Value extent);

  const std::vector<Id>& interface() const { return interface_; }

 private:
  struct Variable {
    Id id = 0;
    std::vector<Id> elements;  // of registers
    Value first;
    bool has_first = false;
    uint32_t version = 0;
  };

  void DeclareBinding(uint32_t buffer);
  void DeclareLocal(uint32_t buffer);
  Id BindingVariable(Scalar element, std::string_view name);
  Id PointerTo(uint32_t buffer, Value element);
  Scalar TypeIn(uint32_t buffer) const;
  bool IsInMemory(uint32_t buffer) const;
  bool MayBeEmpty(uint32_t buffer) const;
  void NoteStore(uint32_t buffer);
  // 64 bits as two words.
  void StoreLong(uint32_t word, Value value);
  void StoreWord(uint32_t word, Value value);

  const loops::LoopNest& nest_;
  const PhasePlan& plan_;
  CodeBuilder& c_;
  Conversions& convert_;
  PhaseCode& phase_;
  Status& error_;
  std::vector<Variable> variables_;
  std::vector<Id> interface_;
  Id record_ = 0;
  uint32_t binding_ = 0;
  uint32_t version_ = 0;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_MEMORY_H_

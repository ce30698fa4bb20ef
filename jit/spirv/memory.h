// Emits loads and stores of a phase's buffers, in whatever storage the
// workgroup gives them: of one element or of a vector of contiguous elements.
// Also emits the record of a failed check.
//
//   Memory memory(nest, workgroup, code, conversions, phase_code, error);
//   const Value x = memory.Load(buffer, element);
//   memory.Store(buffer, element, value);
//
// An element is named by its number in row-major order, a 32-bit integer. Not
// thread-safe.
#ifndef EMBER_JIT_SPIRV_MEMORY_H_
#define EMBER_JIT_SPIRV_MEMORY_H_

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/status.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/workgroup.h"
#include "jit/spirv/code_builder.h"
#include "jit/spirv/conversions.h"
#include "jit/spirv/cooperative_matrix.h"
#include "jit/spirv/memory_model.h"
#include "jit/spirv/target.h"

namespace ember::jit::spirv {

class Memory {
 public:
  // Declares the variables of the phase's buffers. After Finish, phase.bindings
  // has the bindings in order, and interface() the variables.
  Memory(const loops::LoopNest& nest, const loops::Workgroup& workgroup,
         CodeBuilder& code, Conversions& conversions, const Target& target,
         gpu::PhaseCode& phase, Status& error);

  Value Load(uint32_t buffer, Value element);
  // Loads the element if the condition holds; otherwise the result is undefined
  // and no memory out of bounds is read.
  Value LoadIf(Value condition, uint32_t buffer, Value element);
  void Store(uint32_t buffer, Value element, Value value);

  // --- Accesses to several elements by one instruction. ---

  // The element in lane `lane` of vector number `number` of a buffer, where
  // each vector has `width` elements.
  struct VectorElement {
    uint32_t width = 1;
    Value number;
    uint32_t lane = 0;
  };
  Value LoadFrom(uint32_t buffer, const VectorElement& element);
  // Loads an element of a vector if the condition holds. Otherwise loads from
  // vector number 0, which is in bounds; the result is then meaningless.
  Value LoadFromIf(Value condition, uint32_t buffer,
                   const VectorElement& element);
  // Loads four one-byte elements as a word: word number `lane` of vector number
  // `number`, where a vector has `width` words.
  Value LoadBytes(uint32_t buffer, const VectorElement& words);
  // Stores vector number `number` of the buffer. `values` has all its elements.
  void StoreVector(uint32_t buffer, Value number,
                   std::span<const Value> values);

  // --- Loads and stores of cooperative matrices. ---

  struct MatrixForm {
    MatrixLayout layout = MatrixLayout::kRowMajor;
    // Number of elements from the start of one row (or column) to the start of
    // the next one.
    uint32_t stride = 0;
  };
  // LoadMatrix and StoreMatrix access a cooperative matrix whose first element
  // is `element`. `type`: id of the matrix's type.
  Id LoadMatrix(uint32_t buffer, Value element, Id type, MatrixForm form);
  void StoreMatrix(uint32_t buffer, Value element, Id matrix, MatrixForm form);

  // Declares that the contents of these buffers may change at the current
  // position, so that later loads do not reuse earlier values.
  void Changed(const std::vector<bool>& buffers);
  // Emits a barrier, after which all invocations of the workgroup see what the
  // others stored to its memory and to coherent buffers.
  void EmitBarrier();

  // Sets the first element of the workgroup's slice of the buffer, which later
  // accesses add to their element numbers.
  void SetSlice(uint32_t buffer, Value first_element) {
    variables_[buffer].first = first_element;
    variables_[buffer].has_first = true;
  }

  // Completes the declarations. Called after the last access, when the number
  // of bindings is known.
  void Finish();

  // Emits code that records a failed check. Of several failures in a launch
  // only the first one is recorded.
  void Fail(const loops::Statement& check, Value index, Value extent);

  const std::vector<Id>& interface() const { return interface_; }

 private:
  struct Variable {
    Id id = 0;
    // kRegisters: ids of the variables, one for each element of the buffer
    std::vector<Id> elements;
    Value first;
    bool has_first = false;
    uint32_t version = 0;
    uint32_t binding = 0;
    bool is_aliased = false;
    // Variables that declare the buffer's binding as arrays of vectors. Key:
    // the vector's type.
    std::map<Id, Id> as_vectors;
    // Variables that declare the buffer's memory as texel buffers. Key: number
    // of words of a texel, 1 or 4.
    std::map<uint32_t, Id> as_texels;
  };
  // The representation of a vector in memory: its components are elements, or
  // words that hold several elements each.
  struct VectorForm {
    Scalar component = Scalar::kI32;
    uint32_t count = 1;          // number of components of a vector
    uint32_t per_component = 1;  // number of elements in each component
  };

  loops::StorageKind KindOf(uint32_t buffer) const {
    return workgroup_.storage[buffer].kind;
  }
  bool HasForm(uint32_t buffer, loops::ElementForm form) const {
    return workgroup_.storage[buffer].form == form;
  }
  // True if the buffer may have no elements: an extent is 0 or not constant.
  bool MayBeEmpty(uint32_t buffer) const;
  // True if elements of 8 and 16 bits are packed in memory, instead of taking a
  // word each.
  bool IsPacked(uint32_t buffer) const;
  void DeclareBinding(uint32_t buffer);
  void DeclareLocal(uint32_t buffer);
  void NoteMatrices(uint32_t buffer);
  Id BindingVariable(Id type, uint32_t binding, std::string_view name);
  Id PointerTo(uint32_t buffer, Value element);
  VectorForm FormOf(uint32_t buffer, uint32_t width) const;
  Id TypeOf(const VectorForm& form);
  // Loads a vector and returns one of its components as it is in memory.
  Value LoadComponent(uint32_t buffer, const VectorForm& form, Value number,
                      uint32_t component);
  Id PointerToVector(uint32_t buffer, const VectorForm& form, Value number);
  // True if loads of the buffer read a texel buffer: the target says that such
  // loads are faster (Target::texels), the phase only reads the buffer, its
  // elements have at most 4 bytes, and its size is constant, whole words, and
  // allowed for a texel buffer.
  bool HasTexels(uint32_t buffer) const;
  Value FetchElement(uint32_t buffer, Value element);
  Value FromShifted(DType type, Value word, Value element);
  Value FetchWord(uint32_t buffer, uint32_t words, Value texel,
                  uint32_t component);
  Id VariableOfVectors(uint32_t buffer, Id type, uint32_t bytes);
  void SetAliased(uint32_t buffer);
  Scalar TypeIn(uint32_t buffer) const;
  bool IsInMemory(uint32_t buffer) const;
  // True if elements have their memory type (Conversions), false if they are
  // stored as registers hold them.
  bool HasMemoryType(uint32_t buffer) const;
  // Returns a pointer to the matrix's first element. Converts form.stride to
  // units of the type pointed to: elements, or words of packed bytes.
  Id PointerToMatrix(uint32_t buffer, Value element, MatrixForm& form);
  // Returns the memory operands of loads from and stores to the buffer.
  uint32_t AccessTo(uint32_t buffer) const;
  void NoteStore(uint32_t buffer);
  // Stores a 64-bit number to the record of a failed check, as two words.
  void StoreLong(uint32_t word, Value value);
  void StoreWord(uint32_t word, Value value);

  const loops::LoopNest& nest_;
  const loops::Workgroup& workgroup_;
  CodeBuilder& c_;
  Conversions& convert_;
  const Target& target_;
  const MemoryModel model_;
  gpu::PhaseCode& phase_;
  Status& error_;
  std::vector<Variable> variables_;
  std::vector<Id> interface_;
  Id record_ = 0;
  uint32_t binding_ = 0;
  uint32_t version_ = 0;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_MEMORY_H_

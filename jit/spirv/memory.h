// Emits loads and stores of a phase's buffers, wherever the workgroup has them:
// one element or a vector of neighbours at a time. Also emits the record of a
// failed check.
//
//   Memory memory(nest, workgroup, code, conversions, phase_code, error);
//   const Value x = memory.Load(buffer, element);
//   memory.Store(buffer, element, value);
//
// Elements are numbered in row-major order, in a word. Not thread-safe.
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
  // Declares what the phase binds until Finish is called: phase.bindings gets
  // the bindings in order, and interface() the variables.
  Memory(const loops::LoopNest& nest, const loops::Workgroup& workgroup,
         CodeBuilder& code, Conversions& conversions, const Target& target,
         gpu::PhaseCode& phase, Status& error);

  Value Load(uint32_t buffer, Value element);
  // Loads the element if the condition holds; otherwise the result is
  // undefined.
  Value LoadIf(Value condition, uint32_t buffer, Value element);
  void Store(uint32_t buffer, Value element, Value value);

  // --- Access to several elements in one instruction. ---

  // Element `lane` of vector number `number`, each of `width` elements.
  struct VectorElement {
    uint32_t width = 1;
    Value number;
    uint32_t lane = 0;
  };
  Value LoadFrom(uint32_t buffer, const VectorElement& element);
  // Loads the vector's element if the condition holds; otherwise the result is
  // undefined.
  Value LoadFromIf(Value condition, uint32_t buffer,
                   const VectorElement& element);
  // Loads four elements of one byte as a word: number `lane` of the words of
  // vector number `number`, which has `width` words.
  Value LoadBytes(uint32_t buffer, const VectorElement& words);
  // Stores a vector; there are as many values as it has elements.
  void StoreVector(uint32_t buffer, Value number,
                   std::span<const Value> values);

  // --- Matrices of a subgroup. ---

  struct MatrixForm {
    MatrixLayout layout = MatrixLayout::kRowMajor;
    uint32_t stride = 0;  // number of elements between rows, or columns
  };
  // These functions access a matrix that begins at the element. type: the type
  // of the matrix.
  Id LoadMatrix(uint32_t buffer, Value element, Id type, MatrixForm form);
  void StoreMatrix(uint32_t buffer, Value element, Id matrix, MatrixForm form);

  // Declares that the buffers may have other contents from here on.
  void Changed(const std::vector<bool>& buffers);
  // Emits a barrier, after which all invocations of the workgroup see what the
  // others stored.
  void EmitBarrier();

  // Sets the element at which each workgroup's part of a sliced buffer begins.
  void SetSlice(uint32_t buffer, Value first_element) {
    variables_[buffer].first = first_element;
    variables_[buffer].has_first = true;
  }

  // To be called after the last access, when all bindings are known.
  void Finish();

  // Emits code that records a failed check. Only the first failure is kept.
  void Fail(const loops::Statement& check, Value index, Value extent);

  const std::vector<Id>& interface() const { return interface_; }

 private:
  struct Variable {
    Id id = 0;
    // a variable for each element of a buffer in registers
    std::vector<Id> elements;
    Value first;
    bool has_first = false;
    uint32_t version = 0;
    uint32_t binding = 0;
    bool is_aliased = false;
    // Variables that declare the same memory as arrays of vectors. Key: the
    // type of a vector.
    std::map<Id, Id> as_vectors;
    // Variables that declare the same memory as texel buffers. Key: number of
    // words of a texel, 1 or 4.
    std::map<uint32_t, Id> as_texels;
  };
  // A vector in memory, of elements or of words that hold several elements.
  struct VectorForm {
    Scalar component = Scalar::kI32;
    uint32_t count = 1;          // number of components of the vector
    uint32_t per_component = 1;  // number of elements in a component
  };

  loops::StorageKind KindOf(uint32_t buffer) const {
    return workgroup_.storage[buffer].kind;
  }
  bool HasForm(uint32_t buffer, loops::ElementForm form) const {
    return workgroup_.storage[buffer].form == form;
  }
  // True if the buffer may have no elements, since its extents are not
  // constant.
  bool MayBeEmpty(uint32_t buffer) const;
  // True if elements of 8 and 16 bits take 1 and 2 bytes of memory, not a word.
  bool IsPacked(uint32_t buffer) const;
  void DeclareBinding(uint32_t buffer);
  void DeclareLocal(uint32_t buffer);
  void NoteMatrices(uint32_t buffer);
  Id BindingVariable(Id type, uint32_t binding, std::string_view name);
  Id PointerTo(uint32_t buffer, Value element);
  VectorForm FormOf(uint32_t buffer, uint32_t width) const;
  Id TypeOf(const VectorForm& form);
  // Loads a component of the vector in its form in memory.
  Value LoadComponent(uint32_t buffer, const VectorForm& form, Value number,
                      uint32_t component);
  Id PointerToVector(uint32_t buffer, const VectorForm& form, Value number);
  // True if loads of the buffer read a texel buffer. The target says that such
  // loads are better (Target::texels), the phase only reads the buffer, and the
  // buffer has a constant size that a texel buffer can have.
  bool HasTexels(uint32_t buffer) const;
  Value FetchElement(uint32_t buffer, Value element);
  Value FromShifted(DType type, Value word, Value element);
  Value FetchWord(uint32_t buffer, uint32_t words, Value texel,
                  uint32_t component);
  Id VariableOfVectors(uint32_t buffer, Id type, uint32_t bytes);
  void SetAliased(uint32_t buffer);
  Scalar TypeIn(uint32_t buffer) const;
  bool IsInMemory(uint32_t buffer) const;
  // True if elements have the form of device memory; false if that of
  // registers.
  bool HasMemoryType(uint32_t buffer) const;
  // Returns a pointer to the matrix. Changes the form's stride to units of the
  // pointer's type: elements, or words of them.
  Id PointerToMatrix(uint32_t buffer, Value element, MatrixForm& form);
  // Returns the memory operands of loads and stores.
  uint32_t AccessTo(uint32_t buffer) const;
  void NoteStore(uint32_t buffer);
  // Stores 64 bits as two words of the record of a failed check.
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

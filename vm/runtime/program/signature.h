// Compares tensors with the signature of a program. Example of an error:
//
//   "input 'image': expected Nx3x224x224xf32, found 1x3x225x224xf32"
#ifndef EMBER_VM_RUNTIME_PROGRAM_SIGNATURE_H_
#define EMBER_VM_RUNTIME_PROGRAM_SIGNATURE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "vm/isa/module_definition.h"
#include "vm/runtime/tensor.h"

namespace ember::vm {

// The values of a program's symbols in a run; a value of -1 is not known.
class SymbolValues {
 public:
  explicit SymbolValues(const Program& program) : program_(program) { Reset(); }
  // Checks the number, types and shapes of a run's inputs, and sets the values
  // of the symbols in their declared shapes. Inputs that use the same symbol
  // must have the same extent for it.
  Status BindInputs(std::span<const Tensor> inputs);
  // Does what BindInputs does for shapes alone: checks their number and
  // extents.
  Status BindShapes(std::span<const std::vector<int64_t>> shapes);
  // Returns the extent of a dim of a signature. `declared` is a number, or
  // negative for a symbol. Returns -1 if the symbol's value is not known.
  int64_t ValueOf(int64_t declared) const {
    return declared >= 0 ? declared
                         : values_[static_cast<size_t>(-1 - declared)];
  }
  // Checks that the shape that the program computed for a result matches its
  // declaration and the symbols' values.
  Status CheckResult(const TensorSignature& result,
                     std::span<const int64_t> dims);

 private:
  void Reset();
  Status CheckCount(size_t found) const;
  Status BindDims(const TensorSignature& signature,
                  std::span<const int64_t> dims);
  Status BindInput(const TensorSignature& signature, const Tensor& tensor);
  // True if `extent` matches the declared dim. A symbol that has no value yet
  // gets the value `extent`.
  bool Fits(int64_t declared, int64_t extent, const TensorSignature& source);

  const Program& program_;
  std::vector<int64_t> values_;
  std::vector<const TensorSignature*> sources_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_PROGRAM_SIGNATURE_H_

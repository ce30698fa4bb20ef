// Compares tensors with the declarations of a program.
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

// The extents of a program's symbols; -1: not known.
class SymbolValues {
 public:
  explicit SymbolValues(const Program& program) : program_(program) { Reset(); }
  // Checks number, types and shapes of the inputs; inputs that share a symbol
  // must agree on it.
  Status BindInputs(std::span<const Tensor> inputs);
  // Checks number and shapes of the inputs as BindInputs does, from shapes
  // alone.
  Status BindShapes(std::span<const std::vector<int64_t>> shapes);
  // Returns the value of `declared`, a dim of a signature; -1: not known.
  int64_t ValueOf(int64_t declared) const {
    return declared >= 0 ? declared
                         : values_[static_cast<size_t>(-1 - declared)];
  }
  // Checks that the shape that the program computed for a result fits its
  // declaration and the inputs.
  Status CheckResult(const TensorSignature& result,
                     std::span<const int64_t> dims);

 private:
  void Reset();
  Status CheckCount(size_t found) const;
  Status BindDims(const TensorSignature& signature,
                  std::span<const int64_t> dims);
  Status BindInput(const TensorSignature& signature, const Tensor& tensor);
  // True if `extent` fits the declared dim. Binds a symbol that has no value
  // yet.
  bool Fits(int64_t declared, int64_t extent, const TensorSignature& source);

  const Program& program_;
  std::vector<int64_t> values_;
  std::vector<const TensorSignature*> sources_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_PROGRAM_SIGNATURE_H_

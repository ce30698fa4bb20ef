// NumPy's .npy files, versions 1 to 3, little endian or single bytes. Arrays in
// Fortran order can be read; files are written in C order.
//
//   EMBER_ASSIGN_OR_RETURN(vm::Tensor x, ReadNpy("x.npy"));
//   EMBER_RETURN_IF_ERROR(WriteNpy("y.npy", y));
//
// NumPy has no bf16 and no 8-bit floats: they are written as f32, which holds
// all their values. Errors name the file, what was expected and what was found.
#ifndef EMBER_TOOLS_LIB_TENSORS_NPY_H_
#define EMBER_TOOLS_LIB_TENSORS_NPY_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

// True if NumPy has the type. Tensors of other types are written as f32.
bool IsNpyType(DType type);

StatusOr<vm::Tensor> ReadNpy(const std::string& path);
Status WriteNpy(const std::string& path, const vm::Tensor& tensor);

// Parses the bytes of a .npy file. `name` is for error messages.
StatusOr<vm::Tensor> ParseNpy(std::string_view contents, std::string_view name);
StatusOr<std::string> SerializeNpy(const vm::Tensor& tensor);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TENSORS_NPY_H_

// Data files of ONNX test sets as a module's tensors. A tensor is one; a
// sequence or optional is what frontends/onnx/sequence.h makes of it: its data,
// its dims, and for an optional sequence whether it is there.
//
//   size_t parts = PartCount(module.inputs(), i);
//   EMBER_ASSIGN_OR_RETURN(std::vector<vm::Tensor> tensors,
//       ReadDataFile("input_0.pb", module.inputs().subspan(i, parts)));
//
// Tensors of strings hold strings (vm::Tensor::OfStrings). A map, or a sequence
// of maps of the same keys, is its values and its keys (onnx_maps.h).
//
// Errors: a file that is no such value, elements whose type or rank the
// signature does not take. Thread-safe.
#ifndef EMBER_TOOLS_LIB_ONNX_DATA_H_
#define EMBER_TOOLS_LIB_ONNX_DATA_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "frontends/onnx/tensor_proto.h"
#include "vm/format/module_definition.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

// A copy of a decoded tensor.
StatusOr<vm::Tensor> TensorOf(const onnx::TensorBytes& bytes);

// One tensor as a file of its own, and its bytes.
StatusOr<vm::Tensor> ReadTensorProto(const std::string& path);
std::string SerializeTensorProto(std::string_view name,
                                 const vm::Tensor& tensor);

// How many of the signatures, from `first` on, are one value of the model.
size_t PartCount(std::span<const vm::TensorSignature> signatures, size_t first);

// One tensor per signature of the value.
StatusOr<std::vector<vm::Tensor>> ReadDataFile(
    const std::string& path, std::span<const vm::TensorSignature> parts);

// Dims for ImportOptions::input_shapes: of a tensor its shape; of a sequence
// the rank of its elements, all open; of a map none.
StatusOr<std::vector<std::optional<int64_t>>> ReadPins(const std::string& path);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_ONNX_DATA_H_

// Reads the data files of ONNX test sets as a module's tensors. A tensor is one
// tensor. A sequence or optional consists of the tensors that
// frontends/onnx/node/sequence.h defines: its data, its dims, and for an
// optional sequence whether it is present.
//
//   size_t parts = PartCount(module.inputs(), i);
//   EMBER_ASSIGN_OR_RETURN(std::vector<vm::Tensor> tensors,
//       ReadDataFile("input_0.pb", module.inputs().subspan(i, parts)));
//
// Tensors of strings hold strings (vm::Tensor::OfStrings). A map, or a sequence
// of maps with the same keys, is two tensors: its values and its keys
// (onnx_maps.h).
//
// Errors: the file holds no such value; the signature does not accept the type
// or rank of the elements. Thread-safe.
#ifndef EMBER_TOOLS_LIB_TENSORS_ONNX_DATA_H_
#define EMBER_TOOLS_LIB_TENSORS_ONNX_DATA_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "frontends/onnx/node/tensor_proto.h"
#include "vm/isa/module_definition.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

// Returns a tensor with a copy of the data of a decoded TensorProto.
StatusOr<vm::Tensor> TensorOf(const onnx::TensorBytes& bytes);

// ReadTensorProto reads a file that holds one TensorProto. SerializeTensorProto
// returns the bytes of such a file.
StatusOr<vm::Tensor> ReadTensorProto(const std::string& path);
std::string SerializeTensorProto(std::string_view name,
                                 const vm::Tensor& tensor);

// Returns the number of consecutive signatures, beginning with signature
// `first`, that together represent one value of the ONNX model.
size_t PartCount(std::span<const vm::TensorSignature> signatures, size_t first);

// Reads the data file of one value of the model. `parts` are the signatures
// that represent the value. Returns one tensor for each.
StatusOr<std::vector<vm::Tensor>> ReadDataFile(
    const std::string& path, std::span<const vm::TensorSignature> parts);

// Returns the dims that a data file gives for ImportOptions::input_shapes: the
// shape of a tensor; as many open dims as the rank of a sequence's elements; no
// dims for a map.
StatusOr<std::vector<std::optional<int64_t>>> ReadPins(const std::string& path);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TENSORS_ONNX_DATA_H_

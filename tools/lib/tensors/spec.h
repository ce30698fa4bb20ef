// Parses tensors as they are given on the command line:
//
//   2x3xf32=1,2,3,4,5,6    the elements; one value alone fills the tensor; a
//                          scalar is f32=1
//   2x3xf32                random, see tools/lib/tensors/random.h
//   @x.npy  @x.pb          a NumPy file, an ONNX TensorProto
//   2x3xf32=@x.bin         raw little-endian elements
//   @-  2x3xf32=@-         the same from stdin
//
//   2xstring=a,b           strings; \, and \\ for a comma and a backslash
//
// Each may begin with NAME=, which says which input (or output) it is:
// --input=mask=1x128xi64=1
//
// A name that looks like a type ("f32") cannot be given; leave the name out
// then. Errors: one line that names the specification, what was expected and
// what was found.
#ifndef EMBER_TOOLS_LIB_TENSORS_SPEC_H_
#define EMBER_TOOLS_LIB_TENSORS_SPEC_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tools/lib/tensors/random.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

struct NamedTensor {
  std::optional<std::string> name;
  vm::Tensor tensor;
};

StatusOr<NamedTensor> ReadTensorSpec(std::string_view spec,
                                     RandomTensors& random);

// Reads a tensor from a file. The file's extension says the format: .npy or
// .pb. "-" is stdin, whose format is recognised by its contents.
StatusOr<vm::Tensor> ReadTensorFile(const std::string& path);
// WriteTensorFile writes a tensor in the format that the extension says: .npy,
// .pb (ONNX TensorProto), or raw elements for .bin, .raw and no extension. "-"
// is stdout, which gets a .npy file.
// CheckTensorFile returns an error for other extensions, as WriteTensorFile
// does.
Status CheckTensorFile(const std::string& path);
Status WriteTensorFile(const std::string& path, std::string_view name,
                       const vm::Tensor& tensor);

struct TensorType {
  DType type = DType::kF32;
  std::vector<int64_t> dims;
  bool strings = false;  // true: the type is "string"; `type` is then i64
};
// Parses a type such as "2x3xf32"; nullopt if the text is no type.
std::optional<TensorType> ParseTensorType(std::string_view text);

// Makes a tensor of random elements. Random strings are random numbers as text.
StatusOr<vm::Tensor> RandomTensor(const TensorType& type,
                                  RandomTensors& random);

struct NamedPath {
  std::optional<std::string> name;
  std::string path;
};
// Parses a value "[NAME=]@path" into its name and path.
StatusOr<NamedPath> ParsePathSpec(std::string_view spec);

struct NamedShape {
  std::string name;
  std::vector<std::optional<int64_t>> dims;
  std::optional<DType> type = std::nullopt;
};
// Parses a value of --shape: "NAME=1x3x224x224", or "NAME=1x3xi64" with an
// element type. "?" leaves a dim open. "NAME=" and "NAME=i64" are scalars.
StatusOr<NamedShape> ParseShapeSpec(std::string_view spec);
// Parses all --shape flags of a command line. Errors name the flag.
StatusOr<std::vector<NamedShape>> ParseShapeFlags(
    const std::vector<std::string>& specs);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TENSORS_SPEC_H_

// Converts ONNX TensorProtos to element type, extents and row-major
// little-endian bytes, and back.
//
//   EMBER_ASSIGN_OR_RETURN(TensorBytes x, ReadTensorFile("input_0.pb"));
//   x.dtype; x.dims; x.bytes;
//
// Bytes are shared with the proto or the mapped file if their layout allows it,
// and copied otherwise. Types without a dtype are held in wider ones: 2- and
// 4-bit integers as i8 / u8 by value, fp8 and fp4 as u8 by code. Strings are
// held as strings, without bytes; their dtype is that of the handles that
// represent them in a graph. Errors: complex numbers, negative or absurd dims,
// contents that do not fit the dims. Thread-compatible.
#ifndef EMBER_FRONTENDS_ONNX_NODE_TENSOR_PROTO_H_
#define EMBER_FRONTENDS_ONNX_NODE_TENSOR_PROTO_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "frontends/onnx/node/external_data.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {

struct TensorBytes {
  std::string name;
  DType dtype = DType::kF32;
  // The ONNX element type, if Ember has no dtype for it (carried_types.h); else
  // 0.
  int32_t carried_type = 0;
  std::vector<int64_t> dims;
  std::shared_ptr<const void> owner;  // keeps `bytes` alive
  std::span<const uint8_t> bytes;
  // The strings of a tensor of strings (carried_type STRING), one per element.
  std::vector<std::string> strings;

  bool is_strings() const { return carried_type == TensorProto::STRING; }
};

// Converts TensorProto::DataType to a dtype. Unimplemented for types without a
// dtype.
StatusOr<DType> DTypeFromOnnx(int32_t data_type);
// Like DTypeFromOnnx, but for carried types it returns the dtype in which their
// values are stored.
StatusOr<DType> StorageFromOnnx(int32_t data_type);
bool IsCarriedType(int32_t data_type);
int32_t DTypeToOnnx(DType dtype);
// Returns a name like "FLOAT8E4M3FN"; the number for values outside the
// enumeration.
std::string OnnxTypeName(int32_t data_type);

// Converts a proto. `owner` keeps the proto alive, so that its raw data need
// not be copied; if `owner` is null, the data is copied. `files` may be null;
// then external data is refused.
StatusOr<TensorBytes> DecodeTensor(const TensorProto& proto,
                                   std::shared_ptr<const void> owner,
                                   ExternalFiles* files);

// Reads a serialized TensorProto, such as test_data_set_0/input_0.pb.
StatusOr<TensorBytes> ReadTensorFile(const std::string& path);
StatusOr<TensorBytes> ParseTensor(std::span<const uint8_t> serialized);
// Serializes a tensor in raw_data form.
std::string SerializeTensor(std::string_view name, DType dtype,
                            std::span<const int64_t> dims,
                            std::span<const uint8_t> bytes);
std::string SerializeStrings(std::string_view name,
                             std::span<const int64_t> dims,
                             std::span<const std::string> strings);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_NODE_TENSOR_PROTO_H_

// Carried types: ONNX element types that have no dtype. They are the types
// below 8 bits, and the 8-bit floats other than FLOAT8E4M3FN and FLOAT8E5M2.
// Their values are stored in a wider type: 2- and 4-bit integers as i8 or u8 by
// value; fp8, fp4 and e8m0 as u8 by code. A Tensor of such a type is marked
// with it (Tensor::carried_type). Only operators that know the mark accept it:
// conversions, quantization, and operators that move elements.
#ifndef EMBER_FRONTENDS_ONNX_NODE_CARRIED_TYPES_H_
#define EMBER_FRONTENDS_ONNX_NODE_CARRIED_TYPES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "frontends/onnx/node/tensor.h"

namespace ember::onnx {

struct CarriedFormat {
  int32_t onnx_type;  // TensorProto::DataType
  DType storage;
  int bits;
  // For float formats only: number of bits of the exponent (`exponent`) and of
  // the mantissa, and the exponent's bias. Then three bit patterns without the
  // sign bit: that of the largest finite value, that of NaN, and that of a
  // number that is too large, if the conversion does not saturate (`overflow`).
  int exponent = 0;
  int mantissa = 0;
  int bias = 0;
  int largest = 0;
  int nan = 0;
  int overflow = 0;
  // True if the format has no negative zero and uses its bit pattern for NaN
  // ("FNUZ").
  bool unsigned_zero = false;

  bool is_float() const { return exponent > 0; }
};

// Returns the description of a carried type; null for types that have a dtype,
// and for unknown ones.
const CarriedFormat* FindCarriedFormat(int32_t onnx_type);

// Returns the name of the type in a module's signature ("f8e4m3fnuz", "i4",
// "string"); empty for 0 and unknown types.
std::string LogicalTypeName(int32_t onnx_type);

// Returns an error unless all operands are marked with the same type. Their
// dtypes do not show it: an i64 may be an integer or a string's handle. Absent
// operands are ignored.
Status CheckSameCarriedType(const std::vector<Tensor>& operands);

// Converts a tensor of a carried type to numbers of the dtype `type`.
Tensor DecodeCarried(Tensor x, DType type);
// Converts numbers to f8e4m3fn or f8e5m2, rounding to nearest even. A number
// that is too large becomes the largest value if `saturate`, else the result of
// a plain cast (tensor/semantics.h).
Tensor RoundToFloat8(Tensor x, DType type, bool saturate);

// Converts numbers to a carried type and marks them. Integers clamp if
// `saturate`, else wrap. Floats round to nearest even; a float that is too
// large becomes the largest value if `saturate`, else infinity or NaN. Powers
// of two (FLOAT8E8M0) have no sign, and infinity becomes NaN; `round_mode` says
// how numbers between two powers round: "up", "down" or "nearest". Other modes
// are an error.
Tensor EncodeCarried(Tensor x, const CarriedFormat& format, bool saturate,
                     std::string_view round_mode = "up");

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_NODE_CARRIED_TYPES_H_

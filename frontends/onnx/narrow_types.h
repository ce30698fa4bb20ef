// Element types of ONNX below 8 bits, and 8-bit floats: there are no dtypes for
// them yet, so their values travel in wider ones. 2- and 4-bit integers are
// held as i8 or u8 by value; fp8, fp4 and e8m0 as u8 by code. A Tensor that
// holds such a type is marked with it (Tensor::narrow_type), and only operators
// that know the mark take it: conversions, quantization, and moving elements.
#ifndef EMBER_FRONTENDS_ONNX_NARROW_TYPES_H_
#define EMBER_FRONTENDS_ONNX_NARROW_TYPES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "frontends/onnx/tensor.h"

namespace ember::onnx {

struct NarrowFormat {
  int32_t onnx_type;  // TensorProto::DataType
  DType storage;
  int bits;
  // Floats: bits of exponent and mantissa, bias, and the codes (without sign)
  // of the largest finite value, of NaN and of what is too large where
  // conversions do not saturate.
  int exponent = 0;
  int mantissa = 0;
  int bias = 0;
  int largest = 0;
  int nan = 0;
  int overflow = 0;
  // No negative zero; its code is NaN ("FNUZ").
  bool unsigned_zero = false;

  bool is_float() const { return exponent > 0; }
};

// Null for types that have a dtype, and for unknown ones.
const NarrowFormat* FindNarrowFormat(int32_t onnx_type);

// What a module's signature calls the type ("f8e4m3fn", "i4", "string"); empty
// for 0 and unknown types.
std::string LogicalTypeName(int32_t onnx_type);

// An error if some of the operands hold one type (or strings) and others
// another, which their dtypes do not show. Absent ones are left out.
Status CheckSameNarrowType(const std::vector<Tensor>& operands);

// The numbers of a marked tensor as `type`.
Tensor DecodeNarrow(Tensor x, DType type);
// Numbers as a narrow type, marked. Integers wrap (`saturate` false) or clamp;
// floats round to nearest even, and what is too large becomes the largest value
// or infinity / NaN. Powers of two (FLOAT8E8M0) have no sign, infinity becomes
// NaN, and `round_mode` says where numbers between them go: "up", "down" or
// "nearest"; others are an error.
Tensor EncodeNarrow(Tensor x, const NarrowFormat& format, bool saturate,
                    std::string_view round_mode = "up");

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_NARROW_TYPES_H_

// Carried types: element types of ONNX that have no dtype, below 8 bits, and
// floats of 8 bits but for FLOAT8E4M3FN and FLOAT8E5M2. Their values travel in
// a wider type: 2- and 4-bit integers as i8 or u8 by value; fp8, fp4 and e8m0
// as u8 by code. A Tensor that holds such a
// type is marked with it (Tensor::carried_type), and only operators that know
// the mark take it: conversions, quantization, and moving elements.
#ifndef EMBER_FRONTENDS_ONNX_CARRIED_TYPES_H_
#define EMBER_FRONTENDS_ONNX_CARRIED_TYPES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "frontends/onnx/tensor.h"

namespace ember::onnx {

struct CarriedFormat {
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
const CarriedFormat* FindCarriedFormat(int32_t onnx_type);

// What a module's signature calls the type ("f8e4m3fnuz", "i4", "string");
// empty for 0 and unknown types.
std::string LogicalTypeName(int32_t onnx_type);

// An error if some of the operands hold one type (or strings) and others
// another, which their dtypes do not show. Absent ones are left out.
Status CheckSameCarriedType(const std::vector<Tensor>& operands);

// The numbers of a marked tensor as `type`.
Tensor DecodeCarried(Tensor x, DType type);
// Numbers as f8e4m3fn or f8e5m2, to nearest even. What is too large becomes the
// largest value (`saturate`), else what a plain cast makes of it
// (tensor/semantics.h).
Tensor RoundToFloat8(Tensor x, DType type, bool saturate);

// Numbers as a carried type, marked. Integers wrap (`saturate` false) or clamp;
// floats round to nearest even, and what is too large becomes the largest value
// or infinity / NaN. Powers of two (FLOAT8E8M0) have no sign, infinity becomes
// NaN, and `round_mode` says where numbers between them go: "up", "down" or
// "nearest"; others are an error.
Tensor EncodeCarried(Tensor x, const CarriedFormat& format, bool saturate,
                     std::string_view round_mode = "up");

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_CARRIED_TYPES_H_

// The constants of a C program: one array for all equal ones, each with the
// type as which code reads it.
//
//   ConstantArrays arrays;
//   arrays.Add(DType::kI8, bytes);   // "ember_constant0"
//   arrays.text();    // "static const _Alignas(16) int8_t ember_constant0[] …"
//   arrays.bytes();
//
// An array of floats is written as their bits, in a union, so that NaNs keep
// theirs. Data is little-endian, as in modules. Not thread-safe.
#ifndef EMBER_TOOLS_LIB_C_PROGRAM_CONSTANT_ARRAYS_H_
#define EMBER_TOOLS_LIB_C_PROGRAM_CONSTANT_ARRAYS_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/dtype.h"

namespace ember::tools {

// Returns the C type of an element of the type: "float", "uint16_t" for f16.
std::string_view CTypeOf(DType type);

class ConstantArrays {
 public:
  // Returns an expression for the address of the first element. The bytes must
  // outlive this object.
  std::string Add(DType type, std::span<const uint8_t> bytes);

  // Returns the definitions of all arrays.
  const std::string& text() const { return text_; }
  // Returns the number of bytes of all arrays, with what alignment adds.
  int64_t bytes() const { return bytes_; }

 private:
  std::map<std::pair<DType, std::string_view>, std::string> names_;
  std::string text_;
  int64_t bytes_ = 0;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_C_PROGRAM_CONSTANT_ARRAYS_H_

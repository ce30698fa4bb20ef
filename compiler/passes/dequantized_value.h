// Recognises dequantized bytes in the form in which frontends write them.
//
//   multiply(cast<f32>(subtract(cast<i32>(%bytes), %zero)), %scale)
//
// Views of the whole value may follow. Internal to passes.
#ifndef EMBER_COMPILER_PASSES_DEQUANTIZED_VALUE_H_
#define EMBER_COMPILER_PASSES_DEQUANTIZED_VALUE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/graph/graph.h"

namespace ember::compiler {

struct DequantizedValue {
  graph::Value* bytes = nullptr;  // the bytes, of type u8 or i8
  // Zero point, of type i32, which is subtracted from the bytes. Null means 0.
  graph::Value* zero = nullptr;
  graph::Value* scale = nullptr;  // the scale, a constant of type f32
  // Views of the dequantized value, the outermost first. They are transposes,
  // or any views if zero and scale have one element.
  std::vector<const graph::Operation*> views;

  // Returns the shape of the scale after the views have been applied to it,
  // aligned at the last dim of the value. {} means one element.
  graph::Shape ScaleShape() const;
  // Returns an upper bound of the magnitudes of the elements of bytes - zero.
  // It is 255 unless `bytes` is a constant and there is no zero point.
  int64_t Bound() const;
};

// Returns the parts of a dequantized value; nullopt if the value does not have
// that form.
std::optional<DequantizedValue> DequantizedValueOf(graph::Value* value);

// True for a scale or zero point that is known when compiling: a constant,
// perhaps reshaped or transposed, or a product or quotient of such values.
bool IsConstantParameter(const graph::Value* value);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_DEQUANTIZED_VALUE_H_

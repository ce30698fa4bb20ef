// Values that are dequantized bytes, as frontends write them.
//
//   multiply(cast<f32>(subtract(cast<i32>(%bytes), %zero)), %scale)
//
// perhaps behind views of all of it. Internal to passes.
#ifndef EMBER_COMPILER_PASSES_DEQUANTIZED_VALUE_H_
#define EMBER_COMPILER_PASSES_DEQUANTIZED_VALUE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/graph/graph.h"

namespace ember::compiler {

struct DequantizedValue {
  graph::Value* bytes = nullptr;  // u8 or i8
  graph::Value* zero = nullptr;   // i32, of the bytes' values; null: 0
  graph::Value* scale = nullptr;  // f32, a constant
  // Of the dequantized value, the outermost first. More than transposes only
  // where zero and scale have one element.
  std::vector<const graph::Operation*> views;

  // Shape of the scale behind the views, aligned at the last dim; of one
  // element: {}.
  graph::Shape ScaleShape() const;
  // No value less zero is larger than that.
  int64_t Bound() const;
};

// None where the value is something else.
std::optional<DequantizedValue> DequantizedValueOf(graph::Value* value);

// Constants, perhaps reshaped or transposed, and their products and quotients.
bool IsConstantParameter(const graph::Value* value);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_DEQUANTIZED_VALUE_H_

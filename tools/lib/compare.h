// Compares tensors: floats by |got - want| <= atol + rtol * |want|, everything
// else, strings too, exactly. NaN equals NaN; infinities must agree.
//
//   Comparison c = Compare(got, want, {.rtol = 1e-3, .atol = 1e-5});
//   if (!c.equal) print(c.message);
//   // [0, 3]: got 1.5, want 1.25; 17 of 1000 elements differ, by up to 0.5
#ifndef EMBER_TOOLS_LIB_COMPARE_H_
#define EMBER_TOOLS_LIB_COMPARE_H_

#include <cstdint>
#include <string>

#include "vm/runtime/tensor.h"

namespace ember::tools {

struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-5;
  bool integers_too =
      false;  // integers may differ by that much too, instead of being exact
};

struct Comparison {
  bool equal = true;
  std::string message;      // empty if equal; one line
  int64_t differences = 0;  // elements out of tolerance
  double max_absolute = 0;  // of all finite elements; infinite if one side only
                            // is NaN or infinite
  double max_relative = 0;  // |got - want| / |want| where |want| > atol
};

Comparison Compare(const vm::Tensor& got, const vm::Tensor& want,
                   const Tolerance& tolerance);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_COMPARE_H_

// Compares tensors. Floats are equal if |got - want| <= atol + rtol * |want|;
// NaN equals NaN, and infinities must be the same. Elements of other types,
// including strings, must be exactly equal, unless Tolerance says otherwise.
//
//   Comparison c = Compare(got, want, {.rtol = 1e-3, .atol = 1e-5});
//   if (!c.equal) print(c.message);
//   // [0, 3]: got 1.5, want 1.25; 17 of 1000 elements differ, by up to 0.5
#ifndef EMBER_TOOLS_LIB_TENSORS_COMPARE_H_
#define EMBER_TOOLS_LIB_TENSORS_COMPARE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "vm/runtime/tensor.h"

namespace ember::tools {

struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-5;
  // Largest allowed difference of integers of 8 and 16 bits, which may be
  // quantized values. Wider integers (indices, counts, sums) must be equal.
  int64_t integer_steps = 0;
  // True: integers may also differ by up to atol (by 2 if atol is 2.5). Bools
  // must always be equal.
  bool uses_atol_for_integers = false;
  // True: floats narrower than f32 may differ by at least the TierTolerance of
  // their type. A value that two computations round differently differs by one
  // unit in the last place, which can exceed `rtol`.
  bool allows_rounding = false;
};

// Returns the value of integer_steps that the note of a tolerance in the
// corpus' manifest allows: "quantised: one step may differ", "uint8 pixels: at
// most 1 off". Such results were recorded with an engine that multiplies
// quantized values by the quotient of their scales. ONNX's definition divides
// instead, so that ties may round differently.
int64_t IntegerStepsOfNote(std::string_view note);

struct Comparison {
  bool equal = true;
  // Describes the first difference and the number of differences in one line;
  // empty if the tensors are equal.
  std::string message;
  // Number of elements that differ by more than the tolerance.
  int64_t differences = 0;
  // Largest absolute difference over all finite elements; infinite if an
  // element is NaN or infinite on one side only.
  double max_absolute = 0;
  // largest |got - want| / |want| over the elements where |want| > atol
  double max_relative = 0;
};

Comparison Compare(const vm::Tensor& got, const vm::Tensor& want,
                   const Tolerance& tolerance);

// Compares the results of one dispatch on the same operands by two tiers.
// Integers, bools and strings must be equal; floats may differ by
//
//   factor * TierTolerance(type) * (|want| + size / 10)
//
// where `size` is the largest finite |want| of the elements that are not equal.
// A sum that cancels is as wrong as its terms are large, so `size` is part of
// the bound. Fill values, such as a mask's -3e38, are equal and so do not
// count.
Comparison CompareTiers(const vm::Tensor& got, const vm::Tensor& want,
                        double factor = 1);
// Returns the tolerance of a type: f64 1e-9, f32 1e-4, f16 4e-3, bf16 3e-2,
// f8e4m3fn 0.25, f8e5m2 0.5. That is some hundred units in the last place of a
// sum, or a few units for sums that are rounded to a narrow type.
double TierTolerance(DType type);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TENSORS_COMPARE_H_

// Lists the operations on values that a target has. Legalisation
// (jit/legalise/legalise.h) expresses all other operations by these, and the
// back end translates the result one to one.
//
//   const TargetOperations operations = {.half_conversions = true,
//                                        .number_extremes = true};
//
// Operations that every target has are in no field: arithmetic of f32 and f64,
// arithmetic and shifts of integers of 32 and 64 bits, floordiv and mod by
// constant powers of two, comparisons, select, casts between f32 and f64 and
// between integers, casts of integers to f32 and f64, casts of bf16 to f32, and
// the raw instructions of jit/loops/raw.h except for those with a field.
//
// A value.
#ifndef EMBER_JIT_LEGALISE_TARGET_OPERATIONS_H_
#define EMBER_JIT_LEGALISE_TARGET_OPERATIONS_H_

namespace ember::jit::legalise {

struct TargetOperations {
  // --- Floats of 16 bits. (All targets hold floats of 8 bits as u8.) ---

  // True if the target has casts between f16 and f32 that round to nearest
  // even, and neg and abs of f16.
  bool half_conversions = false;
  // True if the target has +, - and * of f16, each rounded once.
  bool half_sums = false;
  // True if the target holds values of f16 and bf16 as f32. Casts to f32 and
  // raw casts from f32 then cost nothing, and there are no bitcasts.
  bool wide_halves = false;

  // --- integers and bools ---

  // True if the target has arithmetic and bitcasts of integers of 8 and 16
  // bits; false if it only has casts of them.
  bool narrow_integers = false;
  // True if the target has casts of bools to numbers.
  bool bool_casts = false;
  // True if the target has rem of integers that may be negative.
  bool signed_remainders = false;

  // --- floats ---

  // True if the target has casts of f32 and f64 to integers of 32 and 64 bits
  // that saturate.
  bool saturating_casts = false;
  // True if the target has raw min and max of floats, which ignore a NaN
  // operand.
  bool number_extremes = false;
  // True if the target has min and max of f32 that return a NaN if an operand
  // is a NaN, and that may return either of +0 and -0. They are used for
  // updates (`max=`), whose order is unspecified. The instructions min and max
  // of values are expressed by comparisons, since tensor/semantics.h says which
  // zero they return.
  bool nan_extremes = false;
  // True if the target has floor, ceil, round and trunc of f32 and of f64.
  bool rounding_f32 = false;
  bool rounding_f64 = false;
  // True if the target always has f64, and an operation on f64 is no slower
  // than a few on f32.
  bool cheap_doubles = false;

  // True if the target has exp of f32, with an error of up to 3 units in the
  // last place, also for subnormal results. Otherwise jit/math expands exp.
  bool exponentials = false;

  // --- loops ---

  // True if the target has instructions for matrix loops. Legalisation then
  // changes only the loads in these loops.
  bool matrix_loops = false;
};

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_TARGET_OPERATIONS_H_

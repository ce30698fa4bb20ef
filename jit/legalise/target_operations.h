// Lists the operations on values that a target has. Legalisation expresses all
// others by them (jit/legalise/legalise.h), and the back end prints the result
// one to one.
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
  // --- Floats of 16 bits. Floats of 8 bits are held as u8 is. ---

  // The target has casts between f16 and f32, which round to nearest even, and
  // neg and abs of f16.
  bool half_conversions = false;
  // The target has +, - and * of f16, rounded once.
  bool half_sums = false;
  // True if values of f16 and bf16 are held as the f32 of the same value. Casts
  // to f32 and raw casts from it then cost nothing, and there are no bitcasts.
  bool wide_halves = false;

  // --- integers and bools ---

  // The target has arithmetic and bitcasts of integers of 8 and 16 bits. If
  // false, it has only casts of these integers.
  bool narrow_integers = false;
  // The target has casts of bools to numbers.
  bool bool_casts = false;
  // The target has rem of integers of which one may be negative.
  bool signed_remainders = false;

  // --- floats ---

  // The target has casts of f32 and f64 to integers of 32 and 64 bits that
  // saturate.
  bool saturating_casts = false;
  // The target has raw min and max, which ignore NaNs.
  bool number_extremes = false;
  // The target has min and max of f32 that return a NaN if an operand is a NaN,
  // and that may return either of +0 and -0. They are for updates (`max=`),
  // whose order is unspecified. The instructions min and max of values are
  // expressed by comparisons, since tensor/semantics.h says which zero they
  // return.
  bool nan_extremes = false;
  // The target has floor, ceil, round and trunc.
  bool rounding_f32 = false;
  bool rounding_f64 = false;
  // True if f64 always exists and is no slower than a few instructions of f32.
  bool cheap_doubles = false;

  // The target has exp of f32, with an error of up to 3 units in the last
  // place, also for subnormal results. Targets without it use jit/math's
  // expansion.
  bool exponentials = false;

  // --- loops ---

  // True if matrix loops are instructions of the target. The bodies of these
  // loops are then left as they are.
  bool matrix_loops = false;
};

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_TARGET_OPERATIONS_H_

// Which operations on values a target has as such. Legalisation writes all
// others with them (jit/legalise/legalise.h), and the back end prints what is
// left one to one.
//
//   const TargetOperations operations = {.half_conversions = true,
//                                        .number_extremes = true};
//
// What every target has is in no field: arithmetic of f32 and f64, arithmetic
// and shifts of integers of 32 and 64 bits, floordiv and mod by constant powers
// of two, comparisons, select, casts between f32 and f64 and between integers,
// casts of integers to f32 and f64, casts of bf16 to f32, and the raw
// instructions of jit/loops/raw.h but for those that a field is about.
//
// A value.
#ifndef EMBER_JIT_LEGALISE_TARGET_OPERATIONS_H_
#define EMBER_JIT_LEGALISE_TARGET_OPERATIONS_H_

namespace ember::jit::legalise {

struct TargetOperations {
  // --- floats of 16 bits; those of 8 are held as u8 is ---

  // Casts between f16 and f32, which round to nearest even; neg and abs of f16.
  bool half_conversions = false;
  // + - * of f16, rounded once.
  bool half_sums = false;
  // Values of f16 and bf16 are held as the f32 of the same value: casts to f32
  // and raw casts from it cost nothing, bitcasts are not there.
  bool wide_halves = false;

  // --- integers and bools ---

  // Arithmetic and bitcasts of 8 and 16 bits. Else only casts are there.
  bool narrow_integers = false;
  // Casts of bools to numbers.
  bool bool_casts = false;
  // rem of operands of which one is negative.
  bool signed_remainders = false;

  // --- floats ---

  // Casts of f32 and f64 to integers of 32 and 64 bits that saturate.
  bool saturating_casts = false;
  // Raw min and max: those that pass over NaNs.
  bool number_extremes = false;
  // min and max of f32 that give a NaN where an operand is one, and of +0 and
  // -0 either of them. They are for updates (`max=`), whose order nobody
  // promises. For the instructions min and max of values, tensor/semantics.h
  // says which zero they give, so those are written as comparisons.
  bool nan_extremes = false;
  // floor, ceil, round and trunc.
  bool rounding_f32 = false;
  bool rounding_f64 = false;
  // f64 is no slower than a few instructions of f32, and always there.
  bool cheap_doubles = false;

  // exp of f32, within 3 units in the last place, subnormal results as well.
  // Targets without it compute what jit/math makes of it.
  bool exponentials = false;

  // --- loops ---

  // Matrix loops are instructions: what they do is left as it is.
  bool matrix_loops = false;
};

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_TARGET_OPERATIONS_H_

// The operators of StableHLO's specification, of chlo and of the dialects that
// come with them: how each is imported, or why it is not.
//
//   row(name, minimum operands, maximum operands, traits, function)
//   scalar(name, function)   a function of each element (ops/functions.h)
//   no(name, reason)
//
// A row without its function does not build. Names are unique, which a test
// checks.
//
// Sources: the StableHLO specification (openxla.org/stablehlo/spec), the
// operations of the chlo dialect.
#ifndef EMBER_FRONTENDS_STABLEHLO_OPERATOR_TABLE_H_
#define EMBER_FRONTENDS_STABLEHLO_OPERATOR_TABLE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "frontends/ops/functions.h"
#include "frontends/stablehlo/operation_context.h"

namespace ember::stablehlo {

inline constexpr int kManyOperands = 1 << 20;

// kElementwise: each element of the result depends only on the operands'
// elements at the same position, and all operands have the same shape. Such
// operators can be lifted: a region of scalars runs on tensors of many elements
// at once. kPartwise: the operator acts on the real and imaginary parts of
// complex numbers separately. kScalars: operands may differ in shape.
inline constexpr uint8_t kElementwise = 1, kPartwise = 2, kScalars = 4;

// clang-format off
#define EMBER_STABLEHLO_OPERATORS(row, scalar, no) \
  row(abs, 1, 1, kElementwise, ImportAbs) \
  row(add, 2, 2, kElementwise | kPartwise, ImportAdd) \
  row(after_all, 0, kManyOperands, 0, ImportToken) \
  no(all_gather, kCollective) \
  no(all_reduce, kCollective) \
  no(all_to_all, kCollective) \
  row(and, 2, 2, kElementwise, ImportAnd) \
  no(async_done, kNotYet) \
  no(async_start, kNotYet) \
  row(atan2, 2, 2, kElementwise, ImportAtan2) \
  row(batch_norm_grad, 5, 5, 0, ImportBatchNormGrad) \
  row(batch_norm_inference, 5, 5, 0, ImportBatchNormInference) \
  row(batch_norm_training, 3, 3, 0, ImportBatchNormTraining) \
  row(bitcast_convert, 1, 1, 0, ImportBitcastConvert) \
  row(broadcast, 1, 1, kPartwise, ImportBroadcast) \
  row(broadcast_in_dim, 1, 1, kPartwise, ImportBroadcastInDim) \
  row(case, 1, 1, 0, ImportCase) \
  scalar(cbrt, Cbrt) \
  scalar(ceil, Ceil) \
  row(cholesky, 1, 1, 0, ImportCholesky) \
  row(clamp, 3, 3, kElementwise | kScalars, ImportClamp) \
  no(collective_broadcast, kCollective) \
  no(collective_permute, kCollective) \
  row(compare, 2, 2, kElementwise, ImportCompare) \
  row(complex, 2, 2, kElementwise, ImportComplex) \
  row(composite, 0, kManyOperands, 0, ImportComposite) \
  row(concatenate, 1, kManyOperands, kPartwise, ImportConcatenate) \
  row(constant, 0, 0, kElementwise, ImportConstant) \
  row(convert, 1, 1, kElementwise, ImportConvert) \
  row(convolution, 2, 2, 0, ImportConvolution) \
  scalar(cosine, Cos) \
  row(count_leading_zeros, 1, 1, kElementwise, ImportCountLeadingZeros) \
  row(create_token, 0, 0, 0, ImportToken) \
  no(cross-replica-sum, kCollective) \
  row(custom_call, 0, kManyOperands, 0, ImportCustomCall) \
  row(divide, 2, 2, kElementwise, ImportDivide) \
  row(dot, 2, 2, 0, ImportDot) \
  row(dot_general, 2, 2, 0, ImportDotGeneral) \
  row(dynamic_broadcast_in_dim, 2, 2, 0, ImportDynamicBroadcastInDim) \
  row(dynamic_conv, 3, 3, 0, ImportDynamicConv) \
  row(dynamic_gather, 3, 3, 0, ImportDynamicGather) \
  row(dynamic_iota, 1, 1, 0, ImportDynamicIota) \
  row(dynamic_pad, 5, 5, 0, ImportDynamicPad) \
  row(dynamic_reshape, 2, 2, 0, ImportDynamicReshape) \
  row(dynamic_slice, 1, kManyOperands, kPartwise, ImportDynamicSlice) \
  row(dynamic_update_slice, 2, kManyOperands, kPartwise, ImportDynamicUpdateSlice) \
  row(einsum, 2, 2, 0, ImportEinsum) \
  scalar(exponential, Exp) \
  scalar(exponential_minus_one, Expm1) \
  row(fft, 1, 1, 0, ImportFft) \
  scalar(floor, Floor) \
  row(gather, 2, 2, kPartwise, ImportGather) \
  row(get_dimension_size, 1, 1, 0, ImportGetDimensionSize) \
  row(get_tuple_element, 1, 1, 0, ImportGetTupleElement) \
  row(if, 1, 1, 0, ImportIf) \
  row(imag, 1, 1, kElementwise, ImportImag) \
  no(infeed, kHost) \
  row(iota, 0, 0, 0, ImportIota) \
  scalar(is_finite, IsFinite) \
  scalar(log, Log) \
  scalar(log_plus_one, Log1p) \
  scalar(logistic, Sigmoid) \
  row(map, 0, kManyOperands, 0, ImportMap) \
  row(maximum, 2, 2, kElementwise, ImportMaximum) \
  row(minimum, 2, 2, kElementwise, ImportMinimum) \
  row(multiply, 2, 2, kElementwise, ImportMultiply) \
  row(negate, 1, 1, kElementwise | kPartwise, ImportNegate) \
  scalar(not, Not) \
  row(optimization_barrier, 0, kManyOperands, 0, ImportBarrier) \
  row(or, 2, 2, kElementwise, ImportOr) \
  no(outfeed, kHost) \
  row(pad, 2, 2, kPartwise, ImportPad) \
  no(partition_id, kCollective) \
  row(popcnt, 1, 1, kElementwise, ImportPopulationCount) \
  row(power, 2, 2, kElementwise, ImportPower) \
  row(real, 1, 1, kElementwise, ImportReal) \
  row(real_dynamic_slice, 4, 4, 0, ImportRealDynamicSlice) \
  no(recv, kHost) \
  row(reduce, 2, kManyOperands, 0, ImportReduce) \
  row(reduce_precision, 1, 1, kElementwise, ImportReducePrecision) \
  no(reduce_scatter, kCollective) \
  row(reduce_window, 2, kManyOperands, 0, ImportReduceWindow) \
  row(remainder, 2, 2, kElementwise, ImportRemainder) \
  no(replica_id, kCollective) \
  row(reshape, 1, 1, kPartwise, ImportReshape) \
  row(reverse, 1, 1, kPartwise, ImportReverse) \
  no(rng, kRandom) \
  no(rng_bit_generator, kRandomBits) \
  scalar(round_nearest_afz, RoundHalfAway) \
  scalar(round_nearest_even, Round) \
  scalar(rsqrt, Rsqrt) \
  row(scatter, 3, kManyOperands, 0, ImportScatter) \
  row(select, 3, 3, kElementwise | kPartwise | kScalars, ImportSelect) \
  row(select_and_scatter, 3, 3, 0, ImportSelectAndScatter) \
  no(send, kHost) \
  no(set_dimension_size, kBounded) \
  row(shift_left, 2, 2, kElementwise, ImportShiftLeft) \
  row(shift_right_arithmetic, 2, 2, kElementwise, ImportShiftRightArithmetic) \
  row(shift_right_logical, 2, 2, kElementwise, ImportShiftRightLogical) \
  scalar(sign, Sign) \
  scalar(sine, Sin) \
  row(slice, 1, 1, kPartwise, ImportSlice) \
  row(sort, 1, kManyOperands, 0, ImportSort) \
  scalar(sqrt, Sqrt) \
  row(subtract, 2, 2, kElementwise | kPartwise, ImportSubtract) \
  scalar(tan, Tan) \
  scalar(tanh, Tanh) \
  row(torch_index_select, 2, 2, 0, ImportTorchIndexSelect) \
  row(transpose, 1, 1, kPartwise, ImportTranspose) \
  row(triangular_solve, 2, 2, 0, ImportTriangularSolve) \
  row(tuple, 0, kManyOperands, 0, ImportTuple) \
  no(unary_einsum, kWithdrawn) \
  no(uniform_dequantize, kQuantized) \
  no(uniform_quantize, kQuantized) \
  row(while, 0, kManyOperands, 0, ImportWhile) \
  row(xor, 2, 2, kElementwise, ImportXor)

#define EMBER_CHLO_OPERATORS(row, scalar, no) \
  scalar(acos, Acos) \
  scalar(acosh, Acosh) \
  scalar(asin, Asin) \
  scalar(asinh, Asinh) \
  scalar(atan, Atan) \
  scalar(atanh, Atanh) \
  no(bessel_i1e, kSpecial) \
  row(broadcast_add, 2, 2, kElementwise | kScalars, ImportAdd) \
  row(broadcast_and, 2, 2, kElementwise | kScalars, ImportAnd) \
  row(broadcast_atan2, 2, 2, kElementwise | kScalars, ImportAtan2) \
  row(broadcast_compare, 2, 2, kElementwise | kScalars, ImportCompare) \
  no(broadcast_complex, kNotYet) \
  row(broadcast_divide, 2, 2, kElementwise | kScalars, ImportDivide) \
  row(broadcast_maximum, 2, 2, kElementwise | kScalars, ImportMaximum) \
  row(broadcast_minimum, 2, 2, kElementwise | kScalars, ImportMinimum) \
  row(broadcast_multiply, 2, 2, kElementwise | kScalars, ImportMultiply) \
  no(broadcast_next_after, kNotYet) \
  row(broadcast_or, 2, 2, kElementwise | kScalars, ImportOr) \
  no(broadcast_polygamma, kSpecial) \
  row(broadcast_power, 2, 2, kElementwise | kScalars, ImportPower) \
  row(broadcast_remainder, 2, 2, kElementwise | kScalars, ImportRemainder) \
  row(broadcast_select, 3, 3, kElementwise | kScalars, ImportSelect) \
  row(broadcast_shift_left, 2, 2, kElementwise | kScalars, ImportShiftLeft) \
  row(broadcast_shift_right_arithmetic, 2, 2, kElementwise | kScalars, ImportShiftRightArithmetic) \
  row(broadcast_shift_right_logical, 2, 2, kElementwise | kScalars, ImportShiftRightLogical) \
  row(broadcast_subtract, 2, 2, kElementwise | kScalars, ImportSubtract) \
  row(broadcast_xor, 2, 2, kElementwise | kScalars, ImportXor) \
  no(broadcast_zeta, kSpecial) \
  row(conj, 1, 1, kElementwise, ImportConjugate) \
  row(constant, 0, 0, kElementwise, ImportConstant) \
  no(constant_like, kNotYet) \
  scalar(cosh, Cosh) \
  scalar(digamma, Digamma) \
  no(dynamic_reshape, kNotYet) \
  scalar(erf, Erf) \
  scalar(erf_inv, ErfInverse) \
  scalar(erfc, Erfc) \
  scalar(is_inf, IsInfinite) \
  row(is_neg_inf, 1, 1, kElementwise, ImportIsNegativeInfinite) \
  row(is_pos_inf, 1, 1, kElementwise, ImportIsPositiveInfinite) \
  scalar(lgamma, LogGamma) \
  no(mulhi, kNotYet) \
  no(next_after, kNotYet) \
  no(polygamma, kSpecial) \
  no(ragged_dot, kNotYet) \
  no(scan, kNotYet) \
  scalar(sinh, Sinh) \
  scalar(square, Square) \
  scalar(tan, Tan) \
  row(top_k, 1, 1, 0, ImportTopK) \
  no(zeta, kSpecial)

// Operators of other dialects, with their full names.
#define EMBER_OTHER_OPERATORS(row, no) \
  row("arith.constant", 0, 0, kElementwise, ImportConstant) \
  row("func.call", 0, kManyOperands, kElementwise | kScalars, ImportCall) \
  row("sdy.reshard", 1, 1, 0, ImportBarrier) \
  row("sdy.sharding_constraint", 1, 1, 0, ImportBarrier) \
  row("shape.shape_of", 1, 1, 0, ImportShapeOf)
// clang-format on

struct OperatorRow {
  std::string_view name;
  int minimum_operands = 0;
  int maximum_operands = 0;
  uint8_t traits = 0;
  void (*import)(OperationContext& context) = nullptr;
  std::string_view reason = {};
};

// Imports a function of each element.
template <Tensor (*kFunction)(Tensor)>
void ImportScalar(OperationContext& c) {
  c.SetResult(kFunction(c.Operand(0)));
}

std::span<const OperatorRow> Operators();
// Returns the row of an operator; null for names that no specification lists.
const OperatorRow* FindRow(std::string_view name);
// True if a custom_call of this target is supported.
bool IsKnownCustomCall(std::string_view target);

#define EMBER_ROW(name, minimum, maximum, traits, function) \
  void function(OperationContext& c);
#define EMBER_NO(name, reason)
EMBER_STABLEHLO_OPERATORS(EMBER_ROW, EMBER_NO, EMBER_NO)
EMBER_CHLO_OPERATORS(EMBER_ROW, EMBER_NO, EMBER_NO)
EMBER_OTHER_OPERATORS(EMBER_ROW, EMBER_NO)
#undef EMBER_ROW
#undef EMBER_NO

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_OPERATOR_TABLE_H_

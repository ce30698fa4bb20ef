// Reduction kernels. For the kernel files only (see loops.h).
#ifndef EMBER_VM_INTERPRETER_REDUCE_KERNELS_H_
#define EMBER_VM_INTERPRETER_REDUCE_KERNELS_H_

#include "vm/interpreter/arithmetic.h"
#include "vm/interpreter/loops.h"

namespace ember::vm {
namespace {

// Partial results kept side by side: breaks the chain of dependent operations, vectorises, and
// makes a long sum more accurate. Fixed, so that all instruction sets add in the same order.
inline constexpr int kPartials = 32;

template <typename Op, typename T, typename Value>
inline T ReduceRow(T initial, int64_t columns, Value value) {
  T result = initial;
  int64_t i = 0;
  if (columns >= kPartials) {
    T partial[kPartials];
    for (int j = 0; j < kPartials; ++j) partial[j] = value(j);
    for (i = kPartials; i + kPartials <= columns; i += kPartials) {
      for (int j = 0; j < kPartials; ++j) partial[j] = Op::template Do<T>(partial[j], value(i + j));
    }
    for (int width = kPartials / 2; width > 0; width /= 2) {
      for (int j = 0; j < width; ++j) {
        partial[j] = Op::template Do<T>(partial[j], partial[j + width]);
      }
    }
    result = Op::template Do<T>(result, partial[0]);
  }
  for (; i < columns; ++i) result = Op::template Do<T>(result, value(i));
  return result;
}

template <typename Op, typename T>
void ReduceRowsKernel(const TileArguments& t) {
  for (int64_t r = 0; r < t.rows; ++r) {
    T* d = Row<T>(t.destination, r);
    const T* a = Row<T>(t.a, r);
    if (t.a.column_stride != 0) {
      d[0] = ReduceRow<Op, T>(d[0], t.columns, [a](int64_t i) { return a[i]; });
    } else {
      const T value = a[0];
      d[0] = ReduceRow<Op, T>(d[0], t.columns, [value](int64_t) { return value; });
    }
  }
}

template <typename Op>
constexpr void SetReduceRows(KernelTable& table, int combiner) {
  Kernel* row = table.reduce_rows[combiner];
  row[kTileI32] = &ReduceRowsKernel<Op, int32_t>;
  row[kTileU32] = &ReduceRowsKernel<Op, uint32_t>;
  row[kTileI64] = &ReduceRowsKernel<Op, int64_t>;
  row[kTileU64] = &ReduceRowsKernel<Op, uint64_t>;
  row[kTileF32] = &ReduceRowsKernel<Op, float>;
  row[kTileF64] = &ReduceRowsKernel<Op, double>;
}

constexpr void SetReduceKernels(KernelTable& table) {
  SetReduceRows<AddOp>(table, 0);
  SetReduceRows<MultiplyOp>(table, 1);
  SetReduceRows<MinimumOp>(table, 2);
  SetReduceRows<MaximumOp>(table, 3);
  table.reduce_rows[2][kTileBool] = &ReduceRowsKernel<MinimumOp, uint8_t>;
  table.reduce_rows[3][kTileBool] = &ReduceRowsKernel<MaximumOp, uint8_t>;
}

}  // namespace
}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_REDUCE_KERNELS_H_

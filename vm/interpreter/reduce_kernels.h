// Reduction kernels. Only the kernel files include this header (see loops.h).
#ifndef EMBER_VM_INTERPRETER_REDUCE_KERNELS_H_
#define EMBER_VM_INTERPRETER_REDUCE_KERNELS_H_

#include "vm/interpreter/arithmetic.h"
#include "vm/interpreter/loops.h"

namespace ember::vm {
// The namespace is anonymous: each build of a kernel file has functions of its
// own, compiled with its own flags.
namespace {  // NOLINT(google-build-namespaces)

// Number of partial results of a reduction. Partial results shorten the chain
// of dependent operations, allow vector instructions, and make a long sum more
// accurate. The number is fixed, so that all instruction sets add in the same
// order.
inline constexpr int kPartials = 32;

template <typename Op, typename T, typename Value>
inline T ReduceRow(T initial, int64_t columns, Value value) {
  T result = initial;
  int64_t i = 0;
  if (columns >= kPartials) {
    T partial[kPartials];
    for (int j = 0; j < kPartials; ++j) partial[j] = value(j);
    for (i = kPartials; i + kPartials <= columns; i += kPartials) {
      for (int j = 0; j < kPartials; ++j)
        partial[j] = Op::template Do<T>(partial[j], value(i + j));
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

#ifdef __OPTIMIZE_SIZE__

// Reduces rows in builds for size, with the same results as ReduceRow, for all
// operations and types. It calls the loops of two instructions: `copy` moves
// elements, `combine` applies the operation.
[[maybe_unused]] __attribute__((noinline)) void ReduceRows(
    const TileArguments& t, UnaryRow copy, BinaryRow combine, int size) {
  const intptr_t step = static_cast<intptr_t>(t.a.column_stride) * size;
  for (int64_t r = 0; r < t.rows; ++r) {
    alignas(8) char partial[kPartials * sizeof(int64_t)];
    char* d = Row<char>(t.destination, r);
    const char* a = Row<char>(t.a, r);
    intptr_t columns = static_cast<intptr_t>(t.columns);
    if (columns >= kPartials) {
      copy(partial, size, a, step, kPartials, t);
      for (columns -= kPartials; columns >= kPartials; columns -= kPartials) {
        a += kPartials * step;
        combine(partial, size, partial, size, a, step, kPartials, t);
      }
      a += kPartials * step;
      for (int width = kPartials / 2; width > 0; width /= 2) {
        combine(partial, size, partial, size, partial + width * size, size,
                width, t);
      }
      combine(d, 0, d, 0, partial, 0, 1, t);
    }
    combine(d, 0, d, 0, a, step, columns, t);
  }
}

template <typename Op, typename T>
void ReduceRowsKernel(const TileArguments& t) {
  constexpr auto kCopy = [](T a) { return a; };
  constexpr auto kCombine = [](T a, T b) { return Op::template Do<T>(a, b); };
  ReduceRows(t, &UnaryRowOf<T, T, decltype(kCopy)>,
             &BinaryRowOf<T, T, decltype(kCombine)>, sizeof(T));
}

#else

template <typename Op, typename T>
void ReduceRowsKernel(const TileArguments& t) {
  for (int64_t r = 0; r < t.rows; ++r) {
    T* d = Row<T>(t.destination, r);
    const T* a = Row<T>(t.a, r);
    if (t.a.column_stride != 0) {
      d[0] = ReduceRow<Op, T>(d[0], t.columns, [a](int64_t i) { return a[i]; });
    } else {
      const T value = a[0];
      d[0] =
          ReduceRow<Op, T>(d[0], t.columns, [value](int64_t) { return value; });
    }
  }
}

#endif  // __OPTIMIZE_SIZE__

#ifndef EMBER_VECTOR_BYTES
#define EMBER_VECTOR_BYTES 16
#endif
typedef float FloatVector __attribute__((vector_size(EMBER_VECTOR_BYTES)));
typedef float FloatVectorInMemory
    __attribute__((vector_size(EMBER_VECTOR_BYTES), aligned(4), may_alias));

// Combines two vectors with the same results as the operation's row of the
// instruction table. It is written with vector types, because the compiler does
// not vectorise a chain of additions, minima or maxima.
template <typename Op>
inline FloatVector CombineVectors(FloatVector a, FloatVector b) {
  if constexpr (std::is_same_v<Op, AddOp>) return a + b;
  if constexpr (std::is_same_v<Op, MinimumOp>)
    return ((a <= b) | (a != a)) ? a : b;
  return ((a >= b) | (a != a)) ? a : b;
}

template <typename Op, int kTaps>
void CombineTaps(const TapArguments& t) {
  constexpr int kLanes = EMBER_VECTOR_BYTES / 4;
  for (int64_t r = 0; r < t.rows; ++r) {
    float* d = Row<float>(t.destination, r);
    const float* a[kTaps];
    for (int k = 0; k < kTaps; ++k) {
      a[k] = reinterpret_cast<const float*>(t.a_data[k] + r * t.a.row_stride);
    }
    int64_t i = 0;
    for (; i + kLanes <= t.columns; i += kLanes) {
      FloatVector value = *reinterpret_cast<FloatVectorInMemory*>(d + i);
#pragma GCC unroll 9
      for (int k = 0; k < kTaps; ++k) {
        value = CombineVectors<Op>(
            value, *reinterpret_cast<const FloatVectorInMemory*>(a[k] + i));
      }
      *reinterpret_cast<FloatVectorInMemory*>(d + i) = value;
    }
    for (; i < t.columns; ++i) {
      for (int k = 0; k < kTaps; ++k)
        d[i] = Op::template Do<float>(d[i], a[k][i]);
    }
  }
}

// Combines the destination with the taps in their order. The result is the same
// as that of one reduction step per tap.
template <typename Op>
void CombineTapsKernel(const TapArguments& t) {
#ifndef __OPTIMIZE_SIZE__
  if (t.taps == kMaxTaps) return CombineTaps<Op, kMaxTaps>(t);
#endif
  TapArguments part = t;
  for (int done = 0; done < t.taps; done += part.taps) {
    part.taps = t.taps - done >= 3 ? 3 : 1;
    for (int k = 0; k < part.taps; ++k) part.a_data[k] = t.a_data[done + k];
    part.taps == 3 ? CombineTaps<Op, 3>(part) : CombineTaps<Op, 1>(part);
  }
}

// Calls visit(part, total, rest) for each element of the tile. `part` is the
// sum since the last carry; `total` and `rest` are the two floats of the
// compensated total.
template <typename T, typename Visit>
inline void ForEachTotal(const TileArguments& t, Visit visit) {
  for (int64_t r = 0; r < t.rows; ++r) {
    T* part = Row<T>(t.destination, r);
    T* total = Row<T>(t.a, r);
    T* rest = Row<T>(t.b, r);
    EMBER_INDEPENDENT
    for (int64_t i = 0; i < t.columns; ++i) visit(part[i], total[i], rest[i]);
  }
}

// Adds sums to compensated totals as tensor/sum_error.h describes; each
// operation is rounded by itself.
template <typename T>
void CarrySumKernel(const TileArguments& t) {
  ForEachTotal<T>(t, [](T& part, T& total, T& rest) {
    const T next = total + part;
    const T seen = next - total;
    const T lost = (total - (next - seen)) + (part - seen);
    const bool is_finite = next - next == 0;
    const T error = is_finite ? rest + lost : 0;
    total = next + error;
    rest = is_finite ? error - (total - next) : 0;
    part = 0;
  });
}

template <typename T>
void FinishSumKernel(const TileArguments& t) {
  ForEachTotal<T>(
      t, [](T& part, T& total, T& rest) { part = total + (part + rest); });
}

template <typename Op>
inline void SetReduceRows(TileKernelTable& table, int combiner) {
  TileKernel* row = table.reduce_rows[combiner];
  row[kTileI32] = &ReduceRowsKernel<Op, int32_t>;
  row[kTileU32] = &ReduceRowsKernel<Op, uint32_t>;
  row[kTileI64] = &ReduceRowsKernel<Op, int64_t>;
  row[kTileU64] = &ReduceRowsKernel<Op, uint64_t>;
  row[kTileF32] = &ReduceRowsKernel<Op, float>;
  row[kTileF64] = &ReduceRowsKernel<Op, double>;
}

inline void SetReduceKernels(TileKernelTable& table) {
  SetReduceRows<AddOp>(table, 0);
  SetReduceRows<MultiplyOp>(table, 1);
  SetReduceRows<MinimumOp>(table, 2);
  SetReduceRows<MaximumOp>(table, 3);
  // Only the baseline has kernels that carry sums to totals: they run so rarely
  // that versions for wide vectors would gain nothing.
#ifndef EMBER_FAST_TYPES_ONLY
  table.carry_sum[0] = &CarrySumKernel<float>;
  table.carry_sum[1] = &CarrySumKernel<double>;
  table.finish_sum[0] = &FinishSumKernel<float>;
  table.finish_sum[1] = &FinishSumKernel<double>;
#endif
  table.combine_taps[0] = &CombineTapsKernel<AddOp>;
  table.combine_taps[2] = &CombineTapsKernel<MinimumOp>;
  table.combine_taps[3] = &CombineTapsKernel<MaximumOp>;
  table.reduce_rows[2][kTileBool] = &ReduceRowsKernel<MinimumOp, uint8_t>;
  table.reduce_rows[3][kTileBool] = &ReduceRowsKernel<MaximumOp, uint8_t>;
}

}  // namespace
}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_REDUCE_KERNELS_H_

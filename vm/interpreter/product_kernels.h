// Kernels for sums of products over tiles. Only the kernel file in which the
// compiler may fuse a * b + c includes this header (see loops.h).
#ifndef EMBER_VM_INTERPRETER_PRODUCT_KERNELS_H_
#define EMBER_VM_INTERPRETER_PRODUCT_KERNELS_H_

#include "vm/interpreter/reduce_kernels.h"

namespace ember::vm {
// The namespace is anonymous: each build of a kernel file has functions of its
// own, compiled with its own flags.
namespace {  // NOLINT(google-build-namespaces)

template <typename T>
void MultiplyAddRowsKernel(const TileArguments& t) {
  for (int64_t r = 0; r < t.rows; ++r) {
    T* d = Row<T>(t.destination, r);
    const T* a = Row<T>(t.a, r);
    const T* b = Row<T>(t.b, r);
#ifdef __OPTIMIZE_SIZE__
    // Builds for size have one loop for all kinds of operands, instead of one
    // for contiguous operands and one for others.
    constexpr bool dense = false;
#else
    const bool dense = t.a.column_stride != 0 && t.b.column_stride != 0;
#endif
    if (dense) {
      d[0] = ReduceRow<AddOp, T>(d[0], t.columns,
                                 [a, b](int64_t i) { return a[i] * b[i]; });
    } else {
      const int64_t sa = t.a.column_stride, sb = t.b.column_stride;
      d[0] = ReduceRow<AddOp, T>(d[0], t.columns, [a, b, sa, sb](int64_t i) {
        return a[i * sa] * b[i * sb];
      });
    }
  }
}

template <typename T>
void MultiplyAddKernel(const TileArguments& t) {
  for (int64_t r = 0; r < t.rows; ++r) {
    T* d = Row<T>(t.destination, r);
    const T* a = Row<T>(t.a, r);
    const T* b = Row<T>(t.b, r);
    if (t.a.column_stride != 0 && t.b.column_stride != 0) {
      EMBER_INDEPENDENT
      for (int64_t i = 0; i < t.columns; ++i) d[i] += a[i] * b[i];
    } else {
      const bool a_varies = t.a.column_stride != 0;
      const T value = a_varies ? b[0] : a[0];
      const T* v = a_varies ? a : b;
      if (a_varies || t.b.column_stride != 0) {
        EMBER_INDEPENDENT
        for (int64_t i = 0; i < t.columns; ++i) d[i] += v[i] * value;
      } else {
        const T product = v[0] * value;
        EMBER_INDEPENDENT
        for (int64_t i = 0; i < t.columns; ++i) d[i] += product;
      }
    }
  }
}

template <typename T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(EMBER_VECTOR_BYTES)));
  typedef T InMemory __attribute__((vector_size(EMBER_VECTOR_BYTES),
                                    aligned(sizeof(T)), may_alias));
};

// Adds products with an operand b that is the same in all rows (the weights of
// a depthwise convolution). One vector of columns at a time is processed down
// all rows, with its weights in registers.
template <typename T, int kTaps>
void TapsDown(const TapArguments& t) {
  using Vector = typename VectorOf<T>::Type;
  using Memory = typename VectorOf<T>::InMemory;
  constexpr int kLanes = EMBER_VECTOR_BYTES / sizeof(T);
  const int64_t a_step = t.a.row_stride, d_step = t.destination.row_stride;
  int64_t i = 0;
  for (; i + kLanes <= t.columns; i += kLanes) {
    const int64_t at = i * static_cast<int64_t>(sizeof(T));
    Vector weight[kTaps];
    const char* a[kTaps];
#pragma GCC unroll 9
    for (int k = 0; k < kTaps; ++k) {
      weight[k] = *reinterpret_cast<const Memory*>(t.b_data[k] + at);
      a[k] = t.a_data[k] + at;
    }
    char* d = t.destination.data + at;
    int64_t offset = 0;
    for (int64_t r = 0; r < t.rows; ++r, offset += a_step, d += d_step) {
      Vector sum = *reinterpret_cast<Memory*>(d);
#pragma GCC unroll 9
      for (int k = 0; k < kTaps; ++k) {
        sum += *reinterpret_cast<const Memory*>(a[k] + offset) * weight[k];
      }
      *reinterpret_cast<Memory*>(d) = sum;
    }
  }
  for (int64_t r = 0; r < t.rows; ++r) {
    T* d = Row<T>(t.destination, r);
    for (int64_t c = i; c < t.columns; ++c) {
      T sum = d[c];
      for (int k = 0; k < kTaps; ++k) {
        sum += reinterpret_cast<const T*>(t.a_data[k] + r * a_step)[c] *
               reinterpret_cast<const T*>(t.b_data[k])[c];
      }
      d[c] = sum;
    }
  }
}

// Adds products of which operand b differs between rows, or is one scalar per
// row. The loop reads kTaps elements of a and of b for each element of the
// result.
template <typename T, int kTaps>
void Taps(const TapArguments& t) {
  if (t.b.column_stride != 0 && t.b.row_stride == 0)
    return TapsDown<T, kTaps>(t);
  for (int64_t r = 0; r < t.rows; ++r) {
    T* d = Row<T>(t.destination, r);
    const T* a[kTaps];
    const T* b[kTaps];
    for (int k = 0; k < kTaps; ++k) {
      a[k] = reinterpret_cast<const T*>(t.a_data[k] + r * t.a.row_stride);
      b[k] = reinterpret_cast<const T*>(t.b_data[k] + r * t.b.row_stride);
    }
    if (t.b.column_stride != 0) {
      EMBER_INDEPENDENT
      for (int64_t i = 0; i < t.columns; ++i) {
        T sum = d[i];
#pragma GCC unroll 9
        for (int k = 0; k < kTaps; ++k) sum += a[k][i] * b[k][i];
        d[i] = sum;
      }
    } else {
      T scalar[kTaps];
      for (int k = 0; k < kTaps; ++k) scalar[k] = b[k][0];
      EMBER_INDEPENDENT
      for (int64_t i = 0; i < t.columns; ++i) {
        T sum = d[i];
#pragma GCC unroll 9
        for (int k = 0; k < kTaps; ++k) sum += a[k][i] * scalar[k];
        d[i] = sum;
      }
    }
  }
}

// Any number of taps except 9 is split into groups of three and single taps, so
// that only the sizes 1, 3 and 9 are compiled.
template <typename T>
void MultiplyAddTapsKernel(const TapArguments& t) {
  if (t.taps == kMaxTaps) return Taps<T, kMaxTaps>(t);
  TapArguments part = t;
  int done = 0;
  for (; done < t.taps; done += part.taps) {
    part.taps = t.taps - done >= 3 ? 3 : 1;
    for (int k = 0; k < part.taps; ++k) {
      part.a_data[k] = t.a_data[done + k];
      part.b_data[k] = t.b_data[done + k];
    }
    part.taps == 3 ? Taps<T, 3>(part) : Taps<T, 1>(part);
  }
}

}  // namespace
}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_PRODUCT_KERNELS_H_

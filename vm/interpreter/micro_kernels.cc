// Kernels for sums of products, for one instruction set. Like strip_kernels.cc,
// the file is compiled several times, but with -ffp-contract=fast. It has the
// register-blocked inner kernel of contractions, and kernels on tiles. They are
// plain C++ with vector extensions: the accumulators are a rows x vectors array
// of vector variables that the compiler keeps in registers.
#ifndef EMBER_MICRO_ROWS
#define EMBER_MICRO_ROWS 4
#define EMBER_VECTOR_BYTES 16
#endif

#include "vm/interpreter/kernel_types.h"
#include "vm/interpreter/product_kernels.h"

namespace ember::vm {
namespace {

// Stores one row of results to the columns of a panel that has fewer columns
// than the kernel.
template <typename T>
__attribute__((noinline)) void StoreRow(T* to, const T* row,
                                        const MicroArguments& t) {
  for (int64_t n = 0; n < t.columns; ++n)
    to[n] = t.accumulate ? to[n] + row[n] : row[n];
}

template <typename T, int kVectors, int kRows>
void Micro(const MicroArguments& t) {
  using Vector = typename VectorOf<T>::Type;
  using Memory = typename VectorOf<T>::InMemory;
  constexpr int kElements = EMBER_VECTOR_BYTES / sizeof(T);
  const T* a = static_cast<const T*>(t.a);
  const T* b = static_cast<const T*>(t.b);
  const int64_t a_stride = t.a_stride, b_stride = t.b_stride;
  Vector sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) sum[m][v] = Vector{};
  }
  const char* next = static_cast<const char*>(t.next);
  for (int64_t k = 0; k < t.depth; ++k) {
    Vector right[kVectors];
#pragma GCC unroll 2
    for (int line = 0; line < kVectors * EMBER_VECTOR_BYTES; line += 64) {
      __builtin_prefetch(next + line, 0, 2);
    }
    next += b_stride * static_cast<int64_t>(sizeof(T));
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      right[v] = *reinterpret_cast<const Memory*>(b + v * kElements);
    }
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
      const T left = a[m * a_stride];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[m][v] += left * right[v];
    }
    a += 1;
    b += b_stride;
  }
  T* c = static_cast<T*>(t.c);
  if (t.columns == kVectors * kElements) {
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        Memory* to =
            reinterpret_cast<Memory*>(c + m * t.c_stride + v * kElements);
        *to = t.accumulate ? *to + sum[m][v] : sum[m][v];
      }
    }
    return;
  }
  // All loops over `sum` are unrolled, so that the accumulators stay in
  // registers.
#pragma GCC unroll 16
  for (int m = 0; m < kRows; ++m) {
    T row[kVectors * kElements];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      *reinterpret_cast<Memory*>(row + v * kElements) = sum[m][v];
    }
    StoreRow(c + m * t.c_stride, row, t);
  }
}

template <typename T, int kVectors, int kRows>
void SetRows(MicroKernels& kernels) {
  kernels.run[kVectors - 1][kRows - 1] = &Micro<T, kVectors, kRows>;
  if constexpr (kRows > 1) SetRows<T, kVectors, kRows - 1>(kernels);
}

template <typename T>
void SetMicroKernels(MicroKernels& kernels) {
  kernels.rows = EMBER_MICRO_ROWS;
  kernels.vector_elements = EMBER_VECTOR_BYTES / sizeof(T);
  SetRows<T, 2, EMBER_MICRO_ROWS>(kernels);
#ifdef __OPTIMIZE_SIZE__
  // In builds for size the kernels for two vectors are also used for one.
  // Panels are always packed for two vectors, so the additional columns can be
  // read.
  for (int m = 0; m < EMBER_MICRO_ROWS; ++m)
    kernels.run[0][m] = kernels.run[1][m];
#else
  SetRows<T, 1, EMBER_MICRO_ROWS>(kernels);
#endif
}

}  // namespace

void EMBER_SET_PRODUCTS(ProductKernels& products);
void EMBER_SET_PRODUCTS(ProductKernels& products) {
  SetMicroKernels<float>(products.micro[0]);
  SetMicroKernels<double>(products.micro[1]);
  SetMicroKernels<uint32_t>(products.micro[2]);
  products.multiply_add[0] = &MultiplyAddKernel<float>;
  products.multiply_add[1] = &MultiplyAddKernel<double>;
  products.multiply_add_rows[0] = &MultiplyAddRowsKernel<float>;
  products.multiply_add_rows[1] = &MultiplyAddRowsKernel<double>;
  products.multiply_add_taps[0] = &MultiplyAddTapsKernel<float>;
#ifndef __OPTIMIZE_SIZE__
  products.multiply_add_taps[1] = &MultiplyAddTapsKernel<double>;
#endif
}

}  // namespace ember::vm

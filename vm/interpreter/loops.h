// Loops over tiles, for the kernel files only. These files are compiled once
// per instruction set, so everything that they use is in an anonymous
// namespace: the linker cannot merge the copies for different instruction sets.
#ifndef EMBER_VM_INTERPRETER_LOOPS_H_
#define EMBER_VM_INTERPRETER_LOOPS_H_

#include <cstdint>
#include <type_traits>

#include "vm/interpreter/kernel_types.h"

// Declares to the compiler that iterations of an elementwise loop are
// independent, which holds even if the destination and an operand are the same
// tile.
#ifdef __clang__
#define EMBER_INDEPENDENT
#else
#define EMBER_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace ember::vm {
// The namespace is anonymous: each build of a kernel file has functions of its
// own, compiled with its own flags.
namespace {  // NOLINT(google-build-namespaces)

template <typename T>
T* Row(const TileOperand& operand, int64_t row) {
  return reinterpret_cast<T*>(operand.data + row * operand.row_stride);
}

// True if the operand can be processed as one row of rows * columns elements.
template <typename T>
bool IsDense(const TileOperand& operand, int64_t columns) {
  return operand.column_stride == 1
             ? operand.row_stride == columns * static_cast<int64_t>(sizeof(T))
             : operand.row_stride == 0;
}

// Makes the function object that a loop applies to each element. An object with
// state is made from the tile's arguments, such as immediate operands.
template <typename Function>
inline Function MakeFunction([[maybe_unused]] const TileArguments& t) {
  if constexpr (std::is_empty_v<Function>)
    return Function{};
  else
    return Function(t);
}

#ifdef __OPTIMIZE_SIZE__

// The types of the innermost loops in builds for size (-Os). Each instruction
// has only such a loop over the elements of a row, which accepts all strides;
// all instructions share the loops over rows. Steps between elements are in
// bytes.
using UnaryRow = void (*)(char* d, intptr_t d_step, const char* a,
                          intptr_t a_step, intptr_t count,
                          const TileArguments& t);
using BinaryRow = void (*)(char* d, intptr_t d_step, const char* a,
                           intptr_t a_step, const char* b, intptr_t b_step,
                           intptr_t count, const TileArguments& t);

template <typename To, typename A, typename Function>
void UnaryRowOf(char* d, intptr_t d_step, const char* a, intptr_t a_step,
                intptr_t count, const TileArguments& t) {
  const Function function = MakeFunction<Function>(t);
  for (; count > 0; --count, d += d_step, a += a_step) {
    *reinterpret_cast<To*>(d) = function(*reinterpret_cast<const A*>(a));
  }
}

template <typename To, typename T, typename Function>
void BinaryRowOf(char* d, intptr_t d_step, const char* a, intptr_t a_step,
                 const char* b, intptr_t b_step, intptr_t count,
                 const TileArguments& t) {
  const Function function = MakeFunction<Function>(t);
  for (; count > 0; --count, d += d_step, a += a_step, b += b_step) {
    *reinterpret_cast<To*>(d) = function(*reinterpret_cast<const T*>(a),
                                         *reinterpret_cast<const T*>(b));
  }
}

[[maybe_unused]] __attribute__((noinline)) void MapRows(const TileArguments& t,
                                                        UnaryRow row,
                                                        intptr_t d_step,
                                                        int a_size) {
  const intptr_t columns = static_cast<intptr_t>(t.columns);
  const intptr_t a_step = static_cast<intptr_t>(t.a.column_stride) * a_size;
  const bool is_transpose = t.rows > 1 && t.a.row_stride == a_size &&
                            t.a.column_stride != 0 && t.a.column_stride != 1;
  if (is_transpose) {
    // If the operand is read transposed, the outer loop runs over the columns,
    // so that its memory is read contiguously. The destination tile, which is
    // then written in steps, is in the cache.
    for (intptr_t i = 0; i < columns; ++i) {
      row(t.destination.data + i * d_step,
          static_cast<intptr_t>(t.destination.row_stride),
          t.a.data + i * a_step, a_size, static_cast<intptr_t>(t.rows), t);
    }
    return;
  }
  for (int64_t r = 0; r < t.rows; ++r) {
    row(Row<char>(t.destination, r), d_step, Row<char>(t.a, r), a_step, columns,
        t);
  }
}

[[maybe_unused]] __attribute__((noinline)) void MapRows(const TileArguments& t,
                                                        BinaryRow row,
                                                        intptr_t d_step,
                                                        int size) {
  const intptr_t a_step = static_cast<intptr_t>(t.a.column_stride) * size;
  const intptr_t b_step = static_cast<intptr_t>(t.b.column_stride) * size;
  for (int64_t r = 0; r < t.rows; ++r) {
    row(Row<char>(t.destination, r), d_step, Row<char>(t.a, r), a_step,
        Row<char>(t.b, r), b_step, static_cast<intptr_t>(t.columns), t);
  }
}

template <typename To, typename A, typename Function>
inline void MapUnary(const TileArguments& t, Function) {
  MapRows(t, &UnaryRowOf<To, A, Function>, sizeof(To), sizeof(A));
}

template <typename To, typename T, typename Function>
inline void MapBinary(const TileArguments& t, Function) {
  MapRows(t, &BinaryRowOf<To, T, Function>, sizeof(To), sizeof(T));
}

#else

template <typename To, typename A, typename Function>
inline void MapUnary(const TileArguments& t, Function function) {
  int64_t rows = t.rows, columns = t.columns;
  if (rows > 1 && IsDense<To>(t.destination, columns) &&
      IsDense<A>(t.a, columns)) {
    columns *= rows;
    rows = 1;
  }
  for (int64_t r = 0; r < rows; ++r) {
    To* d = Row<To>(t.destination, r);
    const A* a = Row<A>(t.a, r);
    if (t.a.column_stride == 0) {
      const To value = function(a[0]);
      for (int64_t i = 0; i < columns; ++i) d[i] = value;
    } else {
      EMBER_INDEPENDENT
      for (int64_t i = 0; i < columns; ++i) d[i] = function(a[i]);
    }
  }
}

template <typename To, typename T, typename Function>
inline void MapBinary(const TileArguments& t, Function function) {
  int64_t rows = t.rows, columns = t.columns;
  if (rows > 1 && IsDense<To>(t.destination, columns) &&
      IsDense<T>(t.a, columns) && IsDense<T>(t.b, columns)) {
    columns *= rows;
    rows = 1;
  }
  for (int64_t r = 0; r < rows; ++r) {
    To* d = Row<To>(t.destination, r);
    const T* a = Row<T>(t.a, r);
    const T* b = Row<T>(t.b, r);
    if (t.a.column_stride != 0 && t.b.column_stride != 0) {
      EMBER_INDEPENDENT
      for (int64_t i = 0; i < columns; ++i) d[i] = function(a[i], b[i]);
    } else if (t.a.column_stride != 0) {
      const T value = b[0];
      EMBER_INDEPENDENT
      for (int64_t i = 0; i < columns; ++i) d[i] = function(a[i], value);
    } else if (t.b.column_stride != 0) {
      const T value = a[0];
      EMBER_INDEPENDENT
      for (int64_t i = 0; i < columns; ++i) d[i] = function(value, b[i]);
    } else {
      const To value = function(a[0], b[0]);
      for (int64_t i = 0; i < columns; ++i) d[i] = value;
    }
  }
}

#endif  // __OPTIMIZE_SIZE__

}  // namespace
}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_LOOPS_H_

// Loops over tiles, for the kernel files only. Those are compiled once per
// instruction set, so all that they use lives in an anonymous namespace: no
// copy can be shared by the linker.
#ifndef EMBER_VM_INTERPRETER_LOOPS_H_
#define EMBER_VM_INTERPRETER_LOOPS_H_

#include <cstdint>
#include <type_traits>

#include "vm/interpreter/kernel_types.h"

// Elementwise loops never carry a dependency, also when destination and operand
// are one tile.
#ifdef __clang__
#define EMBER_INDEPENDENT
#else
#define EMBER_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace ember::vm {
namespace {

template <typename T>
T* Row(const TileOperand& operand, int64_t row) {
  return reinterpret_cast<T*>(operand.data + row * operand.row_stride);
}

// True if the operand can be walked as one row of rows * columns elements.
template <typename T>
bool IsDense(const TileOperand& operand, int64_t columns) {
  return operand.column_stride == 1
             ? operand.row_stride == columns * static_cast<int64_t>(sizeof(T))
             : operand.row_stride == 0;
}

#ifdef __OPTIMIZE_SIZE__

// One loop for all kinds of operands.
template <typename To, typename A, typename Function>
inline void MapUnary(const TileArguments& t, Function function) {
  for (int64_t r = 0; r < t.rows; ++r) {
    To* d = Row<To>(t.destination, r);
    const A* a = Row<A>(t.a, r);
    const intptr_t step = static_cast<intptr_t>(t.a.column_stride);
    for (To* end = d + t.columns; d < end; ++d, a += step) *d = function(*a);
  }
}

template <typename To, typename T, typename Function>
inline void MapBinary(const TileArguments& t, Function function) {
  for (int64_t r = 0; r < t.rows; ++r) {
    To* d = Row<To>(t.destination, r);
    const T* a = Row<T>(t.a, r);
    const T* b = Row<T>(t.b, r);
    const intptr_t a_step = static_cast<intptr_t>(t.a.column_stride);
    const intptr_t b_step = static_cast<intptr_t>(t.b.column_stride);
    for (To* end = d + t.columns; d < end; ++d, a += a_step, b += b_step)
      *d = function(*a, *b);
  }
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

// Finds the range in which an affine index stays inside an extent.
//
//   int64_t begin = 0, end = 10;
//   ClipRange(-2, 1, 5, begin, end);   // [2, 7)
#ifndef EMBER_VM_INTERPRETER_CLIP_RANGE_H_
#define EMBER_VM_INTERPRETER_CLIP_RANGE_H_

#include <algorithm>
#include <cstdint>

namespace ember::vm {

// Returns a / b, rounded down. b must be positive.
inline int64_t DivideDown(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return quotient - (a % b < 0);
}

// Narrows [begin, end) to the values i with 0 <= base + i * step < extent.
inline void ClipRange(int64_t base, int64_t step, int64_t extent,
                      int64_t& begin, int64_t& end) {
  if (step == 0) {
    if (base < 0 || base >= extent) end = begin;
    return;
  }
  if (step == 1) {
    begin = std::max(begin, -base);
    end = std::min(end, extent - base);
  } else if (step > 0) {
    // the smallest i with base + i * step >= 0 is ceil(-base / step)
    begin = std::max(begin, -DivideDown(base, step));
    end = std::min(end, DivideDown(extent - 1 - base, step) + 1);
  } else {
    begin = std::max(begin, -DivideDown(extent - 1 - base, -step));
    end = std::min(end, DivideDown(base, -step) + 1);
  }
  if (end < begin) end = begin;
}

// The rows and the columns of a tile whose accesses are inside of the buffer.
struct ClipWindow {
  int64_t row_begin, row_end, column_begin, column_end;

  int64_t rows() const { return row_end - row_begin; }
  int64_t columns() const { return column_end - column_begin; }
  bool empty() const { return rows() <= 0 || columns() <= 0; }
  // Removes from the window the rows or columns for which an index is outside
  // of its extent. The index may change with the rows or with the columns of
  // the tile, but not with both.
  void Clip(int64_t base, int64_t row_step, int64_t column_step,
            int64_t extent) {
    if (row_step != 0) {
      ClipRange(base, row_step, extent, row_begin, row_end);
    } else {
      ClipRange(base, column_step, extent, column_begin, column_end);
    }
  }
};

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_CLIP_RANGE_H_

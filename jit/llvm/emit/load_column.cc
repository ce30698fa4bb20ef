#include "jit/llvm/emit/load_column.h"

#include <algorithm>
#include <vector>

namespace ember::jit::llvm_ir {

using llvm::Value;

namespace {

constexpr int kChunkBytes = 16;

Value* Concatenate(Builder& b, Value* first, Value* second, int size) {
  std::vector<int> places;
  for (int i = 0; i < 2 * size; ++i) places.push_back(i);
  return b.CreateShuffleVector(first, second, places);
}

class Column {
 public:
  Column(Builder& b, int rows, int chunk,
         const std::function<Value*(int)>& load_row)
      : b_(b), rows_(rows), chunk_(chunk), load_row_(load_row) {}

  // Returns `count` rows, each of `chunk_` elements, one after the other in a
  // vector: row first, row first + step, ...
  Value* Chunks(int first, int step, int count) {
    if (count == 1) return load_row_(first);
    const int half = count / 2;
    return Concatenate(b_, Chunks(first, step, half),
                       Chunks(first + half * step, step, half), half * chunk_);
  }

  // Divides the rows into groups of `chunk_`, and each row into `count` blocks
  // of neighbouring columns. For each group, takes the rows `first` + i *
  // stride for i < count, and returns the elements of their block number
  // `column`, interleaved. With count = chunk_ a block is a single column.
  Value* Of(int first, int stride, int count, int column) {
    if (count == 1) return Chunks(first, chunk_, rows_ / chunk_);
    // `even` and `odd` have the blocks of the rows with even i and with odd i.
    // Those blocks are twice as wide, so one half of each is needed.
    Value* const even = Of(first, 2 * stride, count / 2, column / 2);
    Value* const odd = Of(first + stride, 2 * stride, count / 2, column / 2);
    return Interleave(even, odd, column % 2 != 0);
  }

 private:
  // Interleaves the first halves of a's and b's chunks, or the last halves if
  // `last`.
  Value* Interleave(Value* a, Value* b, bool last) {
    std::vector<int> places;
    for (int part = 0; part < rows_; part += chunk_) {
      for (int i = 0; i < chunk_ / 2; ++i) {
        const int from = part + i + (last ? chunk_ / 2 : 0);
        places.push_back(from);
        places.push_back(from + rows_);
      }
    }
    return b_.CreateShuffleVector(a, b, places);
  }

  Builder& b_;
  int rows_;
  int chunk_;
  const std::function<Value*(int)>& load_row_;
};

}  // namespace

int ColumnChunk(int element_bytes, int rows) {
  return std::min(kChunkBytes / element_bytes, rows);
}

Value* LoadColumn(Builder& b, int rows, int chunk, int column,
                  const std::function<Value*(int)>& load_row) {
  return Column(b, rows, chunk, load_row).Of(0, 1, chunk, column);
}

}  // namespace ember::jit::llvm_ir

// One column of short rows, as a vector: the rows' loads and the shuffles that
// bring the elements to their places, in a form whose parts are the same for
// neighbouring columns, so that LLVM keeps one of each. All columns of a tile
// take as many instructions as a transposition of it in registers:
//
//   rows a, b, c, d       column 1
//   a0 a1 a2 a3           a0 c0 a1 c1   first halves of a and c, in turns
//   b0 b1 b2 b3           b0 d0 b1 d1   first halves of b and d
//   c0 c1 c2 c3           a1 b1 c1 d1   last halves of these
//   d0 d1 d2 d3
#ifndef EMBER_JIT_LLVM_LOAD_COLUMN_H_
#define EMBER_JIT_LLVM_LOAD_COLUMN_H_

#include <functional>

#include "jit/llvm/ir.h"

namespace ember::jit {

// As many neighbours of a row as are loaded together: what 16 bytes hold, as
// shuffles within that many are the cheapest, but not more than there are rows.
int ColumnChunk(int element_bytes, int rows);

// A vector of `rows` elements. chunk: ColumnChunk; rows is a power of two.
// load_row(i): `chunk` neighbours of row i, of which `column` is wanted.
llvm::Value* LoadColumn(Builder& b, int rows, int chunk, int column,
                        const std::function<llvm::Value*(int)>& load_row);

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_LOAD_COLUMN_H_

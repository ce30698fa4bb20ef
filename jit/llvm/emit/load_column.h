// Loads one column of short rows as a vector. The code loads the rows and
// shuffles the elements to their lanes. Neighbouring columns share most of the
// shuffles, so LLVM keeps one of each. All columns of a tile together take as
// many instructions as transposing it in registers:
//
//   rows a, b, c, d       column 1
//   a0 a1 a2 a3           a0 c0 a1 c1   first halves of a and c, alternating
//   b0 b1 b2 b3           b0 d0 b1 d1   first halves of b and d
//   c0 c1 c2 c3           a1 b1 c1 d1   last halves of these
//   d0 d1 d2 d3
#ifndef EMBER_JIT_LLVM_EMIT_LOAD_COLUMN_H_
#define EMBER_JIT_LLVM_EMIT_LOAD_COLUMN_H_

#include <functional>

#include "jit/llvm/emit/ir.h"

namespace ember::jit::llvm_ir {

// Returns how many neighbouring elements of a row are loaded together (a
// chunk): those in 16 bytes, within which shuffles are cheapest, but not more
// than there are rows.
int ColumnChunk(int element_bytes, int rows);

// Returns column `column` of `rows` rows as a vector. `rows` is a power of two.
// `chunk` is the result of ColumnChunk. load_row(i) returns `chunk`
// neighbouring elements of row i, one of which is the element of the column.
llvm::Value* LoadColumn(Builder& b, int rows, int chunk, int column,
                        const std::function<llvm::Value*(int)>& load_row);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_LOAD_COLUMN_H_

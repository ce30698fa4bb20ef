// Whether the stages of a dispatch, together, store to every element of a
// buffer before anything reads it, as the parts of a concatenation do:
//
//   for (i < 2, j < 256) %y[i, j] = %a[i, j]
//   for (i < 2, j < 8) %y[i, j + 256] = %b[i, j]     // all of y: f32[2, 264]
//
// What a buffer held before is then never seen, so nobody has to clear it.
// Conservative: parts that are no boxes (strided, reversed, split axes), that
// overlap, or that are more than some tens are not seen as the whole. A pure
// function, thread-safe.
#ifndef EMBER_VM_INTERPRETER_STORED_PARTS_H_
#define EMBER_VM_INTERPRETER_STORED_PARTS_H_

#include <span>

#include "vm/interpreter/stage_analysis.h"

namespace ember::vm {

// All stages of the dispatch, in their order, which is that of their effects. A
// buffer that no stage stores to is whole.
bool StoreAllOf(std::span<const StageAnalysis* const> stages, int buffer);

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_STORED_PARTS_H_

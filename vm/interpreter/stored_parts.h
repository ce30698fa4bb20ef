// Checks if the stages of a dispatch, together, store to every element of a
// buffer before any stage reads it, as the parts of a concatenation do:
//
//   for (i < 2, j < 256) %y[i, j] = %a[i, j]
//   for (i < 2, j < 8) %y[i, j + 256] = %b[i, j]     // all of y: f32[2, 264]
//
// Then no stage can read what the buffer contained before the dispatch, so the
// caller need not clear it. The answer is conservative: it is false for parts
// that are not boxes of contiguous elements (strided, reversed), for parts that
// overlap, and for more than 64 parts. The function is pure and thread-safe.
#ifndef EMBER_VM_INTERPRETER_STORED_PARTS_H_
#define EMBER_VM_INTERPRETER_STORED_PARTS_H_

#include <span>

#include "vm/interpreter/stage_analysis.h"

namespace ember::vm {

// True if the stages store to every element of the buffer before any stage
// reads it. `stages` are all stages of the dispatch, in the order in which they
// run. It is also true for a buffer that no stage uses.
bool StoresCoverBuffer(std::span<const StageAnalysis* const> stages,
                       int buffer);

// Returns for each buffer the stages that read it or store to it, in order. A
// file may have thousands of stages and buffers, so checks of a buffer visit
// only these.
std::vector<std::vector<const StageAnalysis*>> StagesByBuffer(
    std::span<const StageAnalysis* const> stages, size_t buffer_count);

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_STORED_PARTS_H_

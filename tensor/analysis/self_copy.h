// Finds stages that copy elements of an input to the same positions of an
// output. If both buffers are the same memory, such a stage has nothing to do.
//
//   dispatch @write_row<n, p>(%state: f32[n, 64], %row: f32[1, 64]) -> (%next: f32[n, 64]) {
//     for (i < p, j < 64) %next[i, j] = %state[i, j]           // a self-copy
//     for (i < 1, j < 64) %next[i + p, j] = %row[i, j]
//     for (i < n - p - 1, j < 64) %next[i + p + 1, j] = %state[i + p + 1, j]
//   }
//
// Dispatches that update a model's state, such as the keys of a decoder, have
// this form: if the update is in place, only the new row is written. The
// dispatch must be verified. Thread-safe.
#ifndef EMBER_TENSOR_ANALYSIS_SELF_COPY_H_
#define EMBER_TENSOR_ANALYSIS_SELF_COPY_H_

#include <cstdint>
#include <span>

#include "tensor/dispatch.h"

namespace ember::tensor {

// True if the stage does nothing else than copy elements of `input` to the same
// positions of `output`. Both are numbers of buffers. Returns false if this
// cannot be proved.
bool IsSelfCopy(const Dispatch& dispatch, const Stage& stage, uint32_t input,
                uint32_t output);

// True if the stages together assign to each element of the buffer exactly
// once, for all values of the parameters. This is proved if in one dim their
// ranges follow each other without gaps, and each stage covers all other dims.
// Returns false if this cannot be proved.
bool StorePartition(const Dispatch& dispatch,
                    std::span<const Stage* const> stages, uint32_t buffer);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_ANALYSIS_SELF_COPY_H_

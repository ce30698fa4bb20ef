// The part of tensor::Verify that checks a dispatch without regard to what its
// instructions mean: limits on counts, names, the ranges of header and stages,
// the order and types of buffers. In a dispatch that it accepts, every range
// and buffer number lies within the list that it refers to.
#ifndef EMBER_TENSOR_VERIFIER_STRUCTURE_H_
#define EMBER_TENSOR_VERIFIER_STRUCTURE_H_

#include "base/status.h"
#include "tensor/dispatch.h"

namespace ember::tensor {

// Checks the structure. Errors are one line without the dispatch's name, which
// Verify adds.
Status CheckStructure(const Dispatch& dispatch);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_VERIFIER_STRUCTURE_H_

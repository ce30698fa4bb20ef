// The part of tensor::Verify that looks at a dispatch without its instructions'
// meaning: limits on counts, names, the ranges of header and stages, the order
// and types of buffers. What it accepts can be walked without leaving any list.
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

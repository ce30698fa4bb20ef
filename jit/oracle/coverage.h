// Finds out if a dispatch stores every element of a buffer.
//
//   if (StoresEveryElement(dispatch, header, output)) ...
#ifndef EMBER_JIT_ORACLE_COVERAGE_H_
#define EMBER_JIT_ORACLE_COVERAGE_H_

#include <cstdint>

#include "tensor/analysis/index_algebra.h"
#include "tensor/dispatch.h"

namespace ember::jit {

// True if it can be shown that the stores write every element of the buffer.
// This is the case if the indices of its assignments are constants or axes with
// offsets, and the assignments together partition the buffer into a small
// number of boxes.
bool StoresEveryElement(const tensor::Dispatch& dispatch,
                        const tensor::ConcreteHeader& header, uint32_t buffer);

}  // namespace ember::jit

#endif  // EMBER_JIT_ORACLE_COVERAGE_H_

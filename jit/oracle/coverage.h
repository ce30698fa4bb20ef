// Whether a dispatch stores every element of a buffer.
//
//   if (StoresEveryElement(dispatch, header, output)) ...
#ifndef EMBER_JIT_ORACLE_COVERAGE_H_
#define EMBER_JIT_ORACLE_COVERAGE_H_

#include <cstdint>

#include "tensor/dispatch.h"
#include "tensor/index_algebra.h"

namespace ember::jit {

// False where it is not seen: stores are seen whose indices are axes, with
// offsets, and that together are a partition of the buffer into boxes, not too
// many of them.
bool StoresEveryElement(const tensor::Dispatch& dispatch,
                        const tensor::ConcreteHeader& header, uint32_t buffer);

}  // namespace ember::jit

#endif  // EMBER_JIT_ORACLE_COVERAGE_H_

// Makes random dispatches that verify but that no frontend would produce: huge
// coefficients and constants in index arithmetic, extents up to 2^40 where
// other extents are 0, header arithmetic that overflows, long chains and wide
// trees of instructions, indices out of bounds. An executor must compute the
// result that the definition (tensor/evaluator/evaluator.h) gives, or refuse
// the dispatch with a message.
//
//   HostileCase c = MakeHostileCase(seed);
//   if (c.is_evaluable) ... Evaluate, another executor, FirstDifference
//   else                ... neither may accept it, nor crash
//
// Equal seeds give equal cases. A case has few points and needs little memory,
// so that it is evaluated quickly.
#ifndef EMBER_TENSOR_TESTING_HOSTILE_DISPATCH_H_
#define EMBER_TENSOR_TESTING_HOSTILE_DISPATCH_H_

#include <cstdint>

#include "tensor/testing/random_dispatch.h"

namespace ember::tensor {

struct HostileCase {
  RandomCase random;  // The case, in the form that FirstDifference and
                      // MakeBuffers take.
  // True if the header can be evaluated. If not, the extents are unknown and
  // there are no buffers.
  bool is_evaluable = false;
};

HostileCase MakeHostileCase(uint64_t seed);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TESTING_HOSTILE_DISPATCH_H_

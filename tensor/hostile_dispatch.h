// Random dispatches that pass verification and that nobody would write: huge
// coefficients and constants in index arithmetic, extents up to 2^40 where
// other extents are 0, header arithmetic that overflows, long chains and wide
// trees of instructions, indices out of bounds. What executors then do, they
// must do as the definition says, or refuse it with a message.
//
//   HostileCase c = MakeHostileCase(seed);
//   if (c.is_evaluable) ... Evaluate, another executor, FirstDifference
//   else                ... neither may accept it, nor crash
//
// Equal seeds give equal cases. Few points and few bytes are evaluated.
#ifndef EMBER_TENSOR_HOSTILE_DISPATCH_H_
#define EMBER_TENSOR_HOSTILE_DISPATCH_H_

#include <cstdint>

#include "tensor/random_dispatch.h"

namespace ember::tensor {

struct HostileCase {
  RandomCase random;  // for FirstDifference and MakeBuffers
  // Whether the header can be evaluated, so that there are buffers.
  bool is_evaluable = false;
};

HostileCase MakeHostileCase(uint64_t seed);

// EMBER_SEED, or one that no run before has had.
uint64_t FreshSeed();

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_HOSTILE_DISPATCH_H_

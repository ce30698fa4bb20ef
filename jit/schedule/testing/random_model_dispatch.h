// Generates random dispatches of the forms that models consist of, without
// indices from data, so that most primitives are legal: products with an
// epilogue, convolutions with padding, rows of softmax and normalisation,
// reductions, folds, broadcasting, chains that may run in place, transposes,
// regions, grouped stores. Extents are constants, or parameters, multiples and
// products of parameters.
//
//   tensor::RandomCase random = MakeRandomModelDispatch(seed);
//
// Equal seeds give equal dispatches. Sums are exact in every order
// (tensor/testing/random_values.h).
#ifndef EMBER_JIT_SCHEDULE_TESTING_RANDOM_MODEL_DISPATCH_H_
#define EMBER_JIT_SCHEDULE_TESTING_RANDOM_MODEL_DISPATCH_H_

#include <cstdint>

#include "tensor/testing/random_dispatch.h"

namespace ember::schedule {

tensor::RandomCase MakeRandomModelDispatch(uint64_t seed);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_TESTING_RANDOM_MODEL_DISPATCH_H_

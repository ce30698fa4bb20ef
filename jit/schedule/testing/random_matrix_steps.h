// The steps that make a product of matrices (multiply_matrices), for random
// schedules. Internal to jit/schedule/testing/random_schedule.h.
#ifndef EMBER_JIT_SCHEDULE_TESTING_RANDOM_MATRIX_STEPS_H_
#define EMBER_JIT_SCHEDULE_TESTING_RANDOM_MATRIX_STEPS_H_

#include <vector>

#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/steps.h"
#include "tensor/testing/random_values.h"

namespace ember::schedule {

// Returns the steps that multiply matrices in a stage %acc[.., i, j] = sum(..,
// k) of products of bytes or f16; none if there is no such stage. Tiles are in
// memory of the task or in the result's memory, and the matrices of factors are
// copied to memory of the task or read in place. next_name: new names are r0,
// r1 and so on, from this number on.
std::vector<Step> PlanRandomMatrices(const Computation& computation,
                                     tensor::RandomChoices& choices,
                                     int& next_name);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_TESTING_RANDOM_MATRIX_STEPS_H_

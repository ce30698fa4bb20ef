// The steps that make a product of matrices (multiply_matrices), for random
// schedules. Internal to jit/schedule/testing/random_schedule.h.
#ifndef EMBER_JIT_SCHEDULE_TESTING_RANDOM_MATRIX_STEPS_H_
#define EMBER_JIT_SCHEDULE_TESTING_RANDOM_MATRIX_STEPS_H_

#include <vector>

#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/steps.h"
#include "tensor/testing/random_values.h"

namespace ember::schedule {

// Returns steps that make a stage %acc[.., i, j] = sum(.., k) of products of
// bytes or f16 multiply matrices; no steps if there is no such stage. At
// random, results are stored to memory of the task or directly, and factors are
// copied to memory of the task or read in place. next_name: new names are r0,
// r1 and so on, from this number on.
std::vector<Step> PlanRandomMatrices(const Computation& computation,
                                     tensor::RandomChoices& choices,
                                     int& next_name);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_TESTING_RANDOM_MATRIX_STEPS_H_

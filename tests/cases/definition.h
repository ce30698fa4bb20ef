// Computes the definition of a case's subject. All executors are compared with
// it, and expectations are written from it. Thread-safe.
#ifndef EMBER_TESTS_CASES_DEFINITION_H_
#define EMBER_TESTS_CASES_DEFINITION_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "tests/cases/elements.h"
#include "tests/cases/subject.h"

namespace ember::cases {

// Computes the results of a subject by the evaluator of dispatches or that of
// loop nests.
Status RunDefinition(const Subject& subject,
                     const std::vector<int64_t>& parameters,
                     std::vector<Bytes>& buffers);

// Checks that a nest has no data race. Returns kInternal with the reason if a
// task, an invocation or a lane accesses memory to which another one stores, so
// that the result depends on their order.
Status CheckRaces(const Subject& subject,
                  const std::vector<int64_t>& parameters,
                  std::vector<Bytes> buffers);

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_DEFINITION_H_

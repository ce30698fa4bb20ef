// The definition of what a case computes: what all executors are compared with,
// and what expectations are written from. Thread-safe.
#ifndef EMBER_TESTS_CASES_DEFINITION_H_
#define EMBER_TESTS_CASES_DEFINITION_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "tests/cases/elements.h"
#include "tests/cases/subject.h"

namespace ember::cases {

// The evaluator of dispatches, or that of nests.
Status RunDefinition(const Subject& subject,
                     const std::vector<int64_t>& parameters,
                     std::vector<Bytes>& buffers);

// kInternal, with the reason, where tasks, invocations or lanes of a nest touch
// what others store, so that their order counts.
Status CheckRaces(const Subject& subject,
                  const std::vector<int64_t>& parameters,
                  std::vector<Bytes> buffers);

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_DEFINITION_H_

// Shared by the tests of failing allocations: the number of points that they
// try, and the reports of findings. Needs GoogleTest.
#ifndef EMBER_TESTS_FAULTS_EXPECT_FAULTS_H_
#define EMBER_TESTS_FAULTS_EXPECT_FAULTS_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "gtest/gtest.h"
#include "tests/faults/fault_points.h"

namespace ember::tests {

// Returns 1 with EMBER_EVERY=1, so that all points are tried, else `usual`.
inline int64_t Every(int64_t usual) {
  const char* const text = std::getenv("EMBER_EVERY");
  return text == nullptr ? usual : std::atoll(text);
}

inline void ExpectNoFindings(const char* what, const FaultCounts& counts) {
  std::printf("%s: %s\n", what, counts.Text().c_str());
  for (const Finding& finding : counts.others.findings) {
    ADD_FAILURE() << "allocation " << finding.number << ": "
                  << OutcomeName(finding.outcome) << ": " << finding.how;
  }
}

}  // namespace ember::tests

#endif  // EMBER_TESTS_FAULTS_EXPECT_FAULTS_H_

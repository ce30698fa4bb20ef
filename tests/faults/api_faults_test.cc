// Makes each allocation fail once in the calls of a program that uses the C
// API. EMBER_EVERY=1 tries all small ones where the test tries every n-th. With
// --config=asan memory leaks are failures, too (fault_points.h).
#include "gtest/gtest.h"
#include "tests/faults/allocations.h"
#include "tests/faults/api_scenarios.h"
#include "tests/faults/expect_faults.h"
#include "tests/faults/fault_points.h"

namespace ember::tests {
namespace {

class ApiFaultsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { PrepareApiScenarios(); }
};

TEST_F(ApiFaultsTest, DataBecomesAStatus) {
  for (const bool stays : {false, true}) {
    const FaultCounts counts = FailAllocations(
        {.stays = stays, .least_bytes = kDataBytes}, NewWholeApiScenario);
    ExpectNoFindings(stays ? "data, and all behind it" : "data", counts);
    EXPECT_GT(counts.status, 0);
    EXPECT_EQ(counts.ended, 0);
  }
}

TEST_F(ApiFaultsTest, SmallOnesHarmNobodyElse) {
  const FaultCounts counts =
      FailAllocations({.every = Every(5)}, NewWholeApiScenario);
  ExpectNoFindings("all sizes", counts);
  EXPECT_GT(counts.points, 0);
}

}  // namespace
}  // namespace ember::tests

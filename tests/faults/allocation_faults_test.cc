// Makes each allocation fail once while loading, planning, running and
// compiling kernels. EMBER_EVERY=1 tries all allocations where a test tries
// every n-th.
#include <string>

#include "gtest/gtest.h"
#include "tests/faults/allocations.h"
#include "tests/faults/expect_faults.h"
#include "tests/faults/fault_points.h"
#include "tests/faults/tensor_scenarios.h"

namespace ember::tests {
namespace {

using NewScenario = std::unique_ptr<Scenario> (*)();

struct Part {
  const char* name;
  NewScenario new_scenario;
  // Only every n-th small allocation is made to fail, for this n.
  int64_t every;
};

void PrintTo(const Part& part, std::ostream* out) { *out << part.name; }

class AllocationFaultsTest : public testing::TestWithParam<Part> {
 protected:
  static void SetUpTestSuite() { PrepareTensorScenarios(); }
};

TEST_P(AllocationFaultsTest, DataBecomesAStatus) {
  for (const bool stays : {false, true}) {
    const FaultCounts counts = FailAllocations({.stays = stays,
                                                .least_bytes = kDataBytes,
                                                .spared_library = "libLLVM"},
                                               GetParam().new_scenario);
    ExpectNoFindings(stays ? "data, and all behind it" : "data", counts);
    EXPECT_GT(counts.status, 0);
    EXPECT_EQ(counts.ended, 0);
  }
}

TEST_P(AllocationFaultsTest, SmallOnesHarmNobodyElse) {
  const FaultCounts counts = FailAllocations({.every = Every(GetParam().every)},
                                             GetParam().new_scenario);
  ExpectNoFindings("all sizes", counts);
  EXPECT_GT(counts.points, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Parts, AllocationFaultsTest,
    testing::Values(Part{"load", NewLoadScenario, 1},
                    Part{"first_run", NewFirstRunScenario, 1},
                    Part{"other_shapes", NewOtherShapesScenario, 1},
                    Part{"kernels", NewKernelScenario, 997},
                    Part{"api", NewApiScenario, 3}),
    [](const auto& info) { return std::string(info.param.name); });

// Two scenarios with bugs that the harness must report: after a failed
// allocation, Broken has wrong results when it is tried again; Ending ends the
// process although the allocation was as large as tensor data.
class Broken final : public Scenario {
 public:
  Status Run() override {
    void* const memory = std::malloc(kDataBytes);
    failed_ = memory == nullptr;
    std::free(memory);
    return failed_ ? ResourceExhaustedError("no memory") : OkStatus();
  }
  Status RunAgain() override {
    return failed_ ? InternalError("wrong results") : OkStatus();
  }

 private:
  bool failed_ = false;
};

class Ending final : public Scenario {
 public:
  Status Run() override {
    ::operator delete(::operator new(kDataBytes));
    return OkStatus();
  }
  Status RunAgain() override { return OkStatus(); }
};

TEST(Harness, NoticesWhatIsBrokenAfterwards) {
  const FaultCounts counts = FailAllocations(
      {.least_bytes = kDataBytes}, [] { return std::make_unique<Broken>(); });
  EXPECT_EQ(counts.points, 1);
  EXPECT_EQ(counts.failures(), 1);
}

TEST(Harness, NoticesDataThatEndsTheProcess) {
  const FaultCounts counts = FailAllocations(
      {.least_bytes = kDataBytes}, [] { return std::make_unique<Ending>(); });
  EXPECT_EQ(counts.points, 1);
  EXPECT_EQ(counts.failures(), 1);
}

}  // namespace
}  // namespace ember::tests

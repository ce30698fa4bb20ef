// Tests the smallest runtime (vm/embedded/run_smallest): without kernels its
// results are correct, and with a module's kernels it runs them for all
// dispatches. Errors name the functions that it lacks.
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "hal/cpu/serial_device.h"
#include "tests/native/inputs.h"
#include "vm/interpreter/pointwise_plan.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/runtime/dispatch/native_kernels.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tensor.h"

namespace ember::vm {
namespace {

// Returns the value of a StatusOr; an error fails the test and ends its
// program.
template <typename T>
T Unwrap(StatusOr<T> result) {
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return *std::move(result);
}

SessionOptions Smallest() {
  return SessionOptions{.device = Unwrap(hal::CreateSerialDevice({})),
                        .interpreter = &PointwiseInterpreter(),
                        .library = nullptr};
}

std::vector<Tensor> RunOnce(Session& session) {
  const std::vector<Tensor> inputs =
      Unwrap(InputsOf(session.module(), "", /*run=*/0));
  std::vector<Tensor> results;
  const Status status = session.Run(inputs, &results);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return results;
}

void ExpectClose(const std::vector<Tensor>& want,
                 const std::vector<Tensor>& got) {
  ASSERT_EQ(want.size(), got.size());
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(want[i].dims, got[i].dims);
    ASSERT_EQ(want[i].type, DType::kF32);
    const auto expected = want[i].elements<float>();
    const auto found = got[i].elements<float>();
    ASSERT_FALSE(expected.empty());
    for (size_t e = 0; e < expected.size(); ++e)
      ASSERT_NEAR(expected[e], found[e], 2e-5) << "result " << i << ", " << e;
  }
}

class SmallestTest : public testing::Test {
 protected:
  void SetUp() override {
    module_ = Unwrap(Module::Load(std::getenv("EMBER_TEST_MODEL")));
    SessionOptions options;
    options.device = Unwrap(hal::CreateCpuDevice({.threads = 1}));
    want_ = RunOnce(*Unwrap(Session::Create(module_, std::move(options))));
  }

  std::shared_ptr<const Module> module_;
  std::vector<Tensor> want_;
};

TEST_F(SmallestTest, IsRightWithoutKernels) {
  const auto session = Unwrap(Session::Create(module_, Smallest()));
  ExpectClose(want_, RunOnce(*session));
  for (const SiteProfile& site : session->Profile()) {
    EXPECT_EQ(site.tier_calls[0], site.calls);
    EXPECT_EQ(site.plan, "point by point");
  }
}

TEST_F(SmallestTest, RunsTheKernelsOfTheModule) {
  SessionOptions options = Smallest();
  options.tiering =
      std::make_shared<Tiering>(module_, nullptr, Tiering::Options{});
  const NativeReport report = InstallNativeKernels(*options.tiering);
  ASSERT_EQ(report.dispatches, report.all_dispatches) << report.Text();
  const auto session = Unwrap(Session::Create(module_, std::move(options)));
  ExpectClose(want_, RunOnce(*session));
  ASSERT_FALSE(session->Profile().empty());
  for (const SiteProfile& site : session->Profile()) {
    EXPECT_EQ(site.calls, 1);
    EXPECT_EQ(site.tier_calls[2], 1) << site.dispatch;
  }
}

TEST(SmallestLibraryTest, FunctionsThatAreLeftOutAreNamed) {
  const auto module = Unwrap(Module::FromDefinition(SampleNamed("shapes")));
  const auto session = Unwrap(Session::Create(module, Smallest()));
  const std::vector<Tensor> inputs = Unwrap(InputsOf(*module, "", /*run=*/0));
  std::vector<Tensor> results;
  const Status status = session->Run(inputs, &results);
  EXPECT_NE(status.ToString().find(
                "expected a runtime with library functions for non_zero, found "
                "one without"),
            std::string::npos)
      << status.ToString();
}

}  // namespace
}  // namespace ember::vm

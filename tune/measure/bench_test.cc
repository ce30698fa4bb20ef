// Tests that a bench measures kernels with right results and reports kernels
// with wrong results as kWrong.
#include "tune/measure/bench.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hal/cpu/target.h"
#include "tensor/text/text.h"
#include "tune/measure/llvm_kernels.h"
#include "tune/space/space.h"
#include "tune/task/task.h"

namespace ember::tune {
namespace {

// A wrong kernel for the tests: it runs the given kernel and then changes one
// element of the result.
class WrongKernel final : public vm::HostKernel {
 public:
  WrongKernel(std::unique_ptr<vm::Kernel> kernel, size_t element)
      : kernel_(std::move(kernel)), element_(element) {}
  int tier() const override { return kernel_->tier(); }
  bool Accepts(std::span<const int64_t> parameters) const override {
    return kernel_->Accepts(parameters);
  }
  std::string Describe() const override { return "wrong"; }
  Status Run(const vm::KernelCall& call) const override {
    EMBER_RETURN_IF_ERROR(vm::RunOnHost(*kernel_, call));
    static_cast<float*>(call.buffers.back())[element_] += 0.25f;
    return OkStatus();
  }

 private:
  const std::unique_ptr<vm::Kernel> kernel_;
  const size_t element_;
};

class BenchTest : public ::testing::Test {
 protected:
  BenchTest() {
    auto parsed = tensor::Parse(R"(
        dispatch @gemm(%a: f32[16, 24], %b: f32[24, 32], %c: f32[32]) -> (%y: f32[16, 32]) {
          temp %acc: f32[16, 32]
          %acc[i, j] = sum(k < 24) %a[i, k] * %b[k, j]
          %y[i, j] = max(%acc[i, j] + %c[j], -100.0)
        })");
    EXPECT_TRUE(parsed.ok());
    dispatch_ = *std::move(parsed);
    vm::KernelRequest request;
    request.dispatch = &dispatch_;
    request.target = hal::HostTarget();
    tasks_.push_back(MakeTask(request));
  }

  tensor::Dispatch dispatch_;
  std::vector<Task> tasks_;
};

TEST_F(BenchTest, MeasuresCandidates) {
  Bench bench(tasks_, MakeLlvmKernels(), {.most_rounds = 3});
  const TrialResult same = bench.Run({});
  EXPECT_EQ(same.outcome, Outcome::kMeasured) << same.reason;
  EXPECT_GT(same.seconds, 0);
  const auto space = Space::Make(tasks_[0], {});
  ASSERT_TRUE(space.ok()) << space.status().ToString();
  Random random(1);
  int measured = 0;
  for (int i = 0; i < 5; ++i) {
    const std::optional<Candidate> sample = space->Sample(random);
    if (!sample) continue;
    const TrialResult result =
        bench.Run({.schedule = TextOf(sample->point), .best = 100});
    EXPECT_NE(result.outcome, Outcome::kWrong) << result.reason << "\n"
                                               << TextOf(sample->point);
    measured += result.outcome == Outcome::kMeasured;
  }
  EXPECT_GT(measured, 2);
}

TEST_F(BenchTest, RefusesWithTheReason) {
  Bench bench(tasks_, MakeLlvmKernels(), {});
  const TrialResult result = bench.Run({.schedule = "vectorize %none i"});
  EXPECT_EQ(result.outcome, Outcome::kRefused);
  EXPECT_NE(result.reason.find("vectorize %none i"), std::string::npos)
      << result.reason;
}

TEST_F(BenchTest, FindsEveryWrongKernel) {
  const MakeKernel make = MakeLlvmKernels();
  size_t element = 0;
  Bench bench(tasks_,
              [&](const vm::KernelRequest& request, const std::string& schedule)
                  -> StatusOr<std::unique_ptr<vm::Kernel>> {
                EMBER_ASSIGN_OR_RETURN(std::unique_ptr<vm::Kernel> kernel,
                                       make(request, ""));
                if (schedule.empty()) return kernel;
                return std::unique_ptr<vm::Kernel>(
                    std::make_unique<WrongKernel>(std::move(kernel), element));
              },
              {.most_rounds = 3});
  for (int i = 0; i < 50; ++i) {
    element = static_cast<size_t>(i * 10 + i % 7);
    const TrialResult result = bench.Run({.schedule = "wrong"});
    EXPECT_EQ(result.outcome, Outcome::kWrong) << element;
    EXPECT_NE(result.reason.find("%y0["), std::string::npos) << result.reason;
  }
}

}  // namespace
}  // namespace ember::tune

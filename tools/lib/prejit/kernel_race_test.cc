// Tests LapLost, which decides if a kernel is slower than tier 0. A fake clock
// advances when it is read and when the kernel runs.
#include "tools/lib/prejit/kernel_race.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tensor/text/text.h"

namespace ember::tools {
namespace {

// Each reading of the fake clock advances it by this number of nanoseconds. It
// exceeds LapOptions::least_ns, so each measurement is one call.
constexpr int64_t kReadingNs = 60'000;

class RaceOfKernels : public testing::Test {
 protected:
  class FakeKernel final : public vm::HostKernel {
   public:
    FakeKernel(int64_t& now, int64_t ns, Status status)
        : now_(now), ns_(ns), status_(std::move(status)) {}
    int tier() const override { return 2; }
    bool Accepts(std::span<const int64_t>) const override { return true; }
    std::string Describe() const override { return "fake"; }
    Status Run(const vm::KernelCall&) const override {
      now_ += ns_;
      return status_;
    }

   private:
    int64_t& now_;
    const int64_t ns_;
    const Status status_;
  };

  std::optional<Lap> Lost(const std::string& text,
                          std::vector<int64_t> parameters, int64_t kernel_ns,
                          Status status = OkStatus()) {
    auto dispatch = tensor::Parse(text);
    EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
    vm::KernelRequest request;
    request.dispatch = &*dispatch;
    request.parameters = std::move(parameters);
    const FakeKernel kernel(now_, kernel_ns, std::move(status));
    return LapLost(request, kernel, [this] { return now_ += kReadingNs; });
  }

  int64_t now_ = 0;
};

constexpr const char* kConstant =
    "dispatch @d(%x: f32[4]) -> (%y: f32[4]) {\n  %y[i] = %x[i] + 1.0\n}";
constexpr const char* kOpen =
    "dispatch @d<N>(%x: f32[N]) -> (%y: f32[N]) {\n  %y[i] = %x[i] + 1.0\n}";

TEST_F(RaceOfKernels, ASlowOneLoses) {
  const std::optional<Lap> lost = Lost(kConstant, {}, 2 * kReadingNs);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->ratio(), 3);
}

TEST_F(RaceOfKernels, OneThatTakesAsLongDoesNot) {
  EXPECT_FALSE(Lost(kConstant, {}, 0));
  EXPECT_FALSE(Lost(kConstant, {}, kReadingNs / 20));
}

TEST_F(RaceOfKernels, OpenParametersAreNotMeasured) {
  EXPECT_FALSE(Lost(kOpen, {}, 2 * kReadingNs));
  EXPECT_TRUE(Lost(kOpen, {4}, 2 * kReadingNs));
}

TEST_F(RaceOfKernels, WhatFailsIsNotMeasured) {
  EXPECT_FALSE(
      Lost(kConstant, {}, 2 * kReadingNs, FailedPreconditionError("no")));
}

}  // namespace
}  // namespace ember::tools

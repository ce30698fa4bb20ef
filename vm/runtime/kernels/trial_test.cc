#include "vm/runtime/kernels/trial.h"

#include "gtest/gtest.h"

namespace ember::vm {
namespace {

using Verdict = KernelTrial::Verdict;

constexpr int64_t kMicrosecond = 1000;

// Returns a trial after `interpreted` calls of tier 0 and `compiled` calls of a
// kernel. All calls of tier 0 take the same time, and so do all calls of the
// kernel.
KernelTrial After(int interpreted, int64_t interpreted_us, int compiled,
                  int64_t compiled_us) {
  KernelTrial trial;
  for (int i = 0; i < interpreted; ++i)
    trial.AddInterpreted(interpreted_us * kMicrosecond);
  for (int i = 0; i < compiled; ++i)
    trial.AddCompiled(compiled_us * kMicrosecond);
  return trial;
}

// Returns the verdict after tier 0 and the kernel have been called alternately.
KernelTrial::Verdict Rematch(KernelTrial trial, int64_t interpreted_us,
                             int64_t compiled_us) {
  for (int i = 0; i < 100000 && trial.verdict() == Verdict::kOpen; ++i) {
    if (trial.WantsInterpreter())
      trial.AddInterpreted(interpreted_us * kMicrosecond);
    else
      trial.AddCompiled(compiled_us * kMicrosecond);
  }
  return trial.verdict();
}

TEST(KernelTrial, FasterKernelsStayAfterSomeCalls) {
  EXPECT_EQ(After(5, 1000, 7, 500).verdict(), Verdict::kOpen);
  EXPECT_EQ(After(5, 1000, 8, 500).verdict(), Verdict::kKeep);
  EXPECT_EQ(After(5, 1000, 8, 1030).verdict(), Verdict::kKeep);
}

TEST(KernelTrial, WhatSeemsSlowerIsMeasuredAlternately) {
  const KernelTrial trial = After(50, 1000, 8, 1200);
  EXPECT_EQ(trial.verdict(), Verdict::kOpen);
  EXPECT_EQ(Rematch(trial, 1000, 1200), Verdict::kSlower);
  // In the second measurement tier 0 is slower than the kernel, so the machine
  // and not the kernel was the reason for the first result.
  EXPECT_EQ(Rematch(trial, 1400, 1200), Verdict::kKeep);
}

TEST(KernelTrial, FewCallsDecideWhatIsMuchSlower) {
  EXPECT_EQ(After(5, 1000, 2, 3000).verdict(), Verdict::kOpen);
  EXPECT_EQ(After(5, 1000, 3, 1501).verdict(), Verdict::kSlower);
  EXPECT_EQ(After(5, 1000, 3, 1500).verdict(), Verdict::kOpen);
}

TEST(KernelTrial, ShortCallsTakeManyRounds) {
  EXPECT_EQ(After(900, 1, 100, 2).verdict(), Verdict::kOpen);
  EXPECT_EQ(Rematch(After(900, 1, 3, 2), 1, 2), Verdict::kSlower);
  EXPECT_EQ(Rematch(After(900, 1, 3, 2), 3, 2), Verdict::kKeep);
  EXPECT_EQ(After(900, 2, 8, 1).verdict(), Verdict::kKeep);
}

TEST(KernelTrial, TheBestCallCounts) {
  KernelTrial trial = After(5, 1000, 7, 1400);
  trial.AddCompiled(900 * kMicrosecond);
  EXPECT_EQ(trial.verdict(), Verdict::kKeep);
  EXPECT_EQ(trial.compiled_ns(), 900 * kMicrosecond);
}

TEST(KernelTrial, TierZerosLastCallsCount) {
  KernelTrial trial = After(100, 500, 0, 0);
  EXPECT_EQ(trial.interpreted_ns(), 500 * kMicrosecond);
  // From here on the simulated processor is slower.
  for (int i = 0; i < 16; ++i) trial.AddInterpreted(1000 * kMicrosecond);
  EXPECT_EQ(trial.interpreted_ns(), 1000 * kMicrosecond);
  for (int i = 0; i < 8; ++i) trial.AddCompiled(900 * kMicrosecond);
  EXPECT_EQ(trial.verdict(), Verdict::kKeep);
  // A single slow call of tier 0 must not change the verdict.
  trial.AddInterpreted(2000 * kMicrosecond);
  EXPECT_EQ(trial.interpreted_ns(), 1000 * kMicrosecond);
}

TEST(KernelTrial, AnotherKernelIsMeasuredAnew) {
  KernelTrial trial = After(5, 1000, 8, 2000);
  EXPECT_EQ(trial.verdict(), Verdict::kSlower);
  trial.Restart();
  EXPECT_EQ(trial.verdict(), Verdict::kOpen);
  for (int i = 0; i < 8; ++i) trial.AddCompiled(700 * kMicrosecond);
  EXPECT_EQ(trial.verdict(), Verdict::kKeep);
}

TEST(KernelTrial, WhatWasMeasuredOnceIsMeasuredAgainIfInDoubt) {
  EXPECT_TRUE(After(1, 1000, 3, 900).WantsInterpreter());
  EXPECT_EQ(Rematch(After(1, 1000, 3, 1900), 1000, 1900), Verdict::kSlower);
  EXPECT_FALSE(After(1, 1000, 2, 900).WantsInterpreter());
  EXPECT_FALSE(After(1, 1000, 3, 800).WantsInterpreter());
  EXPECT_FALSE(After(3, 1000, 3, 900).WantsInterpreter());
}

TEST(KernelTrial, KernelsThatWereThereFirstStay) {
  EXPECT_EQ(KernelTrial().verdict(), Verdict::kKeep);
  EXPECT_EQ(After(0, 0, 20, 5000).verdict(), Verdict::kKeep);
  EXPECT_FALSE(After(0, 0, 20, 5000).WantsInterpreter());
}

}  // namespace
}  // namespace ember::vm

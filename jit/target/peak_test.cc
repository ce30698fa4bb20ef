#include "jit/target/peak.h"

#include "gtest/gtest.h"

namespace ember::jit {
namespace {

TEST(PeakTest, RatesBetweenMeasuredSizes) {
  MachineLimits limits;
  limits.gflops = 96;
  limits.reads = {{1 << 16, 100}, {1 << 18, 80}, {1 << 22, 10}};
  EXPECT_EQ(limits.ReadRateFor(0), 100);
  EXPECT_EQ(limits.ReadRateFor(1 << 16), 100);
  EXPECT_DOUBLE_EQ(limits.ReadRateFor(1 << 17), 90);
  EXPECT_DOUBLE_EQ(limits.ReadRateFor(1 << 20), 45);
  EXPECT_EQ(limits.ReadRateFor(1e12), 10);
  EXPECT_EQ(limits.Text(),
            "1 threads: 96 GFLOP/s of f32 multiply-adds; reads of 64 KiB at "
            "100 GB/s, of 256 KiB at 80 GB/s, of 4 MiB at 10 GB/s");
}

TEST(PeakTest, LargerSetsAreNotReadFaster) {
  const MachineLimits limits = MeasureMachineLimits(1);
  EXPECT_GT(limits.gflops, 0);
  ASSERT_GE(limits.reads.size(), 2u);
  for (size_t i = 0; i < limits.reads.size(); ++i) {
    EXPECT_GT(limits.reads[i].gigabytes_per_second, 0);
    if (i == 0) continue;
    EXPECT_GE(limits.reads[i - 1].gigabytes_per_second,
              limits.reads[i].gigabytes_per_second);
  }
}

}  // namespace
}  // namespace ember::jit

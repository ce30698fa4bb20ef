#include "tools/lib/tensors/random.h"

#include "gtest/gtest.h"
#include "tools/lib/tensors/elements.h"

namespace ember::tools {
namespace {

// The expected numbers are the inputs that ort_bench.mjs feeds to ONNX Runtime.
TEST(RandomTensorsTest, SeedZeroIsThePeersSequence) {
  RandomTensors random(0);
  const vm::Tensor floats = *random.Next(DType::kF32, {3});
  EXPECT_FLOAT_EQ(floats.elements<float>()[0], -0.36681294441223145f);
  EXPECT_FLOAT_EQ(floats.elements<float>()[1], 0.7514139413833618f);
  EXPECT_FLOAT_EQ(floats.elements<float>()[2], -0.03339967504143715f);
  const vm::Tensor integers = *random.Next(DType::kI64, {5});
  const int64_t want[] = {0, 1, 1, 1, 1};
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(integers.elements<int64_t>()[i], want[i]);
}

TEST(RandomTensorsTest, EveryTypeStaysInRange) {
  RandomTensors random(3);
  for (int raw = 0; raw < kDTypeCount; ++raw) {
    const vm::Tensor tensor = *random.Next(static_cast<DType>(raw), {64});
    double low = 1, high = -1;
    for (int i = 0; i < 64; ++i) {
      low = std::min(low, FloatElement(tensor, i));
      high = std::max(high, FloatElement(tensor, i));
    }
    EXPECT_GE(low, IsFloat(tensor.type) ? -1.0 : 0.0);
    EXPECT_LE(high, 1.0);
    EXPECT_LT(low, high);
  }
}

TEST(RandomTensorsTest, SeedsDiffer) {
  EXPECT_NE(RandomTensors(1).Next(DType::kF64, {})->elements<double>()[0],
            RandomTensors(2).Next(DType::kF64, {})->elements<double>()[0]);
}

}  // namespace
}  // namespace ember::tools

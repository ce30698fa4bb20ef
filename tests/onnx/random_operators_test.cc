// Tests operators that draw random numbers. The first values with key 0 follow
// from the known answers that the authors of Philox publish: counter 0 and key
// 0 give 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/onnx/one_node.h"

namespace ember::tests {
namespace {

using Values = std::vector<double>;

Values ValuesOf(OneNode& node, size_t result = 0) {
  const auto results = node.Run();
  EXPECT_TRUE(results.ok()) << results.status().ToString();
  return results.ok() ? (*results)[result].values : Values();
}

double Mean(const Values& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

TEST(RandomUniform, IsPhilox) {
  OneNode node("RandomUniform", 22);
  node.Attribute({"seed", 0.0});
  node.Attribute({"shape", std::vector<int64_t>{3}});
  // An f32 is made of the upper 24 bits of the generator's first word. Here the
  // words are those for the counters 0, 1 and 2.
  ExpectNumbers(node.Run(),
                {F32({3}, {0x6627e8 / 16777216.0, 0.97224116, 0.01944941})},
                1e-7);
}

TEST(RandomUniform, DrawsAsManyBitsAsTheTypeHolds) {
  OneNode wide("RandomUniform", 22);
  wide.Attribute({"seed", 0.0}).Attribute({"dtype", 11});
  wide.Attribute({"shape", std::vector<int64_t>{1}});
  ExpectNumbers(wide.Run(), {{DType::kF64, {1}, {0.3990464708489645}}}, 1e-15);
  OneNode narrow("RandomUniform", 22);
  narrow.Attribute({"seed", 0.0}).Attribute({"dtype", 10});
  narrow.Attribute({"shape", std::vector<int64_t>{1}});
  ExpectNumbers(narrow.Run(), {{DType::kF16, {1}, {0.39892578125}}}, 1e-9);
}

TEST(RandomUniformLike, SpansLowToHigh) {
  OneNode node("RandomUniformLike", 22);
  node.Input({DType::kI32, {100, 100}, Values(10000)}, {-1, 100});
  node.Attribute({"dtype", 1}).Attribute({"low", -2.0});
  node.Attribute({"high", 6.0});
  const Values values = ValuesOf(node);
  ASSERT_EQ(values.size(), 10000);
  for (double value : values) ASSERT_TRUE(value >= -2 && value < 6) << value;
  // The mean of 10000 draws from [-2, 6) has the standard deviation 8 /
  // sqrt(12) / 100 = 0.023, so 0.1 is a safe tolerance.
  EXPECT_NEAR(Mean(values), 2, 0.1);
}

TEST(RandomNormal, IsBoxMuller) {
  OneNode node("RandomNormal", 22);
  node.Attribute({"seed", 0.0});
  node.Attribute({"shape", std::vector<int64_t>{3}});
  ExpectNumbers(node.Run(), {F32({3}, {-0.12151813, -0.08187425, 1.7764250})},
                1e-5);
}

TEST(RandomNormalLike, HasMeanAndScale) {
  OneNode node("RandomNormalLike", 22);
  node.Input(F32({10000}, Values(10000)));
  node.Attribute({"mean", 3.0}).Attribute({"scale", 2.0});
  const Values values = ValuesOf(node);
  const double mean = Mean(values);
  double variance = 0;
  for (double value : values) variance += (value - mean) * (value - mean);
  EXPECT_NEAR(mean, 3, 0.08);
  EXPECT_NEAR(variance / 10000, 4, 0.25);
}

TEST(Random, NodesWithoutSeedDiffer) {
  std::vector<Values> drawn;
  for (const char* name : {"a", "b"}) {
    OneNode node("RandomUniform", 22);
    node.node().set_name(name);
    node.Attribute({"shape", std::vector<int64_t>{4}});
    drawn.push_back(ValuesOf(node));
  }
  EXPECT_NE(drawn[0], drawn[1]);
}

TEST(Bernoulli, DrawsOnesWithTheGivenProbability) {
  OneNode node("Bernoulli", 22);
  node.Input(F32({2, 5000}, [] {
    Values p(5000, 0.25);
    p.resize(10000, 1.0);
    return p;
  }()));
  node.Attribute({"dtype", 7});
  const Values values = ValuesOf(node);
  ASSERT_EQ(values.size(), 10000);
  const Values quarter(values.begin(), values.begin() + 5000);
  EXPECT_NEAR(Mean(quarter), 0.25, 0.025);
  EXPECT_EQ(Values(values.begin() + 5000, values.end()), Values(5000, 1));
}

TEST(Multinomial, DrawsClassesByTheirLogits) {
  OneNode node("Multinomial", 22);
  // The three classes have the probabilities 1/4, 0 and 3/4: the logits are log
  // 2, -infinity and log 6.
  node.Input(F32({1, 3}, {std::log(2.0), -INFINITY, std::log(6.0)}));
  node.Attribute({"sample_size", 10000});
  const Values values = ValuesOf(node);
  ASSERT_EQ(values.size(), 10000);
  double last = 0;
  for (double value : values) {
    ASSERT_TRUE(value == 0 || value == 2) << value;
    last += value == 2 ? 1 : 0;
  }
  EXPECT_NEAR(last / 10000, 0.75, 0.025);
}

TEST(Dropout, ScalesWhatItKeeps) {
  OneNode node("Dropout", 22, 2);
  node.Input(F32({10000}, Values(10000, 3)));
  node.Constant(F32({}, {0.25}));
  node.Constant({DType::kBool, {}, {1}});
  const auto results = node.Run();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  const Values& y = (*results)[0].values;
  const Values& mask = (*results)[1].values;
  EXPECT_NEAR(Mean(mask), 0.75, 0.025);
  for (size_t i = 0; i < y.size(); ++i)
    ASSERT_NEAR(y[i], mask[i] * 4, 1e-5) << i;
}

TEST(Dropout, TrainingMayBeDecidedWhenRun) {
  for (const double training : {0.0, 1.0}) {
    OneNode node("Dropout", 22, 2);
    node.Input(F32({1000}, Values(1000, 1)));
    node.Input(F32({}, {0.5}));
    node.Input({DType::kBool, {}, {training}});
    const double kept = Mean(ValuesOf(node, 1));
    if (training == 0) {
      EXPECT_EQ(kept, 1);
    } else {
      EXPECT_NEAR(kept, 0.5, 0.08);
    }
  }
}

}  // namespace
}  // namespace ember::tests

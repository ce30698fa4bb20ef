#include "tensor/analysis/element_bounds.h"

#include <cmath>
#include <string>
#include <vector>

#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/scalar.h"
#include "tensor/testing/random_dispatch.h"
#include "tensor/text/text.h"

namespace ember::tensor {
namespace {

using Floats = std::vector<float>;

class ElementBoundsTest : public testing::Test {
 protected:
  void Use(const std::string& text, std::vector<const void*> inputs,
           BoundsOptions options = {}) {
    dispatch_ = *Parse(text);
    header_ = *ConcreteHeader::Evaluate(dispatch_, {});
    inputs_ = std::move(inputs);
    bounds_ =
        std::make_unique<ElementBounds>(dispatch_, *header_, inputs_, options);
  }
  ValueRange Of(int64_t element) {
    return bounds_->Of(dispatch_.input_count(), element);
  }
  bool Allows(int64_t element, float value) {
    return Of(element).Contains(DoubleToBits(value, DType::kF32), DType::kF32);
  }

  Dispatch dispatch_;
  std::optional<ConcreteHeader> header_;
  std::vector<const void*> inputs_;
  std::unique_ptr<ElementBounds> bounds_;
};

TEST_F(ElementBoundsTest, SumsThatCancelMayBeOffByTheirTerms) {
  const Floats x = {1e6f + 0.1f, 1, -1e6f, 1e-3f}, y = {1, 1, 1, 1};
  Use(R"(
dispatch @dot(%x: f32[4], %y: f32[4]) -> (%z: f32[]) {
  %z[] = sum(k < 4) %x[k] * %y[k]
})",
      {x.data(), y.data()});
  EXPECT_TRUE(Allows(0, 1.126f));
  EXPECT_TRUE(Allows(0, 1.2f));
  EXPECT_FALSE(Allows(0, 4)) << "a term of 1 counted otherwise is seen";
}

TEST_F(ElementBoundsTest, SumsThatDoNotCancelMayNot) {
  const Floats x(1000, 0.3f);
  Use("dispatch @s(%x: f32[1000]) -> (%y: f32[]) { %y[] = sum(k < 1000) "
      "%x[k] }",
      {x.data()});
  EXPECT_TRUE(Allows(0, 300));
  EXPECT_FALSE(Allows(0, 299.7f)) << "one term is missing";
}

TEST_F(ElementBoundsTest, OnlyWhatAnElementDependsOnIsComputed) {
  Floats x(64 * 64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7);
  Use(R"(
dispatch @softmax(%x: f32[64, 64]) -> (%y: f32[64, 64]) {
  temp %m: f32[64]
  temp %e: f32[64, 64]
  temp %s: f32[64]
  %m[i] = maximum(k < 64) %x[i, k]
  %e[i, j] = exp(%x[i, j] - %m[i])
  %s[i] = sum(k < 64) %e[i, k]
  %y[i, j] = %e[i, j] / %s[i]
})",
      {x.data()});
  const int64_t before = bounds_->steps_left();
  double total = 0;
  for (int64_t j = 0; j < 64; ++j) {
    const ValueRange range = Of(5 * 64 + j);
    ASSERT_TRUE(range.is_known);
    EXPECT_LT(range.high - range.low, 1e-4 * range.high);
    total += range.low;
  }
  EXPECT_NEAR(total, 1, 1e-3);
  EXPECT_LT(before - bounds_->steps_left(), 64 * 64);
}

TEST_F(ElementBoundsTest, TiesMayGoEitherWay) {
  // The dispatch returns the index of the largest of three sums. The first two,
  // 0.1 + 0.2 and 0.15 + 0.15, are so near to each other that rounding decides
  // which is larger; the third is far below.
  const Floats x = {0.1f, 0.2f, 0.15f, 0.15f, -1, -1};
  Use(R"(
dispatch @best(%x: f32[3, 2]) -> (%place: i64[]) {
  temp %s: f32[3]
  temp %b: f32[]
  %s[i] = %x[i, 0] + %x[i, 1]
  for () fold(k < 3) {
    element %e0: f32 = %s[k] from -inf
    element %e1: i64 = k from 0
    next %a0 = select(%a0 < %e0, %e0, %a0)
    next %a1 = select(%a0 < %e0, %e1, %a1)
    %b[] = %a0
    %place[] = %a1
  }
})",
      {x.data()});
  const ValueRange place = Of(0);
  EXPECT_TRUE(place.Contains(0, DType::kI64));
  EXPECT_TRUE(place.Contains(1, DType::kI64));
  EXPECT_FALSE(place.Contains(2, DType::kI64));
}

TEST_F(ElementBoundsTest, ScattersAndRegions) {
  const std::vector<int32_t> places = {2, 0, 2};
  const Floats updates = {1, 10, 100};
  Use(R"(
dispatch @scatter(%i: i32[3], %u: f32[3]) -> (%y: f32[3], %z: f32[4]) {
  %y[n] = 0.5
  for (m < 3) %y[i64(%i[m])] += %u[m]
  for (a < 2, b < 2) %z[2 * a + b] = %y[a + b]
})",
      {places.data(), updates.data()});
  EXPECT_TRUE(Allows(0, 10.5f));
  EXPECT_FALSE(Allows(0, 0.5f));
  EXPECT_TRUE(Allows(1, 0.5f));
  EXPECT_TRUE(Allows(2, 101.5f));
  const auto second = [&](int64_t element, float value) {
    return bounds_->Of(3, element)
        .Contains(DoubleToBits(value, DType::kF32), DType::kF32);
  };
  EXPECT_TRUE(second(0, 10.5f));
  EXPECT_TRUE(second(2, 0.5f));
  EXPECT_TRUE(second(3, 101.5f));
  EXPECT_FALSE(second(3, 0.5f));
}

TEST_F(ElementBoundsTest, WithoutStepsNothingIsKnown) {
  const Floats x(1000, 0.3f);
  Use("dispatch @s(%x: f32[1000]) -> (%y: f32[]) { %y[] = sum(k < 1000) "
      "%x[k] }",
      {x.data()}, {.most_steps = 500});
  EXPECT_FALSE(Of(0).is_known);
  EXPECT_EQ(bounds_->steps_left(), 0);
}

// The evaluator's results, with accumulation in f32 and in f64, must lie inside
// the bounds.
TEST_F(ElementBoundsTest, HoldWhatTheEvaluatorGives) {
  const SeedRange seeds = TestSeeds(400, 0);
  int64_t known = 0, all = 0, steps = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomCase c = MakeRandomCase(seed, {.exact = seed % 4 == 0});
    const Dispatch& dispatch = c.dispatch;
    const auto header = ConcreteHeader::Evaluate(dispatch, c.parameters);
    ASSERT_TRUE(header.ok());
    for (const bool in_f64 : {false, true}) {
      std::vector<std::vector<uint8_t>> buffers = c.MakeBuffers();
      const Status status = Evaluate(dispatch, c.parameters, Pointers(buffers),
                                     {.accumulate_in_f64 = in_f64});
      // In some random cases an index that is computed from data is out of
      // range, and the run fails: those are skipped.
      if (!status.ok()) continue;
      std::vector<const void*> inputs;
      for (size_t i = 0; i < dispatch.input_count(); ++i)
        inputs.push_back(buffers[i].data());
      ElementBounds bounds(dispatch, *header, inputs, {});
      for (uint32_t b = dispatch.input_count(); b < buffers.size(); ++b) {
        const DType type = dispatch.buffers[b].type;
        const int64_t count = header->ElementCount(dispatch.buffers[b]);
        for (int64_t i = 0; i < count; i += 1 + count / 16) {
          const ValueRange range = bounds.Of(b, i);
          const uint64_t got = LoadElement(buffers[b].data(), i, type);
          ++all;
          known += range.is_known;
          ASSERT_TRUE(range.Contains(got, type))
              << "%" << dispatch.buffers[b].name << ", element " << i << ": "
              << BitsToDouble(got, type) << " is not in " << range.low << " to "
              << range.high << "; replay: EMBER_SEED=" << seed
              << " bazel run //tensor/analysis:element_bounds_test\n"
              << Print(dispatch);
        }
      }
      steps += bounds.steps_left();
    }
  }
  EXPECT_GT(known * 10, all * (seeds.end - seeds.begin > 1 ? 6 : 0));
}

}  // namespace
}  // namespace ember::tensor

#include "frontends/ops/import_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "compiler/graph/builder/builder.h"
#include "frontends/ops/axes.h"

namespace ember::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

// Returns the error that the checks in `body` leave in a new builder.
std::string ErrorOf(const std::function<void(ImportContext& c)>& body) {
  graph::GraphBuilder builder("main");
  builder.SetOrigin("split1 (Split)");
  ImportContext c(builder);
  body(c);
  return std::string(builder.status().message());
}

TEST(Axes, FromEitherEnd) {
  graph::GraphBuilder builder("main");
  EXPECT_EQ(NormalizedAxis(builder, -1, 4), 3);
  EXPECT_EQ(NormalizedAxis(builder, 3, 4), 3);
  EXPECT_THAT(DistinctAxes(builder, {-1, 0}, 4), ElementsAre(3, 0));
  EXPECT_THAT(SortedAxes(builder, {-1, 0, 3}, 4), ElementsAre(0, 3));
  EXPECT_THAT(SortedAxes(builder, {}, 0), IsEmpty());
  EXPECT_TRUE(builder.status().ok()) << builder.status().ToString();
}

TEST(Axes, Errors) {
  EXPECT_EQ(ErrorOf([](ImportContext& c) { EXPECT_EQ(c.Axis(4, 4), 0); }),
            "node 'split1 (Split)': axis: expected a value in [-4, 3], found "
            "4");
  EXPECT_THAT(ErrorOf([](ImportContext& c) {
                EXPECT_THAT(c.Axes({0, -5}, 4), IsEmpty());
              }),
              HasSubstr("expected a value in [-4, 3], found -5"));
  EXPECT_THAT(ErrorOf([](ImportContext& c) {
                EXPECT_THAT(DistinctAxes(c.builder(), {1, 3, -1}, 4),
                            IsEmpty());
              }),
              HasSubstr("axes: expected different ones, found -1 twice"));
}

TEST(ImportContext, Ranges) {
  EXPECT_EQ(ErrorOf([](ImportContext& c) {
              EXPECT_TRUE(c.CheckRange("k", 1, 1, 5));
              EXPECT_TRUE(c.CheckRange("k", 5, 1, 5));
              EXPECT_TRUE(c.CheckPositive("stride", 1));
            }),
            "");
  EXPECT_THAT(ErrorOf([](ImportContext& c) {
                EXPECT_FALSE(c.CheckRange("k", 6, 1, 5));
                // This second error must not replace the first one, which is
                // expected below.
                EXPECT_FALSE(c.CheckRange("k", 5, 1, 5));
              }),
              HasSubstr("k: expected a value in [1, 5], found 6"));
  EXPECT_THAT(ErrorOf([](ImportContext& c) {
                EXPECT_FALSE(c.CheckPositive("stride", 0));
              }),
              HasSubstr("stride: expected a value in [1, 16777216], found 0"));
}

TEST(ImportContext, Ranks) {
  const auto error = [](int rank, int minimum, int maximum) {
    return ErrorOf([&](ImportContext& c) {
      const Tensor x = c.Wrap(c.builder().Input(
          "x", {DType::kF32, Shape(static_cast<size_t>(rank), Dim(2))}));
      EXPECT_EQ(c.CheckRank(x, "input 0", minimum, maximum),
                rank >= minimum && rank <= maximum);
    });
  };
  EXPECT_EQ(error(2, 2, 2), "");
  EXPECT_THAT(error(2, 3, 3),
              HasSubstr("input 0: expected rank 3, found [2, 2]"));
  EXPECT_THAT(error(2, 3, 5), HasSubstr("expected rank 3 to 5"));
  EXPECT_THAT(error(2, 3, kMaxRank), HasSubstr("expected rank 3 or more"));
  EXPECT_THAT(ErrorOf([](ImportContext& c) {
                EXPECT_FALSE(c.CheckRank(Tensor(), "input 1", 0));
              }),
              HasSubstr("expected input 1, found none"));
}

TEST(ImportContext, Extents) {
  graph::GraphBuilder builder("main");
  ImportContext c(builder);
  const Tensor x = c.Wrap(
      builder.Input("x", {DType::kF32, {Dim::Symbol("N"), Dim(3), Dim(4)}}));
  EXPECT_THAT(c.Extents(x, 1, 3), Optional(ElementsAre(3, 4)));
  EXPECT_EQ(c.Extent(x, -1), 4);
  EXPECT_EQ(c.Extent(x, 0), std::nullopt);
  EXPECT_THAT(builder.status().message(),
              HasSubstr("expected dim 0 to be known when compiling, found "
                        "[N, 3, 4]"));
}

TEST(ImportContext, ContentsOfOperands) {
  graph::GraphBuilder builder("main");
  ImportContext c(builder);
  const Tensor known = c.Vector(DType::kI64, std::vector<int64_t>{2, 5});
  EXPECT_THAT(c.ConstantIntegers(known, "axes (input 1)"),
              Optional(ElementsAre(2, 5)));
  EXPECT_THAT(c.ConstantNumbers(known, "axes (input 1)"),
              Optional(ElementsAre(2, 5)));
  EXPECT_THAT(c.Sizes(known, "axes (input 1)"),
              Optional(ElementsAre(Dim(2), Dim(5))));
  const Tensor open = c.Wrap(builder.Input("sizes", {DType::kI64, {Dim(2)}}));
  EXPECT_TRUE(c.Sizes(open, "axes (input 1)").has_value());
  EXPECT_TRUE(c.ok()) << builder.status().ToString();
  EXPECT_EQ(c.Contents(open, "axes (input 1)"), std::nullopt);
  EXPECT_THAT(builder.status().message(),
              HasSubstr("axes (input 1) depends on the model's data: it must "
                        "be known when compiling"));
  EXPECT_THAT(ErrorOf([](ImportContext& c) {
                EXPECT_EQ(c.ConstantNumbers(Tensor(), "axes"), std::nullopt);
              }),
              HasSubstr("missing axes"));
  EXPECT_THAT(ErrorOf([](ImportContext& c) {
                EXPECT_EQ(c.Sizes(c.Scalar(1), "axes"), std::nullopt);
              }),
              HasSubstr("axes: expected integers in one dim, found type"));
}

}  // namespace
}  // namespace ember::ops

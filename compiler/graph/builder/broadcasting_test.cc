#include "compiler/graph/builder/broadcasting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "compiler/graph/builder/builder.h"

namespace ember::graph {
namespace {

const Dim kN = Dim::Symbol("N"), kM = Dim::Symbol("M"), kH = Dim::Symbol("H");
// kData is a dim whose value depends on data (its name begins with '_'), so it
// may be 0.
const Dim kData = Dim::Symbol("_0");

int64_t ValueOf(const Dim& dim, const std::map<std::string, int64_t>& symbols) {
  const StatusOr<int64_t> value = dim.Evaluate(symbols);
  EXPECT_TRUE(value.ok()) << dim.ToString();
  return value.ok() ? *value : -1;
}

TEST(Broadcasting, ExtentsAndIndicesAreThoseOfAllValues) {
  for (const auto& [a, b] : {std::pair(kN, kM), std::pair(kN, kData),
                             std::pair(kData, kM), std::pair(kN, Dim(3))}) {
    const Dim result = BroadcastExtent({a, b});
    for (int64_t n = 0; n <= 3; ++n) {
      for (int64_t m = 0; m <= 3; ++m) {
        const std::map<std::string, int64_t> symbols = {
            {"N", n}, {"M", m}, {"_0", a == kData ? n : m}};
        const int64_t x = ValueOf(a, symbols), y = ValueOf(b, symbols);
        // Skips values for which the two extents do not broadcast: they differ
        // and neither is 1.
        if (x != 1 && y != 1 && x != y) continue;
        const int64_t extent = x == 1 ? y : x;
        EXPECT_EQ(ValueOf(result, symbols), extent) << x << " and " << y;
        // Broadcasting the result with an operand once more must give the same
        // result.
        EXPECT_EQ(BroadcastExtent({result, a}), result);
        EXPECT_EQ(BroadcastExtent({b, result}), result);
        // Checks for both operands that UnitOr gives the operand's extent, and
        // that IndexFactor maps the result's last index to the operand's last
        // index.
        for (const Dim& dim : {a, b}) {
          const int64_t own = ValueOf(dim, symbols);
          EXPECT_EQ(ValueOf(UnitOr(dim, result), symbols), own);
          if (extent > 0) {
            EXPECT_EQ((extent - 1) * ValueOf(IndexFactor(dim), symbols),
                      own - 1);
          }
        }
      }
    }
  }
}

TEST(Broadcasting, OnlySomeDimsMayBroadcast) {
  EXPECT_TRUE(MayBroadcast(kN, kM));
  EXPECT_TRUE(MayBroadcast(kN, Dim(3)));
  EXPECT_FALSE(MayBroadcast(kN, kN));
  EXPECT_TRUE(MayBroadcast(kN + Dim(1), Dim(3)));
  EXPECT_FALSE(MayBroadcast(kN + Dim(2), Dim(3)));
  EXPECT_FALSE(MayBroadcast(kN * Dim(2), kM + Dim(2)));
  // The second expression is an image's height after scaling down and up again.
  // It contains only the first one's symbol, so the two count as equal.
  EXPECT_FALSE(MayBroadcast(kH, FloorDivide(kH, Dim(2)) * Dim(2)));
}

TEST(Broadcasting, ABuilderRemembersWhatItAssumes) {
  GraphBuilder b("assumes");
  Value* x = b.Input("x", {DType::kF32, {kN, Dim(4)}});
  Value* y = b.Input("y", {DType::kF32, {kM, Dim(4)}});
  b.Output("once", b.Add(x, y));
  b.Output("again", b.Multiply(y, x));
  ASSERT_TRUE(b.status().ok()) << b.status().ToString();
  ASSERT_EQ(b.assumed_dims().size(), 1);
  EXPECT_EQ(b.assumed_dims()[0].a, kN);
  EXPECT_EQ(b.assumed_dims()[0].b, kM);
}

TEST(Broadcasting, TheDataMayDecide) {
  GraphBuilder b("decided");
  b.SetBroadcasting(Broadcasting::kDecidedByData);
  Value* x = b.Input("x", {DType::kF32, {kN, Dim(4)}});
  Value* y = b.Input("y", {DType::kF32, {kM, Dim(4)}});
  Value* sum = b.Add(x, y);
  ASSERT_TRUE(b.status().ok()) << b.status().ToString();
  EXPECT_EQ(sum->shape(), (Shape{BroadcastExtent({kN, kM}), Dim(4)}));
  // The dim of `sum` was already broadcast. Adding x again repeats x along it,
  // so no assumption about the dim is recorded.
  Value* more = b.Add(sum, x);
  ASSERT_TRUE(b.status().ok()) << b.status().ToString();
  EXPECT_EQ(more->shape(), sum->shape());
  EXPECT_TRUE(b.assumed_dims().empty());
}

// The program chooses between variants by the dims of inputs. A dim that is
// known only after data was read cannot take part, so no assumption is made
// about it.
TEST(Broadcasting, DimsOfDataAreNeverAssumed) {
  GraphBuilder b("of_data");
  Value* x = b.Input("x", {DType::kF32, {kN}});
  const Dim count = b.FreshSymbol();
  Value* places = b.Apply("non_zero", {b.Cast(x, DType::kBool)},
                          {{"defines", Shape{count}}});
  Value* found = b.Cast(b.Reshape(places, {count}), DType::kF32);
  Value* sum = b.Add(found, x);
  Value* more = b.Add(sum, x);
  ASSERT_TRUE(b.status().ok()) << b.status().ToString();
  // The dims of the sums are new symbols, because only the run decides which
  // operand is repeated.
  EXPECT_NE(sum->shape(), x->shape());
  EXPECT_NE(sum->shape(), found->shape());
  EXPECT_NE(more->shape(), x->shape());
  EXPECT_TRUE(b.assumed_dims().empty());
  // Operands of equal dims need no broadcast, so Add reads `found` directly,
  // without an operation in between.
  EXPECT_EQ(b.Add(found, found)->producer()->operand(0), found);
}

TEST(Broadcasting, ChannelsOfConvolutionsAreAssumed) {
  GraphBuilder b("convolves");
  Value* x = b.Input("x", {DType::kF32, {Dim(1), kN, kM}});
  Value* w = b.Input("w", {DType::kF32, {Dim(3), Dim(2), Dim(8)}});
  const Attributes attributes = {{"strides", std::vector<int64_t>{1}},
                                 {"dilations", std::vector<int64_t>{1}},
                                 {"low", Shape{0}},
                                 {"high", Shape{0}},
                                 {"groups", int64_t{4}}};
  Value* y = b.Apply("conv", {x, w}, attributes);
  ASSERT_TRUE(b.status().ok()) << b.status().ToString();
  const Operation& assume = *y->producer()->operand(0)->producer();
  EXPECT_EQ(assume.name(), "assume");
  EXPECT_EQ(assume.result()->shape(), (Shape{Dim(1), kN, Dim(8)}));
  EXPECT_TRUE(b.assumed_dims().empty());
}

}  // namespace
}  // namespace ember::graph

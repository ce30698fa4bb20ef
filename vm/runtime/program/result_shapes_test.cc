#include "vm/runtime/program/result_shapes.h"

#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/runtime/session.h"

namespace ember::vm {
namespace {

std::shared_ptr<const Module> Load(std::string_view text) {
  return *Module::FromDefinition(ParseSample(text));
}

std::string Texts(const ResultExtents& extents) {
  std::string text;
  for (const std::vector<ExtentValue>& result : extents) {
    text += "[";
    for (const ExtentValue& extent : result)
      text += (text.back() == '[' ? "" : ", ") + extent.text;
    text += "]";
  }
  return text;
}

// A module with every kind of expression over the symbols N and M.
constexpr std::string_view kExpressions = R"(
module "by hand" from "expressions"
program main<N, M, "?", "?", "?", "?", "?", "?", "?">(x: f32[N, M]) -> (a: f32[$2, $3], b: f32[$4, $5], c: f32[$6, $7, $8]) {
  i0 = input_dim x, 0
  i1 = input_dim x, 1
  i2 = integer 2
  i3 = integer 1
  i4 = mul i0, i2
  i5 = add i4, i3
  i6 = add i0, i1
  i7 = floordiv i6, i2
  i8 = sub i5, i6
  i9 = max i0, i1
  i10 = mod i6, i9
  i11 = mul i6, i3
  i12 = integer -3
  i13 = add i12, i11
  i14 = mul i2, i2
  i15 = min i14, i0
  i16 = integer 0
  i17 = mul i6, i16
  i18 = integer 4
  b0 = allocate i18
  result a = b0 [i5, i7]
  result b = b0 [i8, i10]
  result c = b0 [i13, i15, i14]
  return
}
)";

TEST(ResultShapesTest, DescribesWhatIsComputed) {
  EXPECT_EQ(
      Texts(DescribeResults(*Load(kExpressions))),
      "[2*N+1, (N+M)//2][2*N+1-(N+M), (N+M)%max(N,M)][N+M-3, min(4,N), 4]");
}

TEST(ResultShapesTest, ComputesWhatIsKnown) {
  const auto extents = ResultShapes(*Load(kExpressions), {{{7, 3}}});
  ASSERT_TRUE(extents.ok()) << extents.status().ToString();
  EXPECT_EQ(Texts(*extents), "[15, 5][5, 3][7, 4, 4]");
}

TEST(ResultShapesTest, WhatDependsOnDataIsNotKnown) {
  const auto module = *Module::FromDefinition(SampleNamed("shapes"));
  EXPECT_EQ(Texts(DescribeResults(*module)), "[?][?][?][]");
  const auto extents = ResultShapes(*module, {{{5}, {1}}});
  ASSERT_TRUE(extents.ok()) << extents.status().ToString();
  EXPECT_EQ(Texts(*extents), "[?][?][?][]");
  EXPECT_EQ((*extents)[0][0].number, -1);
}

TEST(ResultShapesTest, DeclarationsSayWhatAProgramWithBranchesDoesNot) {
  const auto module = *Module::FromDefinition(SampleNamed("calls"));
  EXPECT_EQ(Texts(DescribeResults(*module)), "[N][?][N][2]");
  const auto extents = ResultShapes(*module, {{{5}, {3}}});
  ASSERT_TRUE(extents.ok()) << extents.status().ToString();
  EXPECT_EQ(Texts(*extents), "[5][?][5][2]");
}

TEST(ResultShapesTest, ALoopOverNumbersIsFollowed) {
  const auto module = *Module::FromDefinition(SampleNamed("loop"));
  EXPECT_EQ(Texts(DescribeResults(*module)), "[N, 4]");
  EXPECT_EQ(Texts(*ResultShapes(*module, {{{9, 4}}})), "[9, 4]");
}

// ResultShapes must return the same errors as a run with inputs of these
// shapes.
TEST(ResultShapesTest, ErrorsAreThoseOfARun) {
  const auto module = *Module::FromDefinition(SampleNamed("loop"));
  const auto session = *Session::Create(
      module, {.device = *hal::CreateCpuDevice({.threads = 1})});
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{3, 5}, {0, 4}, {4}, {-1, 4}}) {
    const auto extents = ResultShapes(*module, {{dims}});
    ASSERT_FALSE(extents.ok());
    std::vector<Tensor> results;
    const float x[15] = {};
    const Status run =
        session->Run({{Tensor::Borrow(DType::kF32, dims, x)}}, &results);
    EXPECT_EQ(extents.status().ToString(), run.ToString());
  }
  EXPECT_EQ(ResultShapes(*module, {}).status().message(),
            "inputs: expected 1 (x), found 0");
  EXPECT_EQ(ResultShapes(*module, {{{0, 4}}}).status().message(),
            "x: expected at least one row");
}

std::string LoopOf(int64_t iterations) {
  std::string text = R"(
module "by hand" from "loop"
program main<"?">(x: f32[4]) -> (y: f32[$0]) {
  i0 = integer )" + std::to_string(iterations) +
                     R"(
  i1 = integer 1
  i2 = integer 0
L3:
)";
  for (int i = 0; i < 30; ++i) text += "  i2 = max i2, i1\n";
  return text + R"(  i0 = sub i0, i1
  branch_if i0, L3
  b0 = input x
  result y = b0 [i2]
  return
}
)";
}

// Evaluation must stop after a number of steps, because a module may loop for
// hours.
TEST(ResultShapesTest, WhatTakesLongIsNotKnown) {
  EXPECT_EQ(Texts(DescribeResults(*Load(LoopOf(1000)))), "[1]");
  EXPECT_EQ(Texts(DescribeResults(*Load(LoopOf(99'999)))), "[?]");
}

// A module may double an expression with every instruction, so the length of
// expressions must be limited.
TEST(ResultShapesTest, ExpressionsStayShort) {
  std::string text = R"(
module "by hand" from "long"
program main<N, "?">(x: f32[N]) -> (y: f32[$1]) {
  i0 = input_dim x, 0
)";
  for (int i = 0; i < 60; ++i) text += "  i0 = mul i0, i0\n";
  text += "  b0 = input x\n  result y = b0 [i0]\n  return\n}\n";
  EXPECT_EQ(Texts(DescribeResults(*Load(text))), "[?]");
  EXPECT_EQ(Texts(*ResultShapes(*Load(text), {{{1}}})), "[1]");
  EXPECT_EQ(ResultShapes(*Load(text), {{{2}}}).status().message(),
            "program main: instruction 6 (mul): expected a number that fits 64 "
            "bits, found overflow or division by zero");
}

// A file may contain one long name and refer to it from a million dims, so it
// must not be copied for each.
TEST(ResultShapesTest, LongNamesAreNotRepeated) {
  const auto text = [](size_t size) {
    return "module \"by hand\" from \"long\"\nprogram main<" +
           std::string(size, 'N') +
           ">(x: f32[$0]) -> (y: f32[$0]) {\n  i0 = input_dim x, 0\n"
           "  b0 = input x\n  result y = b0 [i0]\n  return\n}\n";
  };
  EXPECT_EQ(Texts(DescribeResults(*Load(text(100)))),
            "[" + std::string(100, 'N') + "]");
  EXPECT_EQ(Texts(DescribeResults(*Load(text(101)))), "[?]");
}

}  // namespace
}  // namespace ember::vm

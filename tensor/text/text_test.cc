#include "tensor/text/text.h"

#include <string>

#include "gtest/gtest.h"
#include "tensor/builder/builder.h"

namespace ember::tensor {
namespace {

// Parses the text and prints it again, which must give the same text. So the
// text must be written as Print writes it.
void ExpectRoundTrip(const std::string& text) {
  const StatusOr<Dispatch> parsed = Parse(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message() << "\n" << text;
  EXPECT_EQ(Print(*parsed), text);
  const StatusOr<Dispatch> again = Parse(Print(*parsed));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(*again, *parsed);
}

TEST(TextTest, ConvolutionWithPadBiasAndRelu) {
  ExpectRoundTrip(
      R"(dispatch @conv<H, W>(%x: f32[1, H, W, 64], %w: f32[3, 3, 64, 64], %b: f32[64]) -> (%y: f32[1, H, W, 64]) {
  temp %acc: f32[1, H, W, 64]
  %acc[n, h, w, o] = sum(dh < 3, dw < 3, c < 64) pad(%x[n, h + dh - 1, w + dw - 1, c], 0.0) * %w[dh, dw, c, o]
  %y[n, h, w, o] = max(%acc[n, h, w, o] + %b[o], 0.0)
}
)");
}

TEST(TextTest, RegionStoresOfConcat) {
  ExpectRoundTrip(
      R"(dispatch @concat<N>(%a: f16[N, 64], %b: f16[N, 32]) -> (%y: f16[N, 96]) {
  for (n < N, c < 64) %y[n, c] = %a[n, c]
  for (n < N, c < 32) %y[n, c + 64] = %b[n, c]
}
)");
}

TEST(TextTest, LetsAndSeveralStores) {
  ExpectRoundTrip(
      R"(dispatch @silu(%x: f32[8]) -> (%y: f32[8], %z: f32[8]) {
  for (i < 8) {
    let %t0 = 1.0 / (1.0 + exp(neg(%x[i])))
    %y[i] = %x[i] * %t0
    %z[i] = %t0
  }
}
)");
}

TEST(TextTest, ArgmaxFold) {
  ExpectRoundTrip(
      R"(dispatch @argmax(%x: f32[4, 10]) -> (%values: f32[4], %indices: i64[4]) {
  for (i < 4) fold(k < 10) {
    element %e0: f32 = %x[i, k] from -inf
    element %e1: i64 = k from 0
    next %a0 = select(%a0 < %e0, %e0, %a0)
    next %a1 = select(%a0 < %e0, %e1, %a1)
    %values[i] = %a0
    %indices[i] = %a1
  }
}
)");
}

TEST(TextTest, UpdatesGathersAndHeaderValues) {
  ExpectRoundTrip(
      R"(dispatch @scatter<N, M>(%i: i32[M], %u: f32[M, 4]) -> (%y: f32[2 * N + 1, 4]) {
  %y[r, c] = 0.0
  for (m < M, c < 4) %y[i64(%i[m]), c] += %u[m, c] / f32(N * 3)
  for (m < M, c < 4) %y[m, c] max= minimum(k < 2) %u[m, c + k]
  for (m < M, c < 4) %y[m, c] min= %u[m, c]
  for (m < M, c < 4) %y[m, c] *= prod(k < 2) %u[m, c + k]
}
)");
}

TEST(TextTest, LargeSharedHeaderValuesGetNames) {
  ExpectRoundTrip(
      R"(dispatch @pool<N, %h0 = floordiv(N + 1, 2) * 3 + max(N, 4)>(%x: f32[%h0]) -> (%y: f32[%h0]) {
  %y[i] = %x[i]
}
)");
}

TEST(TextTest, LiteralsOfEveryTypeAreExact) {
  ExpectRoundTrip(
      R"(dispatch @literals() -> (%b: bool[], %f16: f16[], %bf16: bf16[], %f32: f32[], %f64: f64[], %u64: u64[], %i64: i64[]) {
  %b[] = true
  %f16[] = 0.1
  %bf16[] = -0.0
  %f32[] = 1e-07
  %f64[] = 0.1
  %u64[] = 18446744073709551615
  %i64[] = -9223372036854775808
}
)");
  ExpectRoundTrip(
      R"(dispatch @words(%x: f32[], %d: f64[]) -> (%a: bool[], %b: bool[], %c: f32[], %e: f64[], %f: f16[]) {
  %a[] = is_nan(nan)
  %b[] = inf:f64 < -inf
  %c[] = bits(0x7fc00001)
  %e[] = f64(2) + %d[]
  %f[] = f16(%x[]) + bitcast_f16(7:u16)
}
)");
}

TEST(TextTest, EveryFloatOf8BitsIsALiteral) {
  for (const DType type : {DType::kF8E4M3FN, DType::kF8E5M2}) {
    const std::string name(DTypeName(type));
    for (uint64_t bits = 0; bits < 256; ++bits) {
      const std::string text = "dispatch @bits() -> (%y: " + name +
                               "[]) {\n  %y[] = bits(" + std::to_string(bits) +
                               ")\n}\n";
      const StatusOr<Dispatch> once = Parse(text);
      ASSERT_TRUE(once.ok()) << once.status().message();
      const StatusOr<Dispatch> again = Parse(Print(*once));
      ASSERT_TRUE(again.ok()) << again.status().message() << Print(*once);
      EXPECT_EQ(*once, *again) << Print(*once);
    }
  }
  const auto literal = [](const std::string& number) {
    return Parse("dispatch @t() -> (%y: f8e4m3fn[]) { %y[] = " + number + " }")
        .ok();
  };
  EXPECT_TRUE(literal("448.0"));
  EXPECT_TRUE(literal("nan"));
  EXPECT_FALSE(literal("465.0"));
  EXPECT_FALSE(literal("inf"));
}

TEST(TextTest, AxesMayBeCalledLikeInstructions) {
  ExpectRoundTrip(
      R"(dispatch @names<exp>(%x: f32[exp, 4]) -> (%y: f32[exp, 4]) {
  %y[bits, pad] = exp(%x[bits, pad]) + bits(0x7fc00001)
}
)");
}

TEST(TextTest, LiteralsTakeTheTypeAroundThem) {
  const StatusOr<Dispatch> a = Parse(R"(
      dispatch @t(%x: i8[4]) -> (%y: i8[4], %z: bool[4]) {
        %y[i] = select(0 < %x[i], 1, 2 * %x[i])  // all i8
        %z[i] = 0x7f == %x[i]
      })");
  ASSERT_TRUE(a.ok()) << a.status().message();
  for (const Instruction& instruction : a->instructions) {
    if (&instruction - a->instructions.data() < a->header_end) continue;
    if (instruction.opcode == Opcode::kConstant) {
      EXPECT_EQ(instruction.type, DType::kI8);
    }
  }
}

TEST(TextTest, PrecedenceAndParentheses) {
  ExpectRoundTrip(
      R"(dispatch @p(%a: f32[], %b: f32[], %c: f32[]) -> (%x: f32[], %y: f32[], %z: f32[], %w: bool[]) {
  %x[] = %a[] - (%b[] - %c[])
  %y[] = (%a[] + %b[]) * %c[] / (%a[] * %c[])
  %z[] = %a[] + %b[] * %c[] - %a[]
  %w[] = (%a[] < %b[]) == (%b[] <= %c[])
}
)");
}

TEST(TextTest, LongChainsAreCutByNames) {
  DispatchBuilder b("chain");
  const int x = b.AddBuffer("x", DType::kF32, BufferKind::kInput, {b.Index(4)});
  const int y =
      b.AddBuffer("y", DType::kF32, BufferKind::kOutput, {b.Index(4)});
  StageBuilder& s = b.AddStage();
  const Scalar i = s.SpatialAxis("i", b.Index(4));
  Scalar value = s.Load(x, {i});
  for (int n = 0; n < 3000; ++n) value = Unary(Opcode::kSin, value);
  s.Yield(value, y, {{i}});
  const Dispatch dispatch = b.Finish();
  const StatusOr<Dispatch> again = Parse(Print(dispatch));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(*again, dispatch);
}

TEST(TextTest, SharedValuesDoNotExplode) {
  DispatchBuilder b("doubling");
  const int x = b.AddBuffer("x", DType::kF32, BufferKind::kInput, {b.Index(4)});
  const int y =
      b.AddBuffer("y", DType::kF32, BufferKind::kOutput, {b.Index(4)});
  StageBuilder& s = b.AddStage();
  const Scalar i = s.SpatialAxis("i", b.Index(4));
  Scalar value = s.Load(x, {i});
  Scalar n = b.Parameter("N");
  for (int k = 0; k < 100; ++k) value = value + value;
  for (int k = 0; k < 100; ++k) n = Maximum(n, Modulo(n, n));
  s.Yield(value + Cast(n, DType::kF32), y, {{i}});
  const Dispatch dispatch = b.Finish();
  const std::string text = Print(dispatch);
  EXPECT_LT(text.size(), 20000u);
  const StatusOr<Dispatch> again = Parse(text);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(*again, dispatch);
}

// --- errors
// --------------------------------------------------------------------------------------

std::string ErrorOf(const std::string& text) {
  const StatusOr<Dispatch> parsed = Parse(text);
  return parsed.ok() ? "no error" : std::string(parsed.status().message());
}

std::string BodyError(const std::string& body) {
  return ErrorOf(
      "dispatch @t<N>(%x: f32[N, 4], %k: i32[N]) -> (%y: f32[N, 4]) {\n" +
      body + "\n}");
}

TEST(TextTest, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(ErrorOf(""), "1:1: expected 'dispatch', found the end of the text");
  EXPECT_EQ(ErrorOf("dispatch t()"),
            "1:10: expected a dispatch name (@name), found 't'");
  EXPECT_EQ(ErrorOf("dispatch @t(%x: f33[])"),
            "1:17: expected an element type, found 'f33'");
  EXPECT_EQ(ErrorOf("dispatch @t(%x: f32[M])"),
            "1:21: expected a name that is known here, found 'M'");
  EXPECT_EQ(BodyError("  %y[i, j] = %z[i, j]"),
            "2:14: expected a buffer that is declared, found '%z'");
  EXPECT_EQ(BodyError("  %y[i, j] = %x[i]"),
            "2:14: expected 2 indices for %x, found 1");
  EXPECT_EQ(BodyError("  %y[i, j] = %x[i, j] +"),
            "3:1: expected an expression, found '}'");
  EXPECT_EQ(BodyError("  %y[i, j] = %k[i]"),
            "2:14: expected a value of type f32, found i32");
  EXPECT_EQ(BodyError("  %y[i, j] = %x[i, j] + %k[i]"),
            "2:25: expected a value of type f32, found i32");
  EXPECT_EQ(BodyError("  %y[i, j] = foo(%x[i, j])"),
            "2:14: expected an instruction, found 'foo'");
  EXPECT_EQ(BodyError("  %y[i, j] = raw(min(%x[i, j], 2.0))"),
            "2:18: expected no raw instruction here");
  EXPECT_EQ(BodyError("  %y[i, j] = %x[i, 0.5]"),
            "2:20: expected a number of type i64, found '0.5'");
  EXPECT_EQ(BodyError("  %y[i, j] = 300:i8"),
            "2:14: expected a number of type i8, found '300'");
  EXPECT_EQ(BodyError("  %y[i, j] = %x[i, j] %x[i, j]"),
            "3:1: expected '=', '+=', '*=', 'min=' or 'max=', found '}'");
  EXPECT_EQ(BodyError("  %y[i, j] = exp(j)"),
            "2:14: expected other operands for 'exp', found i64");
  EXPECT_EQ(BodyError("  %y[i, i] = 0"),
            "2:9: expected a new name, found 'i' again");
  EXPECT_EQ(BodyError("  for (i < 4) { let %a0 = 1 }"),
            "2:21: expected a name that does not look like a fold value, found "
            "'%a0'");
  EXPECT_EQ(BodyError("  for (i < N) sum() %y[i, 0] = 1"),
            "2:15: expected at least one axis for 'sum'");
}

TEST(TextTest, WhatOnlyTheVerifierSeesIsReportedToo) {
  EXPECT_EQ(BodyError(""), "1:1: dispatch @t: output %y is never stored to");
  EXPECT_EQ(BodyError("  for (i < N, j < 4) %y[i, j] += %x[i, j]"),
            "1:1: dispatch @t: stage 0: store to %y: an update before any "
            "stage stored to it");
}

TEST(TextTest, DeepNestingIsAnErrorNotACrash) {
  EXPECT_NE(
      BodyError("  %y[i, j] = " + std::string(100000, '(')).find("nested"),
      std::string::npos);
  std::string sum = "  %y[i, j] = 1.0";
  for (int i = 0; i < 100000; ++i) sum += " + 1.0";
  EXPECT_NE(BodyError(sum).find("nested"), std::string::npos);
  std::string calls = "  %y[i, j] = ";
  for (int i = 0; i < 100000; ++i) calls += "exp(";
  EXPECT_NE(BodyError(calls).find("nested"), std::string::npos);
}

// Each let uses the one before it, so the last expression is 100000 operations
// deep, which must not exhaust the stack.
TEST(TextTest, LongChainsOfLets) {
  std::string body = "    let %t0 = %x[i, j]\n";
  constexpr int kLets = 100000;
  for (int i = 1; i <= kLets; ++i) {
    body += "    let %t" + std::to_string(i) + " = exp(%t" +
            std::to_string(i - 1) + ")\n";
  }
  const StatusOr<Dispatch> dispatch = Parse(
      "dispatch @t<N>(%x: f32[N, 4]) -> (%y: f32[N, 4]) {\n"
      "  for (i < N, j < 4) {\n" +
      body + "    %y[i, j] = %t" + std::to_string(kLets) + "\n  }\n}\n");
  ASSERT_TRUE(dispatch.ok()) << dispatch.status().message();
  const StatusOr<Dispatch> again = Parse(Print(*dispatch));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(*again, *dispatch);
}

TEST(TextTest, SeveralDispatches) {
  const std::string one = "dispatch @t() -> (%y: f32[]) { %y[] = 1 }\n";
  const auto all = ParseAll(one + "// and\n" + one);
  ASSERT_TRUE(all.ok()) << all.status().message();
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0], (*all)[1]);
  EXPECT_FALSE(Parse(one + one).ok());
}

}  // namespace
}  // namespace ember::tensor

// Tests each rule of legalisation by the text of the expression that it makes.
#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "jit/legalise/formula.h"
#include "jit/legalise/legalise.h"
#include "jit/legalise/target_operations.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"

namespace ember::jit::legalise {
namespace {

// A target with the operations that CPUs commonly have.
constexpr TargetOperations kPlain = {.half_conversions = true,
                                     .narrow_integers = true,
                                     .bool_casts = true,
                                     .signed_remainders = true,
                                     .number_extremes = true,
                                     .rounding_f32 = true,
                                     .rounding_f64 = true};

// Returns the text of the legalised form of `value`, an expression of `type`
// that a nest stores to %y[t]. Lets that the form uses come before it.
std::string Legal(const std::string& type, const std::string& value,
                  const TargetOperations& target = kPlain) {
  StatusOr<loops::LoopNest> nest = loops::Parse(
      R"(loops @t<N>(%b: input bool[9], %i: input i32[9], %u: input u32[9],
          %s: input i8[9], %l: input i64[9], %f: input f32[9], %d: input f64[9],
          %h: input f16[9], %g: input bf16[9], %y: output )" +
      type + "[9]) { phase t < 9 { %y[t] = " + value + " } }");
  EXPECT_TRUE(nest.ok()) << nest.status().message();
  EXPECT_TRUE(loops::Verify(*nest).ok()) << loops::Verify(*nest).message();
  Legalise(target, *nest);
  EXPECT_TRUE(loops::Verify(*nest).ok()) << loops::Verify(*nest).message();
  std::string text = loops::ToText(*nest);
  const std::string begin = "  phase t < 9 {\n    ";
  text = text.substr(text.find(begin) + begin.size());
  std::string result;
  // Keeps only the lines inside the phase, and of the store only its value.
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    at = end + 1;
    line = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (line == "}") break;
    const std::string store = "%y[t] = ";
    if (line.starts_with(store)) line = line.substr(store.size());
    result += (result.empty() ? "" : "\n") + line;
  }
  return result;
}

TEST(RulesTest, WhatIsLegalStays) {
  for (const std::string value :
       {"%f[t] * 2.0 + sqrt(%f[t])", "f32(%h[t])", "f32(%g[t])", "f32(%i[t])",
        "floor(%f[t])", "select(%i[t] < 3, %f[t], 0.0)"})
    EXPECT_EQ(Legal("f32", value), value);
  for (const std::string value : {"floordiv(%l[t], 8) + mod(%l[t], 8)",
                                  "min(%l[t], 3)", "raw(%l[t] / 3)"})
    EXPECT_EQ(Legal("i64", value), value);
}

TEST(RulesTest, Bools) {
  EXPECT_EQ(Legal("bool", "min(%b[t], %i[t] < 2)"), "and(%b[t], %i[t] < 2)");
  EXPECT_EQ(Legal("bool", "%b[t] < (%i[t] < 2)"), "and(not(%b[t]), %i[t] < 2)");
  EXPECT_EQ(Legal("bool", "bool(%f[t])"), "%f[t] != 0.0");
  EXPECT_EQ(Legal("f32", "f32(%b[t])"), "f32(%b[t])");
  EXPECT_EQ(Legal("f32", "f32(%b[t])", {}), "select(%b[t], 1.0, 0.0)");
}

TEST(RulesTest, Signs) {
  EXPECT_EQ(Legal("f32", "sign(%f[t])"),
            "select(0.0 < %f[t], 1.0, select(%f[t] < 0.0, -1.0, %f[t]))");
  EXPECT_EQ(Legal("i32", "sign(%i[t])"),
            "select(%i[t] < 0, -1, i32(0 < %i[t]))");
  EXPECT_EQ(Legal("u32", "abs(%u[t])"), "%u[t]");
}

TEST(RulesTest, Extremes) {
  EXPECT_EQ(Legal("f32", "min(%f[t], %f[0])"),
            "select(is_nan(%f[0]), nan, select(%f[0] < %f[t], %f[0], %f[t]))");
  EXPECT_EQ(Legal("f32", "max(%f[t], 0.0)"), "select(%f[t] < 0.0, 0.0, %f[t])");
  EXPECT_EQ(Legal("f32", "max(0.0, %f[t])"),
            "select(%f[t] <= 0.0, 0.0, %f[t])");
  EXPECT_EQ(Legal("f32", "raw(max(%f[0], %f[t]))"), "raw(max(%f[0], %f[t]))");
  EXPECT_EQ(Legal("f32", "raw(max(%f[0], %f[t]))", {}),
            "select(or(%f[t] < %f[0], is_nan(%f[t])), %f[0], %f[t])");
}

TEST(RulesTest, NarrowIntegers) {
  EXPECT_EQ(Legal("i8", "%s[t] + %s[0]"), "%s[t] + %s[0]");
  EXPECT_EQ(Legal("i8", "%s[t] + %s[0]", {}), "i8(i32(%s[t]) + i32(%s[0]))");
  EXPECT_EQ(Legal("i8", "min(%s[t], %s[0])", {}),
            "raw(i8(min(i32(%s[t]), i32(%s[0]))))");
  EXPECT_EQ(Legal("u8", "bitcast_u8(%s[t])", {}), "u8(%s[t])");
}

TEST(RulesTest, NarrowFloats) {
  EXPECT_EQ(Legal("f16", "%h[t] + %h[0]"), "f16(f32(%h[t]) + f32(%h[0]))");
  EXPECT_EQ(Legal("f16", "%h[t] + %h[0]",
                  {.half_conversions = true, .half_sums = true}),
            "%h[t] + %h[0]");
  EXPECT_EQ(Legal("f16", "floor(%h[t])"), "raw(f16(floor(f32(%h[t]))))");
  EXPECT_EQ(Legal("bool", "%g[t] < 2.0"), "f32(%g[t]) < 2.0");
  EXPECT_EQ(Legal("bf16", "neg(%g[t])"),
            "bitcast_bf16(xor(bitcast_u16(%g[t]), 32768))");
  EXPECT_EQ(Legal("bf16", "neg(%g[t])", {.wide_halves = true}),
            "raw(bf16(neg(f32(%g[t]))))");
}

TEST(RulesTest, NarrowCasts) {
  EXPECT_EQ(Legal("f64", "f64(%h[t])"), "f64(f32(%h[t]))");
  EXPECT_EQ(Legal("f16", "f16(%s[t])"), "f16(f32(%s[t]))");
  EXPECT_EQ(
      Legal("bf16", "bf16(%f[t])"),
      "raw(bf16(bitcast_f32(and(select(is_nan(%f[t]), or(bitcast_u32(%f[t]), "
      "4194304), bitcast_u32(%f[t]) + 32767 + and(raw(shr(bitcast_u32(%f[t]), "
      "16)), 1)), 4294901760))))");
  EXPECT_EQ(Legal("u16", "bitcast_u16(%g[t])", {.wide_halves = true}),
            "raw(u16(raw(shr(bitcast_u32(f32(%g[t])), 16))))");
}

TEST(RulesTest, SaturatingCasts) {
  EXPECT_EQ(Legal("u8", "u8(%f[t])"),
            "raw(u8(raw(i32(raw(min(raw(max(%f[t], 0.0)), 255.0))))))");
  EXPECT_EQ(Legal("i32", "i32(%f[t])"),
            "select(2147483648.0 <= %f[t], 2147483647, select(%f[t] < "
            "-2147483648.0, -2147483648, select(is_nan(%f[t]), 0, "
            "raw(i32(%f[t])))))");
  TargetOperations saturating = kPlain;
  saturating.saturating_casts = true;
  EXPECT_EQ(Legal("i32", "i32(%f[t])", saturating), "i32(%f[t])");
}

TEST(RulesTest, Rounding) {
  TargetOperations without = kPlain;
  without.rounding_f64 = false;
  EXPECT_EQ(Legal("f32", "round(%f[t])", without), "round(%f[t])");
  EXPECT_EQ(
      Legal("f64", "round(%d[t])", without),
      "select(abs(%d[t]) < 4503599627370496.0, "
      "bitcast_f64(or(and(bitcast_u64(abs(%d[t]) + 4503599627370496.0 - "
      "4503599627370496.0), 9223372036854775807), and(bitcast_u64(%d[t]), "
      "9223372036854775808))), %d[t])");
}

TEST(RulesTest, DivisionByWhatIsKnown) {
  EXPECT_EQ(Legal("i64", "t / 3"), "raw(floordiv(t, 3))");
  EXPECT_EQ(Legal("i64", "floordiv(t, 3)"), "raw(floordiv(t, 3))");
  EXPECT_EQ(Legal("i64", "mod(t, 4)"), "raw(mod(t, 4))");
  EXPECT_EQ(Legal("i64", "floordiv(t - 4, 3)"),
            "raw(floordiv(t - 4 + 6, 3)) - 2");
  EXPECT_EQ(Legal("i64", "mod(t - 4, 3)"), "raw(mod(t - 4 + 6, 3))");
  EXPECT_EQ(Legal("i32", "%i[t] / 3"), "raw(%i[t] / 3)");
  EXPECT_EQ(Legal("u32", "%u[t] / 3"), "raw(floordiv(%u[t], 3))");
  EXPECT_EQ(Legal("i32", "rem(%i[t], 3)"), "raw(rem(%i[t], 3))");
  EXPECT_EQ(Legal("i32", "rem(%i[t], 3)", {}), "%i[t] - raw(%i[t] / 3) * 3");
}

TEST(RulesTest, DivisionByAnything) {
  EXPECT_EQ(Legal("u32", "%u[t] / %u[0]"),
            "select(%u[0] == 0, 0, raw(floordiv(%u[t], select(%u[0] == 0, 1, "
            "%u[0]))))");
  EXPECT_EQ(Legal("i64", "mod(%l[t], t + 1)"),
            "let %t0 = raw(rem(%l[t], t + 1))\n"
            "select(%t0 < 0, %t0 + (t + 1), %t0)");
}

TEST(RulesTest, Shifts) {
  EXPECT_EQ(Legal("i32", "shl(%i[t], 3)"), "raw(shl(%i[t], 3))");
  EXPECT_EQ(Legal("i32", "shl(%i[t], 32)"), "0");
  EXPECT_EQ(Legal("i32", "shl(%i[t], i32(mod(t, 8) * 4))"),
            "raw(shl(%i[t], i32(raw(mod(t, 8)) * 4)))");
  EXPECT_EQ(Legal("i32", "shl(%i[t], %i[0])"),
            "select(u32(%i[0]) < 32, raw(shl(%i[t], %i[0])), 0)");
  EXPECT_EQ(Legal("i32", "shr(%i[t], %i[0])"),
            "raw(shr(%i[t], select(u32(%i[0]) < 32, %i[0], 31)))");
}

TEST(RulesTest, AxesOfChangedExtentsAreTheSameEverywhere) {
  StatusOr<loops::LoopNest> nest = loops::Parse(R"(
    loops @t<N>(%x: input f32[N / 3], %y: output f32[N / 3]) {
      phase t < N / 3 { for i < t / 3 + 1 { %y[t] = %x[t] * f32(i) } }
    })");
  ASSERT_TRUE(nest.ok()) << nest.status().message();
  Legalise(kPlain, *nest);
  EXPECT_EQ(
      loops::ToText(*nest),
      R"(loops @t<N>(%x: input f32[raw(N / 3)], %y: output f32[raw(N / 3)]) {
  phase t < raw(N / 3) {
    for i < raw(floordiv(t, 3)) + 1 {
      %y[t] = %x[t] * f32(i)
    }
  }
}
)");
}

TEST(RulesTest, MatrixLoopsStay) {
  const std::string text =
      R"(loops @t(%a: input f16[16, 16], %b: input f16[16, 16], %y: output f16[16, 16]) {
  register %acc: f16[1, 16, 16]
  phase t < 1 {
    subgroup s < 1 {
      matrix m < 16 {
        matrix n < 16 {
          matrix k < 16 {
            %acc[s, m, n] += %a[m, k] * %b[k, n]
          }
        }
      }
    }
  }
}
)";
  StatusOr<loops::LoopNest> nest = loops::Parse(text);
  ASSERT_TRUE(nest.ok()) << nest.status().message();
  TargetOperations with_matrices = kPlain;
  with_matrices.matrix_loops = true;
  Legalise(with_matrices, *nest);
  EXPECT_EQ(loops::ToText(*nest), text);
  Legalise(kPlain, *nest);
  EXPECT_NE(loops::ToText(*nest), text);
}

TEST(RulesTest, FormulasOfUpdates) {
  const Formula sum = MakeFormula(Opcode::kAdd, DType::kF32, kPlain);
  ASSERT_EQ(sum.order.size(), 1u);
  EXPECT_EQ(sum.order[0], sum.result);
  EXPECT_EQ(sum.pool[sum.result].opcode, Opcode::kAdd);
  const Formula half = MakeFormula(Opcode::kAdd, DType::kF16, kPlain);
  // The four nodes are casts of both operands to f32, the sum, and a cast back
  // to f16.
  EXPECT_EQ(half.order.size(), 4u);
}

// Shows that a target's nan_extremes are used for updates only. The
// instructions min and max stay comparisons, because their semantics say which
// of two zeros they return, and the target's instructions do not.
TEST(RulesTest, ExtremesThatNansWin) {
  TargetOperations target = kPlain;
  const auto instructions = [&](Opcode opcode, DType type) {
    return MakeFormula(opcode, type, target).order.size();
  };
  EXPECT_GT(instructions(Opcode::kMaximum, DType::kF32), 1u);
  target.nan_extremes = true;
  EXPECT_EQ(instructions(Opcode::kMaximum, DType::kF32), 1u);
  EXPECT_EQ(instructions(Opcode::kMinimum, DType::kF32), 1u);
  EXPECT_GT(instructions(Opcode::kMaximum, DType::kF64), 1u);
  EXPECT_EQ(instructions(Opcode::kMultiply, DType::kF32), 1u);
  const std::string value = "max(%f[t], %f[8 - t])";
  EXPECT_EQ(Legal("f32", value, target), Legal("f32", value));
}

// Shows that functions are expanded by jit/math, unless the target has them,
// and that a function of f16 is computed in f32 if the target has it for f32.
TEST(RulesTest, Functions) {
  TargetOperations target = kPlain;
  const std::string without = Legal("f32", "exp(%f[t])", target);
  EXPECT_EQ(without.find("exp"), std::string::npos) << without;
  EXPECT_NE(without.find("bitcast_f32"), std::string::npos) << without;
  EXPECT_EQ(Legal("f64", "tanh(%d[t])", target).find("tanh"),
            std::string::npos);
  target.exponentials = true;
  EXPECT_EQ(Legal("f32", "exp(%f[t])", target), "exp(%f[t])");
  EXPECT_EQ(Legal("f16", "exp(%h[t])", target), "f16(exp(f32(%h[t])))");
  for (const std::string other : {"exp(%d[t])", "expm1(%d[t])"}) {
    EXPECT_EQ(Legal("f64", other, target).find("exp"), std::string::npos)
        << other;
  }
}

}  // namespace
}  // namespace ember::jit::legalise

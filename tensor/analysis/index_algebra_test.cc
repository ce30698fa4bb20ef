#include "tensor/analysis/index_algebra.h"

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "tensor/range_rules.h"
#include "tensor/scalar.h"
#include "tensor/testing/random_dispatch.h"
#include "tensor/text/text.h"

namespace ember::tensor {
namespace {

// A dispatch "for (i < 8, j < 64, n < N, m < M) %y[0, 0, 0, 0] = %x[index]"
// with the index that a test passes, and the analysis of its stage.
struct Case {
  Dispatch dispatch;
  std::optional<ConcreteHeader> header;
  std::optional<StageAnalysis> analysis;
  const Instruction* load = nullptr;

  Case(const std::string& index, int64_t n, int64_t m, int64_t size = 1000) {
    StatusOr<Dispatch> parsed = Parse(
        "dispatch @t<N, M, X>(%x: f32[X], %k: i32[1]) -> (%y: f32[N, M, X, 1]) "
        "{\n"
        "  for (i < 8, j < 64, n < N, m < M) %y[0, 0, 0, 0] = %x[" +
        index + "]\n}");
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    dispatch = *std::move(parsed);
    StatusOr<ConcreteHeader> evaluated =
        ConcreteHeader::Evaluate(dispatch, std::vector<int64_t>{n, m, size});
    EXPECT_TRUE(evaluated.ok()) << evaluated.status().message();
    header = *std::move(evaluated);
    analysis.emplace(dispatch, dispatch.stages[0], *header);
    for (const Instruction& instruction : dispatch.instructions) {
      if (instruction.opcode == Opcode::kLoad && instruction.a == 0)
        load = &instruction;
    }
  }
  Register index() const { return dispatch.operands[load->b]; }
};

// Returns the affine form of the index as a text such as "2*i + j + 1 + 3*?",
// with '?' for opaque terms.
std::string FormOf(const Case& c) {
  const std::optional<AffineForm> form = c.analysis->ToAffine(c.index());
  if (!form) return "none";
  std::string text;
  for (int64_t coefficient : form->coefficients)
    text += std::to_string(coefficient) + " ";
  text += "+ " + std::to_string(form->constant);
  for (const AffineForm::Opaque& term : form->opaque) {
    text += " + " + std::to_string(term.coefficient) + "*[" +
            std::to_string(term.range.low) + ".." +
            std::to_string(term.range.high) + "]";
  }
  return text;
}

TEST(IndexAlgebraTest, AffineForms) {
  EXPECT_EQ(FormOf(Case("i * 64 + j", 4, 5)), "64 1 0 0 + 0");
  EXPECT_EQ(FormOf(Case("7 - i + n * M", 4, 5)), "-1 0 5 0 + 7");
  EXPECT_EQ(FormOf(Case("N * M - 1", 4, 5)), "0 0 0 0 + 19");
  EXPECT_EQ(FormOf(Case("(i + 1) * (N - 2)", 4, 5)), "2 0 0 0 + 2");
  EXPECT_EQ(FormOf(Case("neg(j)", 4, 5)), "0 -1 0 0 + 0");
}

TEST(IndexAlgebraTest, DivisionDissolvesOnceExtentsAreKnown) {
  EXPECT_EQ(FormOf(Case("floordiv(n * M + m, M)", 4, 5)), "0 0 1 0 + 0");
  EXPECT_EQ(FormOf(Case("mod(n * M + m, M)", 4, 5)), "0 0 0 1 + 0");
  EXPECT_EQ(FormOf(Case("floordiv(j, 64)", 4, 5)), "0 0 0 0 + 0");
  EXPECT_EQ(FormOf(Case("mod(j - 64, 64)", 4, 5)), "0 1 0 0 + 0");
}

TEST(IndexAlgebraTest, OtherValuesAreOpaqueWithRanges) {
  EXPECT_EQ(FormOf(Case("floordiv(j, 8) * 3 + i", 4, 5)),
            "1 0 0 0 + 0 + 3*[0..7]");
  EXPECT_EQ(FormOf(Case("min(j, 10) + 1", 4, 5)), "0 0 0 0 + 1 + 1*[0..10]");
  EXPECT_EQ(FormOf(Case("i64(%k[0])", 4, 5)),
            "0 0 0 0 + 0 + 1*[-2147483648..2147483647]");
  EXPECT_EQ(FormOf(Case("min(max(i64(%k[0]), 0), X - 1)", 4, 5, 9)),
            "0 0 0 0 + 0 + 1*[0..8]");
  EXPECT_EQ(FormOf(Case("i * j", 4, 5)), "0 0 0 0 + 0 + 1*[0..441]");
}

TEST(IndexAlgebraTest, Bounds) {
  const auto in_bounds = [](const std::string& index, int64_t size) {
    const Case c(index, 4, 5, size);
    return c.analysis->InBounds(*c.load);
  };
  EXPECT_TRUE(in_bounds("i * 64 + j", 512));
  EXPECT_FALSE(in_bounds("i * 64 + j", 511));
  EXPECT_FALSE(in_bounds("i * 64 + j - 1", 512));
  EXPECT_TRUE(in_bounds("mod(i * 1000 + j, X)", 3));
  EXPECT_TRUE(in_bounds("i - i + j",
                        // The affine form of the index is j, whose range fits.
                        // Adding up the ranges of i, -i and j would give a
                        // range that is too wide.
                        64));
  EXPECT_TRUE(in_bounds("min(max(i64(%k[0]), 0), X - 1)", 9));
  EXPECT_FALSE(in_bounds("i64(%k[0])", 1000));
  EXPECT_FALSE(in_bounds("0", 0));
}

TEST(IndexAlgebraTest, HugeCoefficientsAreNotTrusted) {
  const Case c("i * 9223372036854775807 + j", 4, 5);
  EXPECT_FALSE(c.analysis->InBounds(*c.load));
  const std::optional<AffineForm> form = c.analysis->ToAffine(c.index());
  ASSERT_TRUE(form.has_value());
  EXPECT_FALSE(form->IsAffine());
}

TEST(IndexAlgebraTest, SharedSubexpressionsStayCheap) {
  std::string text =
      "dispatch @t(%x: f32[9]) -> (%y: f32[]) {\n  for (i < 1) {\n";
  text += "    let %t0 = i + 1\n";
  for (int n = 1; n < 60; ++n) {
    const std::string last = "%t" + std::to_string(n - 1);
    text += "    let %t" + std::to_string(n) + " = min(" + last + ", 5) + " +
            last + "\n";
  }
  text += "    %y[] = %x[mod(%t59, 9)]\n  }\n}";
  const StatusOr<Dispatch> dispatch = Parse(text);
  ASSERT_TRUE(dispatch.ok()) << dispatch.status().message();
  const StatusOr<ConcreteHeader> header =
      ConcreteHeader::Evaluate(*dispatch, {});
  ASSERT_TRUE(header.ok());
  const StageAnalysis analysis(*dispatch, dispatch->stages[0], *header);
  EXPECT_TRUE(analysis.ToAffine(dispatch->operands[0]).has_value());
}

// --- comparison with evaluation
// ------------------------------------------------------------------

// Computes the stage's integer registers at a point, to compare them with forms
// and ranges. Values that depend on loads or folds are nullopt.
std::vector<std::optional<uint64_t>> ValuesAt(
    const Dispatch& dispatch, const Stage& stage, const ConcreteHeader& header,
    const std::vector<int64_t>& point) {
  std::vector<std::optional<uint64_t>> values(stage.end);
  for (Register reg = 0; reg < dispatch.header_end; ++reg)
    values[reg] = header.bits(reg);
  for (Register reg = stage.begin; reg < stage.end; ++reg) {
    const Instruction& i = dispatch.instructions[reg];
    const int count = RegisterOperandCount(i.opcode);
    if (i.opcode == Opcode::kConstant) values[reg] = i.immediate;
    if (i.opcode == Opcode::kAxis)
      values[reg] = static_cast<uint64_t>(point[i.immediate]);
    if (count == 0) continue;
    if (!values[i.a] || (count > 1 && !values[i.b]) ||
        (count > 2 && !values[i.c]))
      continue;
    values[reg] =
        EvaluateScalar(i.opcode, dispatch.instructions[i.a].type, i.type,
                       {*values[i.a], count > 1 ? *values[i.b] : 0,
                        count > 2 ? *values[i.c] : 0});
  }
  return values;
}

TEST(IndexAlgebraTest, RangesAndFormsHoldAtEveryPoint) {
  const SeedRange seeds = TestSeeds(300, 0);
  int checked = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomCase c = MakeRandomCase(seed, {.simplify = false});
    SCOPED_TRACE("replay: EMBER_SEED=" + std::to_string(seed) +
                 " bazel run //tensor/analysis:index_algebra_test\n" +
                 Print(c.dispatch));
    const StatusOr<ConcreteHeader> header =
        ConcreteHeader::Evaluate(c.dispatch, c.parameters);
    ASSERT_TRUE(header.ok());
    std::mt19937_64 random(seed);
    for (const Stage& stage : c.dispatch.stages) {
      const StageAnalysis analysis(c.dispatch, stage, *header);
      for (int sample = 0; sample < 10; ++sample) {
        std::vector<int64_t> point;
        bool empty = false;
        for (int64_t extent : analysis.axis_extents()) {
          empty = empty || extent == 0;
          point.push_back(
              extent == 0 ? 0 : static_cast<int64_t>(random() % extent));
        }
        if (empty) break;
        const auto values = ValuesAt(c.dispatch, stage, *header, point);
        for (Register reg = stage.begin; reg < stage.end; ++reg) {
          const DType type = c.dispatch.instructions[reg].type;
          if (!values[reg] || IsFloat(type) || type == DType::kU64) continue;
          const int64_t value = BitsToInteger(*values[reg], type);
          ASSERT_TRUE(analysis.RangeOf(reg).Contains(value))
              << "register " << reg << " " << value;
          const std::optional<AffineForm> form = analysis.ToAffine(reg);
          if (!form) continue;
          int64_t sum = form->constant;
          bool known = true;
          for (size_t i = 0; i < point.size(); ++i)
            sum += form->coefficients[i] * point[i];
          for (const AffineForm::Opaque& term : form->opaque) {
            known = known && values[term.reg].has_value();
            if (known)
              sum += term.coefficient * static_cast<int64_t>(*values[term.reg]);
          }
          if (!known) continue;
          ASSERT_EQ(sum, value) << "register " << reg;
          ASSERT_TRUE(analysis.RangeOf(*form).Contains(value));
          ++checked;
        }
      }
    }
  }
  if (!seeds.is_replay) {
    EXPECT_GT(checked, 10000);
  }
}

// For pairs of small values, the result of each instruction must lie in the
// range that the range rules give.
TEST(RangeRulesTest, ContainEveryResult) {
  const Opcode opcodes[] = {
      Opcode::kAdd,       Opcode::kSubtract,    Opcode::kMultiply,
      Opcode::kDivide,    Opcode::kFloorDivide, Opcode::kModulo,
      Opcode::kRemainder, Opcode::kMinimum,     Opcode::kMaximum,
      Opcode::kAnd,       Opcode::kOr,          Opcode::kXor,
      Opcode::kShiftLeft, Opcode::kShiftRight,  Opcode::kPower};
  const int64_t starts[] = {-128, -7, -2, 0, 1, 3, 100};
  for (const Opcode opcode : opcodes) {
    for (const DType type : {DType::kI8, DType::kU8, DType::kI64}) {
      for (const int64_t a0 : starts) {
        for (const int64_t b0 : starts) {
          const Interval all = RangeOfType(type);
          const Interval a{a0, a0 + 9}, b{b0, b0 + 5};
          if (!a.Within(all) || !b.Within(all)) continue;
          const Interval range =
              RangeOfResult(opcode, type, type, a, b, Interval::Full());
          for (int64_t x = a.low; x <= a.high; ++x) {
            for (int64_t y = b.low; y <= b.high; ++y) {
              const uint64_t bits = EvaluateScalar(
                  opcode, type, type,
                  {IntegerToBits(x, type), IntegerToBits(y, type), 0});
              ASSERT_TRUE(range.Contains(BitsToInteger(bits, type)))
                  << InfoOf(opcode).text << " " << DTypeName(type) << " " << x
                  << " " << y;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ember::tensor

// Tests that a legalised nest computes the same bits as the original one, by
// running both in the evaluator: every instruction on every type, and random
// nests, for targets with random sets of operations.
//
// EMBER_SEED=n replays one seed; EMBER_SEEDS=n tries that many.
#include <cstdint>
#include <string>
#include <vector>

#include "base/concat.h"
#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "jit/legalise/legalise.h"
#include "jit/legalise/target_operations.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/testing/arithmetic_cases.h"
#include "jit/loops/testing/random_nest.h"
#include "jit/loops/text/text.h"
#include "tensor/scalar.h"
#include "tensor/testing/random_values.h"

namespace ember::jit::legalise {
namespace {

using loops::ArithmeticCase;
using loops::LoopNest;
using tensor::InstructionGroup;

// Number of bits of `flags`. Each bit is an operation that a target may have.
constexpr int kFlags = 11;
TargetOperations WithFlags(unsigned flags) {
  const auto has = [&](int flag) { return (flags >> flag & 1) != 0; };
  TargetOperations target;
  target.half_conversions = has(0);
  target.half_sums = has(1);
  target.wide_halves = has(2);
  target.narrow_integers = has(3);
  target.bool_casts = has(4);
  target.signed_remainders = has(5);
  target.saturating_casts = has(6);
  target.number_extremes = has(7);
  target.rounding_f32 = has(8);
  target.rounding_f64 = has(9);
  target.cheap_doubles = has(10);
  return target;
}

LoopNest Legal(const LoopNest& nest, const TargetOperations& target) {
  LoopNest legal = nest;
  Legalise(target, legal);
  return legal;
}

// --- random nests

TEST(LegaliseRandomTest, NestsComputeTheSame) {
  const SeedRange seeds = TestSeeds(200, 0);
  int evaluated = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const loops::RandomNest random = loops::MakeRandomNest(
        seed, {.float_remainders = seed % 2 == 0, .simplify = seed % 3 != 0});
    tensor::RandomChoices choices(seed);
    const auto flags = static_cast<unsigned>(choices.Below(1 << kFlags));
    const TargetOperations target = WithFlags(flags);
    const LoopNest legal = Legal(random.nest, target);
    const std::string replay =
        Concat({"replay: EMBER_SEED=", seed,
                " bazel run //jit/legalise:random_test, target ", flags, "\n",
                ToText(random.nest), ToText(legal)});
    // The text of the legalised nest must parse to the same nest, and
    // legalising it again must change nothing.
    const StatusOr<LoopNest> parsed = loops::Parse(ToText(legal));
    ASSERT_TRUE(parsed.ok()) << parsed.status().message() << "\n" << replay;
    ASSERT_EQ(ToText(*parsed), ToText(legal)) << replay;
    ASSERT_EQ(ToText(Legal(legal, target)), ToText(legal)) << replay;
    auto expected = random.MakeBuffers(), actual = random.MakeBuffers();
    const Status status = loops::Evaluate(random.nest, random.parameters,
                                          tensor::Pointers(expected));
    ASSERT_EQ(
        loops::Evaluate(legal, random.parameters, tensor::Pointers(actual))
            .message(),
        status.message())
        << replay;
    if (!status.ok()) continue;
    ++evaluated;
    ASSERT_EQ(FirstDifference(random, expected, actual), "") << replay;
  }
  EXPECT_GE(evaluated * 2, static_cast<int>(seeds.end - seeds.begin));
}

// --- every instruction

// Returns a nest that stores the case's expression of %a[i], %b[i] and %c[i] to
// %y[i].
LoopNest NestOf(const ArithmeticCase& test, size_t count) {
  const auto buffer = [&](const char* name, const char* scope, DType type) {
    return Concat(
        {"%", name, ": ", scope, " ", DTypeName(type), "[", count, "]"});
  };
  const StatusOr<LoopNest> nest = loops::Parse(
      Concat({"loops @test(", buffer("a", "input", test.a), ", ",
              buffer("b", "input", test.b), ", ", buffer("c", "input", test.c),
              ", ", buffer("y", "output", test.result), ") { phase i < ", count,
              " { %y[i] = ", test.ExpressionAt("i"), " } }"}));
  EXPECT_TRUE(nest.ok()) << nest.status().message();
  return *nest;
}

// If the bits are a signalling NaN of f16, returns the quiet NaN that an
// instruction may return instead.
uint64_t Quiet(DType operand, uint64_t bits) {
  const bool is_nan = operand == DType::kF16 && (bits & 0x7fff) > 0x7c00;
  return is_nan ? bits | 0x200 : bits;
}

bool IsSame(const ArithmeticCase& test, uint64_t a, uint64_t b) {
  const DType type = test.result;
  if (a == b || Quiet(test.a, a) == b) return true;
  if (!IsFloat(type)) return false;
  const double x = tensor::BitsToDouble(a, type),
               y = tensor::BitsToDouble(b, type);
  return x == y || (x != x && y != y);
}

void ExpectCase(const ArithmeticCase& test, const TargetOperations& target) {
  const std::vector<uint64_t>&as = loops::BitPatterns(test.a),
        &bs = loops::BitPatterns(test.b);
  const size_t count = as.size() * bs.size();
  const LoopNest legal = Legal(NestOf(test, count), target);
  std::vector<std::vector<uint64_t>> buffers(4, std::vector<uint64_t>(count));
  std::vector<void*> pointers;
  for (std::vector<uint64_t>& buffer : buffers)
    pointers.push_back(buffer.data());
  const auto at = [&](size_t buffer, size_t i) {
    return tensor::LoadElement(pointers[buffer], static_cast<int64_t>(i),
                               legal.buffers[buffer].type);
  };
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits[] = {as[i % as.size()], bs[i / as.size()], i % 2};
    for (size_t buffer = 0; buffer < 3; ++buffer) {
      tensor::StoreElement(pointers[buffer], static_cast<int64_t>(i),
                           legal.buffers[buffer].type, bits[buffer]);
    }
  }
  const Status status = loops::Evaluate(legal, {}, pointers);
  ASSERT_TRUE(status.ok()) << status.message() << "\n" << ToText(legal);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t expected = test.expected(at(0, i), at(1, i), at(2, i));
    ASSERT_TRUE(IsSame(test, expected, at(3, i)))
        << test.expression << " of " << DTypeName(test.a) << std::hex
        << ": a = " << at(0, i) << ", b = " << at(1, i) << ": expected "
        << expected << ", found " << at(3, i) << "\n"
        << ToText(legal);
  }
}

std::vector<ArithmeticCase> AllCases() {
  std::vector<ArithmeticCase> all;
  for (const std::vector<ArithmeticCase>& cases :
       {loops::RowCases(InstructionGroup::kUnary),
        loops::RowCases(InstructionGroup::kClassify),
        loops::RowCases(InstructionGroup::kBinary),
        loops::RowCases(InstructionGroup::kCompare), loops::CastCases(),
        loops::BitcastCases(), loops::SelectCases(),
        loops::ConstantDivisionCases(), loops::ConstantExtremeCases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

class LegaliseCasesTest : public ::testing::TestWithParam<unsigned> {};

TEST_P(LegaliseCasesTest, ComputeTheSame) {
  for (const ArithmeticCase& test : AllCases()) {
    ExpectCase(test, WithFlags(GetParam()));
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Targets, LegaliseCasesTest,
    ::testing::Values(0u, (1u << kFlags) - 1,
                      // a target that has only wide_halves
                      1u << 2,
                      // a target with wide_halves and cheap_doubles, and one
                      // with narrow_integers, bool_casts and cheap_doubles
                      1u << 2 | 1u << 10, 1u << 3 | 1u << 4 | 1u << 10));

}  // namespace
}  // namespace ember::jit::legalise

// Tests that every back end computes the same as the evaluator of loop nests,
// bit for bit: each arithmetic row on each type, products of matrices in every
// layout, random nests. There is a test for each row of nest_back_ends.cc.
//
//   bazel-bin/tests/nests/conformance_test --gtest_filter='*/spirv'
//
// EMBER_SEEDS=1000 draws more random nests, EMBER_SEED=N draws one again.
// README.md says how to check other processors and devices.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "base/concat.h"
#include "base/testing/say_if_killed.h"
#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "jit/gpu/testing/run_nest.h"
#include "jit/llvm/testing/run_counts.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/testing/arithmetic_cases.h"
#include "jit/loops/testing/matrix_nests.h"
#include "jit/loops/testing/random_nest.h"
#include "jit/loops/text/text.h"
#include "jit/target/matrix_instructions.h"
#include "tensor/instructions.h"
#include "tensor/testing/random_values.h"
#include "tests/cases/elements.h"
#include "tests/nests/arithmetic_nest.h"
#include "tests/nests/nest_back_end.h"

namespace ember::nests {
namespace {

using loops::ArithmeticCase;
using loops::MatrixType;
using tensor::InstructionGroup;

class Nests : public ::testing::TestWithParam<const NestBackEnd*> {
 protected:
  const NestBackEnd& back_end() const { return *GetParam(); }

  void SetUp() override {
    const std::string missing = back_end().missing();
    if (!missing.empty()) GTEST_SKIP() << missing;
  }

  void TearDown() override {
    if (counts_.run == 0) return;
    counts_.Print(Concat({back_end().name, " on ", back_end().machine()}),
                  what_);
  }

  // Sets the name under which the test prints its counts.
  void Name(std::string what) { what_ = std::move(what); }

  // Runs a nest and expects the evaluator's results. The back end may not
  // decline.
  void Run(const loops::LoopNest& nest, const std::vector<int64_t>& parameters,
           const Contents& before) {
    Contents expected = before, actual = before;
    const Status wanted =
        loops::Evaluate(nest, parameters, tensor::Pointers(expected));
    const Status found = back_end().run(nest, parameters, actual);
    if (!back_end().has_f64 && LacksType(found)) {
      counts_.Refuse(found.message());
      return;
    }
    ++counts_.run;
    const std::string wrong = Difference(nest, wanted, expected, found, actual);
    counts_.wrong += !wrong.empty();
    EXPECT_EQ(wrong, "") << loops::ToText(nest);
    failed_checks_ += !wanted.ok();
  }

  static bool LacksType(const Status& status) {
    return status.code() == StatusCode::kUnimplemented &&
           status.message().find("device-type") != std::string_view::npos;
  }

  // Returns the arithmetic cases that are run: all with EMBER_TEST_ALL_CASES,
  // otherwise one in `case_share`.
  std::vector<ArithmeticCase> CasesOf(
      const std::vector<ArithmeticCase>& all) const {
    const size_t share = std::getenv("EMBER_TEST_ALL_CASES") == nullptr
                             ? back_end().case_share
                             : 1;
    const auto has_type = [&](DType type) {
      if (type == DType::kF64) return back_end().has_f64;
      return back_end().has_wide_integers || IsFloat(type) ||
             DTypeByteSize(type) < 8;
    };
    std::vector<ArithmeticCase> cases;
    for (size_t i = 0; i < all.size(); ++i) {
      const DType types[] = {all[i].a, all[i].b, all[i].c, all[i].result};
      if (i % share == 0 && std::ranges::all_of(types, has_type))
        cases.push_back(all[i]);
    }
    if (cases.size() < all.size()) {
      std::printf(
          "NOT RUN: %s: %zu of %zu cases%s\n",
          std::string(back_end().name).c_str(), all.size() - cases.size(),
          all.size(),
          share > 1 ? "; EMBER_TEST_ALL_CASES=1 runs them" : ", of 64 bits");
    }
    return cases;
  }

  void RunCases(const std::vector<ArithmeticCase>& all) {
    const std::vector<ArithmeticCase> cases = CasesOf(all);
    if (cases.empty() && !back_end().has_wide_integers)
      GTEST_SKIP() << "all cases are of 64 bits";
    ASSERT_FALSE(cases.empty());
    const size_t step = back_end().cases_at_once;
    for (size_t begin = 0; begin < cases.size(); begin += step) {
      ArithmeticNest test = MakeArithmeticNest(
          std::span(cases).subspan(begin, std::min(step, cases.size() - begin)),
          back_end());
      const Status status = back_end().run(test.nest, {}, test.buffers);
      ++counts_.run;
      ASSERT_TRUE(status.ok()) << status.ToString() << "\n"
                               << loops::ToText(test.nest);
      ASSERT_EQ(WrongResult(test, back_end()), "");
    }
  }

  // Runs the nest for each product of matrices that the back end supports. If
  // it supports any at all, at least one product must run for each combination
  // of types that tensor cores have.
  void RunProducts(loops::MatrixNest form);

  int failed_checks() const { return failed_checks_; }

 private:
  std::string Difference(const loops::LoopNest& nest, const Status& wanted,
                         const Contents& expected, const Status& found,
                         const Contents& actual) const {
    const bool is_same_error =
        wanted.code() == found.code() &&
        (back_end().is_device || wanted.message() == found.message());
    if (!is_same_error) {
      return Concat(
          {"expected ", wanted.ToString(), ", found ", found.ToString()});
    }
    if (!wanted.ok()) return "";
    for (size_t i = 0; i < expected.size(); ++i) {
      const DType type = nest.buffers[i].type;
      const std::string difference = cases::FirstDifference(
          type, expected[i], actual[i],
          {.zeros_are_equal = back_end().is_device,
           .subnormals_may_be_zero = !back_end().keeps_subnormals(type)});
      if (!difference.empty())
        return Concat({"%", nest.buffers[i].name, ": ", difference});
    }
    return "";
  }

  std::string what_ = "nests";
  jit::llvm_ir::RunCounts counts_;
  int failed_checks_ = 0;
};

TEST_P(Nests, Unary) { RunCases(loops::RowCases(InstructionGroup::kUnary)); }
TEST_P(Nests, Classify) {
  RunCases(loops::RowCases(InstructionGroup::kClassify));
}
TEST_P(Nests, Binary) { RunCases(loops::RowCases(InstructionGroup::kBinary)); }
TEST_P(Nests, Compare) {
  RunCases(loops::RowCases(InstructionGroup::kCompare));
}
TEST_P(Nests, Casts) { RunCases(loops::CastCases()); }
TEST_P(Nests, Bitcasts) { RunCases(loops::BitcastCases()); }
TEST_P(Nests, Selects) { RunCases(loops::SelectCases()); }
TEST_P(Nests, DivisionByConstants) { RunCases(loops::ConstantDivisionCases()); }
TEST_P(Nests, ExtremesWithConstants) {
  RunCases(loops::ConstantExtremeCases());
}

// --- products of matrices

bool has_typesOf(const std::vector<MatrixType>& all, const MatrixType& type) {
  return std::ranges::any_of(all, [&](const MatrixType& other) {
    return other.a == type.a && other.b == type.b && other.sum == type.sum;
  });
}

void Nests::RunProducts(loops::MatrixNest form) {
  Name("products of matrices");
  std::vector<MatrixType> types;
  if (const auto own = back_end().matrices()) {
    types = *own;
  } else {
    for (const jit::MatrixInstruction& row : jit::MatrixInstructions()) {
      if (!has_typesOf(types, row.type)) types.push_back(row.type);
    }
  }
  if (types.empty()) {
    // ./dev ci sets EMBER_TEST_MATRICES if the back end must support products
    // of matrices.
    ASSERT_EQ(std::getenv("EMBER_TEST_MATRICES"), nullptr);
    GTEST_SKIP() << back_end().machine() << " multiplies no matrices";
  }
  for (const MatrixType& type : types) {
    if (form == loops::MatrixNest::kSumsThatWrap && type.sum != DType::kI32)
      continue;
    SCOPED_TRACE(loops::ToText(type));
    const loops::LoopNest nest =
        jit::gpu::ParseOrDie(loops::TextOf(form, type));
    Run(nest, {}, jit::gpu::SmallContents(nest, {}));
  }
}

TEST_P(Nests, MatricesFromDeviceMemory) {
  RunProducts(loops::MatrixNest::kFromDeviceMemory);
}
TEST_P(Nests, MatricesByColumns) { RunProducts(loops::MatrixNest::kByColumns); }
TEST_P(Nests, MatricesByColumnsFromSharedMemory) {
  RunProducts(loops::MatrixNest::kByColumnsFromSharedMemory);
}
TEST_P(Nests, MatricesFromSharedMemory) {
  RunProducts(loops::MatrixNest::kFromSharedMemory);
}
TEST_P(Nests, MatricesOfVectors) { RunProducts(loops::MatrixNest::kOfVectors); }
TEST_P(Nests, MatricesInOnePhase) {
  RunProducts(loops::MatrixNest::kInOnePhase);
}

TEST_P(Nests, MatricesWhoseSumsWrap) {
  RunProducts(loops::MatrixNest::kSumsThatWrap);
}

// --- random nests

TEST_P(Nests, RandomNests) {
  const SeedRange seeds = TestSeeds(back_end().random_nests, 0);
  Name(Concat({"random nests, seeds ", seeds.begin, "..", seeds.end - 1}));
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const std::string replay =
        Concat({"replay: EMBER_SEED=", seed,
                (" bazel-bin/tests/nests/conformance_test "
                 "--gtest_filter='*RandomNests/"),
                back_end().name, "'\n"});
    SayIfKilled(replay);
    SCOPED_TRACE(replay);
    const loops::RandomNest random = loops::MakeRandomNest(
        seed, {.float_remainders = false,
               .bits_as_floats = back_end().keeps_subnormals(DType::kF32),
               .simplify = seed % 2 == 0,
               .matrices = back_end().matrices()});
    Run(random.nest, random.parameters, random.MakeBuffers());
    if (::testing::Test::HasFailure()) return;
  }
  std::printf("%d with a failed check\n", failed_checks());
}

std::vector<const NestBackEnd*> Rows() {
  std::vector<const NestBackEnd*> rows;
  for (const NestBackEnd& back_end : NestBackEnds()) rows.push_back(&back_end);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(All, Nests, ::testing::ValuesIn(Rows()),
                         [](const auto& info) {
                           return std::string(info.param->name);
                         });

}  // namespace
}  // namespace ember::nests

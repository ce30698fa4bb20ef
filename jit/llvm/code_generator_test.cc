// Tests the text of the LLVM IR that is generated for nests. tests/cases/nests
// tests what such code computes.
#include <string>

#include "gtest/gtest.h"
#include "jit/llvm/testing/run_nest.h"
#include "jit/loops/testing/text_template.h"

namespace ember::jit::llvm_ir {
namespace {

using loops::Replaced;

// Shows that each gather is widened or completed so that every part of it has
// addresses: LLVM 19 may emit a gather that traps for a part without them.
TEST(CodeGeneratorTest, AllLanesOfGathersHaveAddresses) {
  const auto ir = [](const char* lanes, const char* condition) {
    const std::string text =
        Replaced(Replaced(R"(loops @gather(%x: input i32[8],
        %k: input i64[W], %y: output i32[W]) {
      phase t < 1 {
        vector l < W {
          %y[l] = 7
          if C { %y[l] = %x[mod(%k[l], 8)] }
        }
      }
    })",
                          "W", lanes),
                 "C", condition);
    return CompileOrDie(ParseOrDie(text), {.keep_llvm = true})->llvm;
  };
  const std::string odd = ir("20", "l < 20");
  EXPECT_NE(odd.find("call <32 x i32> @llvm.masked.gather"), std::string::npos)
      << odd;
  EXPECT_EQ(odd.find("call <20 x i32> @llvm.masked.gather"), std::string::npos)
      << odd;
  const std::string masked = ir("16", "or(l == 2, l == 5)");
  EXPECT_NE(masked.find("@inactive"), std::string::npos) << masked;
  EXPECT_EQ(ir("16", "l < 16").find("@inactive"), std::string::npos);
}

// Shows that lanes that are two elements apart are loaded as contiguous vectors
// instead of a gather, and that lanes nine elements apart are not. (Stores
// remain scatters on machines without mask registers.)
TEST(CodeGeneratorTest, NarrowStridesAreNoGathers) {
  const auto ir = [](const char* stride) {
    return CompileOrDie(ParseOrDie(Replaced(R"(loops @apart(
        %x: input f32[16, S], %y: output f32[16, S]) {
      phase t < 1 {
        vector l < 16 { %y[l, 1] = pad(%x[l - 1, 1], 0.0) }
      }
    })",
                                            "S", stride)),
                        {.keep_llvm = true})
        ->llvm;
  };
  EXPECT_EQ(ir("2").find("masked.gather"), std::string::npos) << ir("2");
  EXPECT_NE(ir("9").find("masked.gather"), std::string::npos) << ir("9");
}

// %t floordiv 3 and %t mod 3 are the two indices of rows of 3 elements, which
// are contiguous in memory. The test shows that the address is computed as %t
// again, without divisions.
TEST(CodeGeneratorTest, DigitsOfLanesAreNotDivided) {
  const std::string copy = CompileOrDie(ParseOrDie(R"(loops @copy(
      %x: input f32[320, 3], %y: output f32[321, 3]) {
    phase b < 60 {
      vector l < 16 {
        let %t = b * 16 + l
        %y[floordiv(%t, 3), mod(%t, 3)] =
          pad(%x[floordiv(%t, 3) - 1, mod(%t, 3)], 0.0)
      }
    }
  })"),
                                        {.keep_llvm = true})
                               ->llvm;
  for (const char* slow : {"div ", "rem ", "gather", "scatter"})
    EXPECT_EQ(copy.find(slow), std::string::npos) << copy;
}

// Shows that transcendental functions become polynomials: kernels call no
// library, and CPUs have no instructions for these functions.
TEST(CodeGeneratorTest, FunctionsAreExpanded) {
  const std::string ir =
      CompileOrDie(ParseOrDie(R"(loops @f(%x: input f32[4], %y: output f32[4]) {
        phase i < 4 { %y[i] = exp(%x[i]) }
      })"),
                   {.keep_llvm = true})
          ->llvm;
  EXPECT_EQ(ir.find("@llvm.exp"), std::string::npos) << ir;
  EXPECT_NE(ir.find("fmul"), std::string::npos) << ir;
}

}  // namespace
}  // namespace ember::jit::llvm_ir

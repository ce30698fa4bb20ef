// Tests which comparisons UseExtremes replaces by max or min, by the text of
// LLVM's IR.
#include "jit/ptx/limits.h"

#include <memory>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace ember::jit::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Returns the code that UseExtremes makes of two instructions: a comparison of
// %x with a constant, and a select by its result.
std::string Made(std::string_view compare, std::string_view select,
                 std::string_view type = "float") {
  const std::string t(type);
  const std::string condition =
      t == "float" || t == "double" ? "i1" : "<2 x i1>";
  const std::string text = "define " + t + " @f(" + t + " %x) {\n  %c = fcmp " +
                           std::string(compare) + "\n  %r = select " +
                           condition + " %c, " + std::string(select) +
                           "\n  ret " + t + " %r\n}\n";
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(text, error, context);
  EXPECT_NE(module, nullptr) << error.getMessage().str() << "\n" << text;
  if (module == nullptr) return "";
  UseExtremes(*module->getFunction("f"));
  std::string made;
  llvm::raw_string_ostream stream(made);
  module->getFunction("f")->print(stream);
  return made;
}

TEST(LimitsTest, Extremes) {
  constexpr std::string_view kMaximum =
                                 "call float @llvm.maximum.f32(float %x, "
                                 "float -2.000000e+00)",
                             kMinimum =
                                 "call float @llvm.minimum.f32(float %x, "
                                 "float -2.000000e+00)";
  for (const char* const less : {"olt", "ole"}) {
    const std::string made =
        Made(std::string(less) + " float %x, -2.0", "float -2.0, float %x");
    EXPECT_THAT(made, HasSubstr(kMaximum));
    EXPECT_THAT(made, Not(HasSubstr("fcmp")));
  }
  EXPECT_THAT(Made("uge float %x, -2.0", "float %x, float -2.0"),
              HasSubstr(kMaximum));
  EXPECT_THAT(Made("ogt float %x, -2.0", "float -2.0, float %x"),
              HasSubstr(kMinimum));
  EXPECT_THAT(Made("ule float %x, -2.0", "float %x, float -2.0"),
              HasSubstr(kMinimum));
  EXPECT_THAT(
      Made("olt <2 x float> %x, <float 3.0, float 3.0>",
           "<2 x float> <float 3.0, float 3.0>, <2 x float> %x", "<2 x float>"),
      HasSubstr("@llvm.maximum.v2f32"));
}

// Shows selects that are not replaced: the result would differ for a NaN or in
// the sign of a zero, the selected values are not those that are compared, or
// the type is not f32.
TEST(LimitsTest, OtherSelects) {
  for (const std::string& made :
       {Made("ult float %x, -2.0", "float -2.0, float %x"),
        Made("oge float %x, -2.0", "float %x, float -2.0"),
        Made("olt float %x, 0.0", "float 0.0, float %x"),
        Made("olt float %x, -0.0", "float -0.0, float %x"),
        Made("olt float %x, 0x7FF8000000000000",
             "float 0x7FF8000000000000, float %x"),
        Made("olt float %x, -2.0", "float -3.0, float %x"),
        Made("oeq float %x, -2.0", "float -2.0, float %x"),
        Made("olt double %x, -2.0", "double -2.0, double %x", "double")}) {
    EXPECT_THAT(made, HasSubstr("fcmp"));
    EXPECT_THAT(made, Not(HasSubstr("@llvm.m")));
  }
}

}  // namespace
}  // namespace ember::jit::ptx

// Tests facts about functions of nests that jit/c prints.
#include "tools/lib/c_program/function_facts.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/c/source.h"
#include "jit/loops/text/text.h"

namespace ember::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

jit::c::Source SourceOf(const std::string& text) {
  const StatusOr<loops::LoopNest> nest = loops::Parse(text);
  EXPECT_TRUE(nest.ok()) << nest.status().message();
  StatusOr<jit::c::Source> source = jit::c::EmitSource(*nest);
  EXPECT_TRUE(source.ok()) << source.status().message();
  return source.ok() ? *std::move(source) : jit::c::Source();
}

TEST(FunctionFacts, SplitsPhases) {
  const jit::c::Source source = SourceOf(R"(
loops @f(%x: input f32[4], %y: output f32[4]) {
  packed %p: f32[4]
  prologue i < 4 { %p[i] = %x[i] + 1.0 }
  phase i < 4 { %y[i] = %p[i] }
  phase i < 4 { %y[i] += 1.0 }
})");
  const std::vector<std::string> functions = SplitFunctions(source.functions);
  ASSERT_EQ(functions.size(), 3u);
  EXPECT_THAT(functions[0], StartsWith("int32_t " + source.prologue[0] + "("));
  EXPECT_THAT(functions[1], StartsWith("int32_t " + source.phases[0] + "("));
  EXPECT_THAT(functions[2], StartsWith("int32_t " + source.phases[1] + "("));
  // A phase need not use all buffers: the constant was packed before.
  EXPECT_THAT(FactsOf(functions[0]).buffers, ElementsAre(0, 2));
  EXPECT_THAT(FactsOf(functions[1]).buffers, ElementsAre(1, 2));
  EXPECT_THAT(FactsOf(functions[2]).buffers, ElementsAre(1));
  std::string joined;
  for (const std::string& function : functions) joined += function;
  EXPECT_EQ(joined.find("\n\n"), std::string::npos);
}

TEST(FunctionFacts, CountsArrays) {
  const jit::c::Source source = SourceOf(R"(
loops @f(%x: input f32[8], %s: input f32[1], %y: output f32[8]) {
  register %sum: f32[16]
  phase t < 1 {
    %sum[3] = %s[0]
    vector l < 8 {
      if l < 5 { %y[l] = %x[l] * %sum[3] }
    }
  }
})");
  // 16 sums, 8 lanes that are on or off, and 8 products that wait until all
  // lanes are loaded.
  ASSERT_THAT(source.functions, HasSubstr("float b3_sum[16];"));
  ASSERT_THAT(source.functions, HasSubstr("uint8_t v"));
  EXPECT_EQ(FactsOf(source.functions).array_bytes, 16 * 4 + 8 + 8 * 4);
  EXPECT_FALSE(FactsOf(source.functions).can_fail);
}

TEST(FunctionFacts, FindsChecks) {
  const jit::c::Source source = SourceOf(R"(
loops @f(%x: input f32[8], %n: input i64[1], %y: output f32[1]) {
  phase t < 1 {
    check %x.0 %n[0] < 8
    %y[0] = %x[%n[0]]
  }
})");
  EXPECT_TRUE(FactsOf(source.functions).can_fail) << source.functions;
  EXPECT_THAT(FactsOf("").buffers, IsEmpty());
}

}  // namespace
}  // namespace ember::tools

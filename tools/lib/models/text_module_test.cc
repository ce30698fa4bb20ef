#include "tools/lib/models/text_module.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vm/isa/text.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;

constexpr char kProduct[] = R"(// An own kernel.

dispatch @product<N, K>(%a: f32[N, K], %b: f32[K, 4]) -> (%y: f32[N, 4]) {
  temp %sum: f32[N, 4]
  %sum[i, j] = sum(k < K) %a[i, k] * %b[k, j]
  %y[i, j] = max(%sum[i, j], 0.0)
}
)";
constexpr char kTwo[] = R"(dispatch @twice(%x: f32[3]) -> (%y: f32[3]) {
  %y[i] = %x[i] + %x[i]
}
dispatch @square(%x: f32[3]) -> (%y: f32[3]) {
  %y[i] = %x[i] * %x[i]
}
)";

std::string ErrorOf(std::string_view text, const DimsOfInputs& dims,
                    const std::string& entry) {
  const auto module = ModuleOfText(text, "own.dispatch", dims, entry);
  EXPECT_FALSE(module.ok());
  return std::string(module.status().message());
}

TEST(TextModule, IsRecognised) {
  EXPECT_TRUE(IsModuleText(kProduct));
  EXPECT_TRUE(IsModuleText("\n module \"m\" from \"x\"\n"));
  EXPECT_FALSE(IsModuleText("module @jit_f attributes {} {"));  // StableHLO
  EXPECT_FALSE(IsModuleText("// nothing else"));
  EXPECT_FALSE(IsModuleText(""));
}

TEST(TextModule, DimsAreParameters) {
  const auto module =
      ModuleOfText(kProduct, "own.dispatch", {{"a", {2, -1}}, {"b", {5}}}, "");
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_EQ(module->source_name, "own.dispatch");
  const vm::Program& program = module->programs.at(0);
  ASSERT_EQ(program.inputs.size(), 2u);
  EXPECT_EQ(program.inputs[0].name, "a");
  const std::string text = vm::PrintModule(*module);
  EXPECT_THAT(text, HasSubstr("program main(a: f32[2, 5], b: f32[5, 4]) -> "
                              "(y: f32[2, 4])"));
  // A parameter that is not determined by any input's dims is 1.
  const auto small = ModuleOfText(kProduct, "own.dispatch", {}, "");
  ASSERT_TRUE(small.ok()) << small.status().ToString();
  EXPECT_THAT(vm::PrintModule(*small), HasSubstr("a: f32[1, 1]"));
}

TEST(TextModule, PrintedModulesAreRead) {
  const auto module = ModuleOfText(kTwo, "two.dispatch", {}, "square");
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_EQ(module->dispatches.at(0).name, "square");
  const std::string text = vm::PrintModule(*module);
  const auto again = ModuleOfText(text, "m.txt", {}, "");
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(vm::PrintModule(*again), text);
}

TEST(TextModule, Errors) {
  EXPECT_EQ(ErrorOf(kTwo, {}, ""),
            "own.dispatch: expected --entry=NAME for one of its dispatches, "
            "twice, square");
  EXPECT_EQ(ErrorOf(kTwo, {}, "sqare"),
            "own.dispatch: --entry: expected one of twice, square, found "
            "'sqare'; did you mean 'square'?");
  EXPECT_EQ(ErrorOf(kProduct, {{"a", {2, 3}}, {"b", {5, 4}}}, ""),
            "own.dispatch: input 'b': expected 3 for K, found 5");
  EXPECT_EQ(ErrorOf("dispatch @d<N>(%x: f32[2]) -> (%y: f32[N]) {\n"
                    "  %y[i] = %x[0]\n}\n",
                    {}, ""),
            "own.dispatch: parameter N: expected a dim of an input, whose "
            "value says it, found none");
  EXPECT_EQ(ErrorOf("dispatch @d<N>(%x: f32[N]) -> (%y: f32[N - 2]) {\n"
                    "  %y[i] = %x[i]\n}\n",
                    {}, ""),
            "own.dispatch: dispatch @d: buffer %y: expected extent 0 in "
            "0..1099511627776, found -1 (N: 1, as neither --shape nor --input "
            "gives another number)");
  EXPECT_THAT(ErrorOf("dispatch @d(%x: f32[2]) -> (%y: f32[2]) {\n"
                      "  %y[i] = %z[i]\n}\n",
                      {}, ""),
              HasSubstr("own.dispatch: 2:"));
}

}  // namespace
}  // namespace ember::tools

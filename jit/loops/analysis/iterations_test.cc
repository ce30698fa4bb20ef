#include "jit/loops/analysis/iterations.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "jit/loops/text/text.h"

namespace ember::loops {
namespace {

int64_t Most(const std::string& body, const std::vector<int64_t>& parameters) {
  const auto nest =
      Parse("loops @t<N>(%y: output f32[N]) { phase t < N { " + body + " } }");
  EXPECT_TRUE(nest.ok()) << nest.status().message();
  return nest.ok() ? MostIterations(*nest, nest->phases[0].body, parameters)
                   : -1;
}

TEST(IterationsTest, LoopsInEachOtherAndBehindEachOther) {
  EXPECT_EQ(Most("%y[t] = 1.0", {}), 0);
  // Each of 10 outer iterations counts 1, and 6 for the inner loop: 5
  // iterations and the pass that ends it. The pass that ends the outer loop
  // counts 2, because it passes through the inner loop, too. The last loop
  // counts 7 + 1.
  EXPECT_EQ(Most("for i < 10 { for j < 5 { %y[t] = 1.0 } } "
                 "for k < 7 { %y[t] = 1.0 }",
                 {}),
            10 * (1 + 6) + 2 + 8);
  EXPECT_EQ(Most("for i < 9 { for j < 1 { for k < 1 { %y[t] = 1.0 } } }", {}),
            9 * 6 + 3);
  // A loop without iterations still counts the iteration that finds its end.
  EXPECT_EQ(Most("for i < 0 { for j < 100 { %y[t] = 1.0 } }", {}), 2);
  EXPECT_EQ(
      Most("unroll i < 3 { vector v < 4 { for j < 5 { %y[t] = 1.0 } } }", {}),
      12 * 6);
  EXPECT_EQ(Most("invocation i < 64 { for j < 5 { %y[t] = 1.0 } }", {}), 6);
}

TEST(IterationsTest, OpenExtents) {
  const std::string loops =
      "for i < floordiv(N + 7, 8) { for j < min(8, N - i * 8) { %y[t] = 1.0 } "
      "}";
  EXPECT_EQ(Most(loops, {80}), 10 * (1 + 9) + 2);
  EXPECT_GT(Most(loops, {}), int64_t{1} << 30);
  // Shows that an inner loop whose extent depends on the outer variable counts
  // with its largest extent in every outer iteration.
  EXPECT_EQ(Most("for i < N { for j < N - i { %y[t] = 1.0 } }", {10}),
            10 * (1 + 11) + 2);
  EXPECT_EQ(Most("for i < N { %y[t] = 1.0 }", {0}), 1);
  EXPECT_EQ(Most("for i < N { for j < N { %y[t] = 1.0 } }", {1 << 30}),
            int64_t{1} << 40);
}

}  // namespace
}  // namespace ember::loops

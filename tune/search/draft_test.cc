#include "tune/search/draft.h"

#include <gtest/gtest.h>

#include <string>

#include "jit/loops/text/text.h"

namespace ember::tune {
namespace {

constexpr const char* kTarget =
    "x86_64-linux+avx2+fma+l1=32K+l2=512K+l3=16M+cores=4";

double Cycles(const std::string& nest) {
  const auto parsed = loops::Parse(nest);
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  return DraftCycles(*parsed, kTarget);
}

std::string Scale(const std::string& body) {
  return "loops @scale(%x: input f32[64, 64], %y: output f32[64, 64]) {\n" +
         body + "}\n";
}

TEST(Draft, VectorsAreFasterThanScalars) {
  const double scalars = Cycles(
      Scale("phase i < 64 { for j < 64 { %y[i, j] = %x[i, j] * 2.0 } }"));
  const double vectors = Cycles(
      Scale("phase i < 64 { for j0 < 8 { vector j1 < 8 { %y[i, j0 * 8 + j1] = "
            "%x[i, j0 * 8 + j1] * 2.0 } } }"));
  EXPECT_LT(vectors * 3, scalars);
}

TEST(Draft, LanesFarApartAreSlow) {
  const double along = Cycles(
      Scale("phase i < 64 { for j0 < 8 { vector j1 < 8 { %y[i, j0 * 8 + j1] = "
            "%x[i, j0 * 8 + j1] * 2.0 } } }"));
  const double across = Cycles(
      Scale("phase i < 64 { for j0 < 8 { vector j1 < 8 { %y[i, j0 * 8 + j1] = "
            "%x[j0 * 8 + j1, i] * 2.0 } } }"));
  EXPECT_LT(along * 1.5, across);
}

std::string Sums(int rows) {
  const std::string r = std::to_string(rows);
  return "loops @sums(%a: input f32[64, 512], %b: input f32[512, 8], %y: "
         "output f32[64, 8]) {\n  register %s: f32[" +
         r + ", 8]\n  phase i < " + std::to_string(64 / rows) +
         " {\n    unroll r < " + r +
         " { vector l < 8 { %s[r, l] = 0.0 } }\n    for k < 512 { unroll r < " +
         r + " { vector l < 8 { %s[r, l] += %a[i * " + r +
         " + r, k] * %b[k, l] } } }\n    unroll r < " + r +
         " { vector l < 8 { %y[i * " + r + " + r, l] = %s[r, l] } }\n  }\n}\n";
}

TEST(Draft, TilesOfRegistersAreFasterIfTheyFit) {
  EXPECT_LT(Cycles(Sums(8)) * 3, Cycles(Sums(1)));
  EXPECT_LT(Cycles(Sums(8)), Cycles(Sums(32)));
}

}  // namespace
}  // namespace ember::tune

#include "tensor/analysis/canonical_names.h"

#include <gtest/gtest.h>

#include <string>

#include "base/testing/seeds.h"
#include "tensor/testing/random_dispatch.h"
#include "tensor/text/text.h"

namespace ember::tensor {
namespace {

Dispatch Parsed(const std::string& text) {
  StatusOr<Dispatch> dispatch = Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  return *std::move(dispatch);
}

TEST(CanonicalNames, NamesNothingThatTheModelNamed) {
  const std::string text = Print(WithCanonicalNames(Parsed(R"(
    dispatch @d7_scale<batch>(%image: f32[batch, 8], %w: f32[8, 4]) -> (%result: f32[batch, 4]) {
      temp %product: f32[batch, 4]
      %product[n, c] = sum(inner < 8) %image[n, inner] * %w[inner, c]
      %result[n, c] = max(%product[n, c], 0.0)
    })")));
  EXPECT_EQ(text, Print(Parsed(R"(
    dispatch @dispatch<p0>(%x0: f32[p0, 8], %x1: f32[8, 4]) -> (%y0: f32[p0, 4]) {
      temp %t0: f32[p0, 4]
      %t0[i0, i1] = sum(k0 < 8) %x0[i0, k0] * %x1[k0, i1]
      %y0[i0, i1] = max(%t0[i0, i1], 0.0)
    })")));
}

TEST(CanonicalNames, RandomDispatchesStayLegal) {
  const SeedRange seeds = TestSeeds(100);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const Dispatch named =
        WithCanonicalNames(MakeRandomCase(seed, {}).dispatch);
    const std::string text = Print(named);
    const StatusOr<Dispatch> parsed = Parse(text);
    ASSERT_TRUE(parsed.ok())
        << "EMBER_SEED=" << seed << ": " << parsed.status().ToString();
    EXPECT_EQ(Print(*parsed), text) << "EMBER_SEED=" << seed;
    EXPECT_EQ(WithCanonicalNames(named), named) << "EMBER_SEED=" << seed;
  }
}

}  // namespace
}  // namespace ember::tensor

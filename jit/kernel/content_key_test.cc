#include "jit/kernel/content_key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "jit/kernel/build_nest.h"
#include "tensor/text/text.h"

namespace ember::jit {
namespace {

tensor::Dispatch Parsed(const std::string& text) {
  StatusOr<tensor::Dispatch> dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  return *std::move(dispatch);
}

std::string KeyOf(const tensor::Dispatch& dispatch,
                  std::vector<int64_t> parameters = {},
                  std::vector<bool> constants = {}) {
  vm::KernelRequest request;
  request.dispatch = &dispatch;
  request.parameters = std::move(parameters);
  request.constant_inputs = std::move(constants);
  return ContentKey(WithCanonicalNames(request));
}

constexpr const char* kScale = R"(
    dispatch @d0_scale<N>(%x: f32[N, 8]) -> (%y: f32[N, 8]) {
      %y[i, j] = %x[i, j] * 2.0
    })";

TEST(ContentKey, DoesNotDependOnNames) {
  const tensor::Dispatch other = Parsed(R"(
    dispatch @d9_double<batch>(%image: f32[batch, 8]) -> (%twice: f32[batch, 8]) {
      %twice[n, c] = %image[n, c] * 2.0
    })");
  const std::string key = KeyOf(Parsed(kScale));
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(key, KeyOf(other));
}

TEST(ContentKey, DependsOnEverythingElse) {
  const tensor::Dispatch scale = Parsed(kScale);
  const tensor::Dispatch other = Parsed(R"(
    dispatch @d0_scale<N>(%x: f32[N, 8]) -> (%y: f32[N, 8]) {
      %y[i, j] = %x[i, j] * 3.0
    })");
  EXPECT_NE(KeyOf(scale), KeyOf(other));
  EXPECT_NE(KeyOf(scale), KeyOf(scale, {4}));
  EXPECT_NE(KeyOf(scale, {4}), KeyOf(scale, {5}));
  EXPECT_NE(KeyOf(scale), KeyOf(scale, {}, {true}));
  EXPECT_EQ(KeyOf(scale), KeyOf(scale, {}, {false}));
}

TEST(ContentKey, NestsOfCanonicalRequestsDifferInNamesOnly) {
  const tensor::Dispatch scale = Parsed(kScale);
  vm::KernelRequest request;
  request.dispatch = &scale;
  request.target = "x86_64-linux+avx2+fma";
  NestText text, canonical;
  ASSERT_TRUE(BuildNest(request, {}, &text).ok());
  ASSERT_TRUE(BuildNest(WithCanonicalNames(request), {}, &canonical).ok());
  EXPECT_NE(text.schedule, canonical.schedule);
  EXPECT_EQ(std::ranges::count(text.nest, '\n'),
            std::ranges::count(canonical.nest, '\n'));
}

// A schedule may be given with canonical names; the nest that it makes still
// has the names of the dispatch.
TEST(ContentKey, NestsOfCanonicalSchedulesHaveTheNamesOfTheDispatch) {
  const tensor::Dispatch sum = Parsed(R"(
    dispatch @d3_sum<N>(%x1: f32[N, 8], %x0: f32[8]) -> (%y: f32[N]) {
      %y[i] = sum(k < 8) %x1[i, k] * %x0[k]
    })");
  vm::KernelRequest request;
  request.dispatch = &sum;
  request.target = "x86_64-linux+avx2+fma";
  NestText own;
  ASSERT_TRUE(BuildNest(WithCanonicalNames(request), {}, &own).ok());
  NestText text;
  const auto nest = BuildNest(
      request, {.given_schedule = own.schedule, .has_canonical_names = true},
      &text);
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  EXPECT_EQ(text.nest.substr(0, text.nest.find(')')),
            "loops @d3_sum<N>(%x1: input f32[N, 8], %x0: input f32[8], %y: "
            "output f32[N]");
}

}  // namespace
}  // namespace ember::jit

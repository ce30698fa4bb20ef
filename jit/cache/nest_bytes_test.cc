// Tests that names do not change a nest's bytes, and that everything else does.
#include "jit/cache/nest_bytes.h"

#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "jit/llvm/testing/run_nest.h"
#include "jit/loops/testing/text_template.h"

namespace ember::jit {
namespace {

std::string BytesOfText(const std::string& text) {
  return NestBytes(llvm_ir::ParseOrDie(text));
}

// Returns the text with the first occurrence of `from` replaced by `to`.
std::string FirstReplaced(std::string text, const std::string& from,
                          const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

constexpr const char* kNest = R"(loops @scale<N, M>(%x: input f32[N, 16],
                                                    %z: input f16[M],
                                                    %y: output f32[N, 16]) {
  packed %w: f32[16]
  task %t: f32[16]
  prologue p < 1 {
    for k < 16 { %w[k] = exp(f32(k)) }
  }
  phase i < N {
    unroll u < 2 {
      vector l < 8 { %t[u * 8 + l] = %x[i, u * 8 + l] * %w[u * 8 + l] }
    }
    for m < M {
      prefetch %x m * 16
      check %z.0 m < M
      if m < 7 {
        for k < 16 { %y[i, k] += %t[k] - f32(%z[m]) * 3.0 }
      }
    }
  }
})";

TEST(NestBytesTest, NamesAreLeftOut) {
  std::string renamed = kNest;
  for (const char* const name : {"%x", "%z", "%y", "%w", "%t", "@scale"})
    renamed = loops::Replaced(renamed, name, std::string(name) + "_renamed");
  renamed = loops::Replaced(renamed, "m < M", "q < M");
  renamed = loops::Replaced(renamed, "m * 16", "q * 16");
  renamed = loops::Replaced(renamed, "m < 7", "q < 7");
  renamed = loops::Replaced(renamed, "[m]", "[q]");
  renamed = loops::Replaced(renamed, "N", "Rows");
  ASSERT_NE(renamed, kNest);
  EXPECT_EQ(BytesOfText(renamed), BytesOfText(kNest));
}

TEST(NestBytesTest, EveryOtherDifferenceShows) {
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"%x: input f32[N, 16]", "%x: input f32[N, 17]"},
      {"%x: input f32[N, 16]", "%x: input f32[M, 16]"},
      {"%z: input f16[M]", "%z: input bf16[M]"},
      {"packed %w: f32[16]", "packed %w: f32[32]"},
      {"task %t", "call %t"},
      {"prologue p < 1", "prologue p < 2"},
      {"for k < 16 { %w", "for k < 15 { %w"},
      {"exp(", "log("},
      {"phase i < N", "phase i < N + 1"},
      {"unroll u < 2", "for u < 2"},
      {"vector l < 8", "vector l < 4"},
      {"vector l < 8", "unroll l < 8"},
      {"vector l < 8", "invocation l < 8"},
      {"* %w[u * 8 + l]", "+ %w[u * 8 + l]"},
      {"* %w[u * 8 + l]", "* %t[u * 8 + l]"},
      {"check %z.0 m < M", ""},
      {"check %z.0 m < M", "check %x.0 m < M"},
      {"check %z.0 m < M", "check %z.0 m < N"},
      {"check %z.0 m < M", "check %z.0 m + 1 < M"},
      {"prefetch %x m * 16", ""},
      {"prefetch %x m * 16", "prefetch %y m * 16"},
      {"prefetch %x m * 16", "prefetch %x m * 17"},
      {"m < 7", "m < 8"},
      {"m < 7", "m <= 7"},
      {"+=", "="},
      {"+=", "max="},
      {"%y[i, k]", "%y[k, i]"},
      {"%t[k] - f32(%z[m])", "%t[k] - f32(%z[k])"},
      {"%t[k] - f32(%z[m]) * 3.0", "f32(%z[m]) * 3.0 - %t[k]"},
      {"3.0", "-3.0"},
      {"3.0", "0.0"},
      {"3.0", "-0.0"},
      {"<N, M>", "<N, M, K>"},
      {"<N, M>", "<M, N>"},
  };
  std::map<std::string, std::string> seen = {{BytesOfText(kNest), "nothing"}};
  for (const auto& [from, to] : changes) {
    const std::string change = from + " -> " + to;
    const auto [at, is_new] =
        seen.emplace(BytesOfText(FirstReplaced(kNest, from, to)), change);
    EXPECT_TRUE(is_new) << change << " is as " << at->second;
  }
}

// The code generator uses the known ranges of values, so a nest with other
// ranges must have other bytes.
TEST(NestBytesTest, FactsShow) {
  loops::LoopNest nest = llvm_ir::ParseOrDie(kNest);
  const std::string before = NestBytes(nest);
  const loops::NodeId rows = nest.buffers[0].extents[0];
  nest.pool.Refine(rows, {1, 100});
  const std::string refined = NestBytes(nest);
  EXPECT_NE(refined, before);
  nest.pool.Refine(rows, {2, 100});
  EXPECT_NE(NestBytes(nest), refined);
}

// Two axes have the same extent. The bytes must distinguish which of them an
// index uses.
TEST(NestBytesTest, AxesAreTold) {
  const std::string text = R"(loops @f(%x: input f32[8, 8],
                                       %y: output f32[8, 8]) {
    phase t < 1 { for a < 8 { for b < 8 { %y[a, b] = %x[a, b] } } }
  })";
  EXPECT_NE(BytesOfText(text),
            BytesOfText(FirstReplaced(text, "%x[a, b]", "%x[b, a]")));
  // Renaming the axes does not change the bytes.
  EXPECT_EQ(BytesOfText(text),
            BytesOfText(loops::Replaced(loops::Replaced(text, "a < 8", "c < 8"),
                                        "[a, b]", "[c, b]")));
}

}  // namespace
}  // namespace ember::jit

#include "vm/interpreter/plan.h"

#include <cstring>
#include <string>

#include "gtest/gtest.h"
#include "tensor/text/text.h"
#include "vm/interpreter/testing/compare.h"

namespace ember::vm {
namespace {

CompareOptions With(std::vector<int64_t> parameters) {
  CompareOptions options;
  options.parameters = std::move(parameters);
  return options;
}

CompareOptions Filled(std::function<void(int, std::vector<char>&)> fill) {
  CompareOptions options;
  options.fill = std::move(fill);
  return options;
}

TEST(PlanTest, Elementwise) {
  ExpectMatchesDefinition(
      R"(dispatch @add(%x: f32[3000], %y: f32[3000]) -> (%z: f32[3000]) {
    %z[i] = max(%x[i] + %y[i] * 2.0, 0.0)
  })");
  ExpectMatchesDefinition(
      R"(dispatch @rows<N>(%x: f32[N, 64], %s: f32[N]) -> (%y: f32[N, 64]) {
    %y[i, j] = %x[i, j] * %s[i]
  })",
      With({37}));
  ExpectMatchesDefinition(
      R"(dispatch @one(%x: f32[]) -> (%y: f32[]) { %y[] = %x[] + 1.0 })");
  ExpectMatchesDefinition(
      R"(dispatch @constant() -> (%y: i16[7, 9]) { %y[i, j] = 3 })");
}

TEST(PlanTest, IndexExpressions) {
  ExpectMatchesDefinition(
      R"(dispatch @transpose(%x: f32[70, 51]) -> (%y: f32[51, 70]) {
    %y[i, j] = %x[j, i]
  })");
  ExpectMatchesDefinition(
      R"(dispatch @transpose_f16(%x: f16[7, 5, 40]) -> (%y: f16[40, 5, 7]) {
    %y[i, j, k] = %x[k, j, i] + %x[k, 4 - j, 39 - i]
  })");
  ExpectMatchesDefinition(
      R"(dispatch @reshape(%x: f32[12, 35]) -> (%y: f32[20, 21]) {
    for (i < 20, j < 21) %y[i, j] = %x[floordiv(i * 21 + j, 35), mod(i * 21 + j, 35)]
  })");
  ExpectMatchesDefinition(
      R"(dispatch @heads(%x: f32[6, 120]) -> (%y: f32[10, 6, 12]) {
    for (h < 10, s < 6, d < 12) %y[h, s, d] = %x[s, h * 12 + d]
  })");
  ExpectMatchesDefinition(
      R"(dispatch @merge(%x: f32[10, 6, 12]) -> (%y: f32[6, 120]) {
    for (s < 6, c < 120) %y[s, c] = %x[floordiv(c, 12), s, mod(c, 12)]
  })");
  ExpectMatchesDefinition(
      R"(dispatch @upsample(%x: f32[5, 7]) -> (%y: f32[10, 21]) {
    for (i < 10, j < 21) %y[i, j] = %x[floordiv(i, 2), floordiv(j, 3)]
  })");
  ExpectMatchesDefinition(R"(dispatch @odd(%x: f32[5, 7]) -> (%y: f32[9]) {
    for (i < 9) %y[i] = %x[mod(i * 3, 5), floordiv(i * i, 12)]
  })");
  ExpectMatchesDefinition(R"(dispatch @reverse(%x: i64[33]) -> (%y: i64[33]) {
    for (i < 33) %y[i] = %x[32 - i] * i
  })");
}

TEST(PlanTest, Pads) {
  ExpectMatchesDefinition(R"(dispatch @pad(%x: f32[5, 7]) -> (%y: f32[9, 12]) {
    for (i < 9, j < 12) %y[i, j] = pad(%x[i - 2, j - 3], 1.5)
  })");
  ExpectMatchesDefinition(
      R"(dispatch @pad_strided(%x: i8[5, 17]) -> (%y: i8[9, 12]) {
    for (i < 9, j < 12) %y[i, j] = pad(%x[3 - i, 2 * j - 3], 7) + 1
  })");
  ExpectMatchesDefinition(
      R"(dispatch @pad_diagonal(%x: f32[50]) -> (%y: f32[9, 12]) {
    for (i < 9, j < 12) %y[i, j] = pad(%x[9 * i - 7 * j], -1.0)
  })");
  ExpectMatchesDefinition(
      R"(dispatch @pad_value(%x: f16[50], %d: f16[9]) -> (%y: f16[9, 12]) {
    for (i < 9, j < 12) %y[i, j] = pad(%x[9 * i - 7 * j], %d[i])
  })");
  ExpectMatchesDefinition(
      R"(dispatch @concat(%x: f32[5, 3], %z: f32[5, 4]) -> (%y: f32[5, 7]) {
    for (i < 5, j < 7) %y[i, j] = select(j < 3, pad(%x[i, j], 0.0), pad(%z[i, j - 3], 0.0))
  })");
  ExpectMatchesDefinition(R"(dispatch @empty(%x: f32[0, 3]) -> (%y: f32[5, 3]) {
    for (i < 5, j < 3) %y[i, j] = pad(%x[i, j], 4.0)
  })");
}

TEST(PlanTest, Gathers) {
  const auto indices = [](int buffer, std::vector<char>& bytes) {
    if (buffer != 1) return;
    for (size_t i = 0; i < bytes.size() / 8; ++i) {
      const int64_t index = static_cast<int64_t>(i * 7 % 10);
      std::memcpy(bytes.data() + 8 * i, &index, 8);
    }
  };
  ExpectMatchesDefinition(
      R"(dispatch @rows(%t: f32[10, 33], %i: i64[6]) -> (%y: f32[6, 33]) {
    %y[r, c] = %t[%i[r], c]
  })",
      Filled(indices));
  ExpectMatchesDefinition(
      R"(dispatch @columns(%t: bf16[4, 10], %i: i64[6]) -> (%y: bf16[4, 6]) {
    %y[r, c] = %t[r, %i[c]]
  })",
      Filled(indices));
  ExpectMatchesDefinition(
      R"(dispatch @both(%t: i8[10, 12], %i: i64[6, 5]) -> (%y: i8[6, 5, 2]) {
    %y[r, c, k] = %t[%i[r, c], floordiv(%i[r, c], 2) + k]
  })",
      Filled(indices));
  ExpectMatchesDefinition(
      R"(dispatch @padded(%t: bool[4], %i: i64[50]) -> (%y: bool[50]) {
    %y[r] = pad(%t[%i[r] - 2], true)
  })",
      Filled(indices));
  ExpectMatchesDefinition(
      R"(dispatch @scatter(%u: f32[6, 4], %i: i64[6]) -> (%y: f32[10, 4]) {
    for (r < 10, c < 4) %y[r, c] = 0.5
    for (m < 6, c < 4) %y[%i[m], c] += %u[m, c]
  })",
      Filled(indices));
  ExpectMatchesDefinition(
      R"(dispatch @meet(%u: f32[64, 3], %i: i64[6]) -> (%y: f32[4, 3]) {
    for (r < 4, c < 3) %y[r, c] = 1.0
    for (m < 64, c < 3) %y[mod(m, 4), c] max= %u[m, c]
  })",
      Filled(indices));
}

TEST(PlanTest, IndexOutOfRangeIsAnError) {
  const auto dispatch = tensor::Parse(
      R"(dispatch @rows(%t: f32[10, 4], %i: i64[6]) -> (%y: f32[6, 4]) { %y[r, c] = %t[%i[r], c] })");
  ASSERT_TRUE(dispatch.ok());
  auto plan = Plan::Make(*dispatch, {}, {});
  ASSERT_TRUE(plan.ok());
  float table[40] = {}, y[24];
  int64_t index[6] = {0, 1, 2, 3, 10, 5};
  void* buffers[] = {table, index, y};
  SerialRunner runner;
  EXPECT_EQ((*plan)->Run(buffers, runner).message(),
            "dispatch @rows: buffer %t: expected index 0 in 0..9, found 10");
  index[4] = 9;
  EXPECT_TRUE((*plan)->Run(buffers, runner).ok());
  index[0] = -1;
  EXPECT_FALSE((*plan)->Run(buffers, runner).ok());
}

TEST(PlanTest, AffineIndexOutOfRangeIsRefused) {
  const auto dispatch = tensor::Parse(
      R"(dispatch @shift<N>(%x: f32[10]) -> (%y: f32[N]) { for (i < N) %y[i] = %x[i + 3] })");
  ASSERT_TRUE(dispatch.ok());
  EXPECT_TRUE(Plan::Make(*dispatch, std::vector<int64_t>{7}, {}).ok());
  EXPECT_TRUE(Plan::Make(*dispatch, std::vector<int64_t>{0}, {}).ok());
  EXPECT_EQ(
      Plan::Make(*dispatch, std::vector<int64_t>{8}, {}).status().message(),
      "dispatch @shift: stage 0: buffer %x: index 0 runs from 3 to 10, extent "
      "is 10");
  EXPECT_FALSE(Plan::Make(*dispatch, std::vector<int64_t>{-1}, {}).ok());
  EXPECT_FALSE(Plan::Make(*dispatch, std::vector<int64_t>{}, {}).ok());
}

TEST(PlanTest, Reductions) {
  for (const char* type :
       {"f32", "f64", "f16", "bf16", "i8", "u8", "i32", "i64", "u32", "u64"}) {
    for (const char* combiner : {"sum", "prod", "minimum", "maximum"}) {
      const std::string t = type, c = combiner;
      ExpectMatchesDefinition("dispatch @inner(%x: " + t +
                              "[5, 37]) -> (%y: " + t + "[5]) { %y[i] = " + c +
                              "(k < 37) %x[i, k] }");
      ExpectMatchesDefinition("dispatch @outer(%x: " + t +
                              "[7, 300]) -> (%y: " + t +
                              "[300]) { %y[i] = " + c + "(k < 7) %x[k, i] }");
      ExpectMatchesDefinition("dispatch @all(%x: " + t +
                              "[3, 50]) -> (%y: " + t + "[]) { %y[] = " + c +
                              "(j < 3, k < 50) %x[j, k] }");
      ExpectMatchesDefinition("dispatch @none(%x: " + t + "[3, 0]) -> (%y: " +
                              t + "[3]) { %y[i] = " + c + "(k < 0) %x[i, k] }");
      ExpectMatchesDefinition(
          "dispatch @window(%x: " + t + "[9, 20]) -> (%y: " + t +
          "[10]) { %y[i] = " + c +
          "(j < 3, k < 3) pad(%x[j * 4, 2 * i + k - 1], 1) }");
    }
  }
  for (const char* steps : {"135", "136", "270", "300"}) {
    const std::string n = steps;
    ExpectMatchesDefinition("dispatch @long(%x: f32[" + n +
                            ", 20]) -> (%y: f32[20]) { %y[i] = maximum(k < " +
                            n + ") %x[k, i] }");
  }
  ExpectMatchesDefinition(
      R"(dispatch @any(%x: bool[5, 37]) -> (%y: bool[5], %z: bool[37]) {
    %y[i] = maximum(k < 37) %x[i, k]
    %z[k] = minimum(i < 5) %x[i, k]
  })");
}

// Reductions in which each term is the same, because it does not depend on the
// reduction axis, and in which some tiles consist only of padding.
TEST(PlanTest, ReductionsOfWhatNoStepMoves) {
  for (const char* value : {"%x[i0 - 1, i1, i2]", "%x[i0 - 1, i1, i2] * 4.0"}) {
    for (const char* combiner : {"sum", "maximum"}) {
      std::string read(value);
      read.insert(read.find(']') + 1, ", 1.0)");
      ExpectMatchesDefinition(
          "dispatch @repeated(%x: f32[1, 12, 7]) -> (%y: f32[3, 12, 7]) {\n"
          "  %y[i0, i1, i2] = " +
          std::string(combiner) + "(k0 < 3) pad(" + read + "\n}");
    }
  }
}

TEST(PlanTest, Pools) {
  ExpectMatchesDefinition(
      R"(dispatch @max(%x: f32[1, 12, 13, 5]) -> (%y: f32[1, 6, 7, 5]) {
    %y[n, h, w, c] = maximum(i < 3, j < 3) pad(%x[n, 2 * h + i - 1, 2 * w + j - 1, c], -inf)
  })");
  ExpectMatchesDefinition(
      R"(dispatch @average(%x: f32[2, 12, 13, 5]) -> (%y: f32[2, 5]) {
    temp %s: f32[2, 5]
    %s[n, c] = sum(h < 12, w < 13) %x[n, h, w, c]
    %y[n, c] = %s[n, c] / 156.0
  })");
}

TEST(PlanTest, Convolutions) {
  ExpectMatchesDefinition(
      R"(dispatch @conv(%x: f32[1, 9, 10, 6], %w: f32[3, 3, 6, 20], %b: f32[20]) -> (%y: f32[1, 9, 10, 20]) {
    temp %acc: f32[1, 9, 10, 20]
    %acc[n, h, w, o] = sum(i < 3, j < 3, c < 6) pad(%x[n, h + i - 1, w + j - 1, c], 0.0) * %w[i, j, c, o]
    %y[n, h, w, o] = max(%acc[n, h, w, o] + %b[o], 0.0)
  })");
  ExpectMatchesDefinition(
      R"(dispatch @strided(%x: f32[2, 11, 10, 4], %w: f32[3, 3, 4, 7]) -> (%y: f32[2, 4, 4, 7]) {
    %y[n, h, w, o] = sum(i < 3, j < 3, c < 4) pad(%x[n, 3 * h + 2 * i - 2, 2 * w + 2 * j - 1, c], 0.0) * %w[i, j, c, o]
  })");
  ExpectMatchesDefinition(
      R"(dispatch @depthwise(%x: f32[1, 9, 10, 24], %w: f32[3, 3, 24]) -> (%y: f32[1, 9, 10, 24]) {
    %y[n, h, w, c] = sum(i < 3, j < 3) pad(%x[n, h + i - 1, w + j - 1, c], 0.0) * %w[i, j, c]
  })");
  ExpectMatchesDefinition(
      R"(dispatch @grouped(%x: f32[1, 6, 6, 3, 4], %w: f32[3, 3, 3, 4, 5]) -> (%y: f32[1, 6, 6, 3, 5]) {
    %y[n, h, w, g, o] = sum(i < 3, j < 3, c < 4) pad(%x[n, h + i - 1, w + j - 1, g, c], 0.0) * %w[g, i, j, c, o]
  })");
  ExpectMatchesDefinition(
      R"(dispatch @channels_first(%x: f32[1, 4, 9, 10], %w: f32[7, 4, 3, 3]) -> (%y: f32[1, 7, 9, 10]) {
    %y[n, o, h, w] = sum(c < 4, i < 3, j < 3) pad(%x[n, c, h + i - 1, w + j - 1], 0.0) * %w[o, c, i, j]
  })");
  ExpectMatchesDefinition(
      R"(dispatch @quantized(%x: u8[1, 6, 6, 8], %w: i8[3, 3, 8, 9]) -> (%y: i32[1, 6, 6, 9]) {
    %y[n, h, w, o] = sum(i < 3, j < 3, c < 8) (i32(pad(%x[n, h + i - 1, w + j - 1, c], 3)) - 3) * i32(%w[i, j, c, o])
  })");
}

TEST(PlanTest, RowWiseChains) {
  ExpectMatchesDefinition(
      R"(dispatch @softmax<B>(%x: f32[B, 77]) -> (%y: f32[B, 77]) {
    temp %m: f32[B]
    temp %e: f32[B, 77]
    temp %s: f32[B]
    %m[b] = maximum(k < 77) %x[b, k]
    %e[b, k] = exp(%x[b, k] - %m[b])
    %s[b] = sum(k < 77) %e[b, k]
    %y[b, k] = %e[b, k] / %s[b]
  })",
      With({19}));
  ExpectMatchesDefinition(
      R"(dispatch @layer_norm(%x: f32[4, 9, 50], %g: f32[50], %b: f32[50]) -> (%y: f32[4, 9, 50]) {
    temp %m: f32[4, 9]
    temp %v: f32[4, 9]
    %m[i, j] = sum(k < 50) %x[i, j, k] / 50.0
    %v[i, j] = sum(k < 50) (%x[i, j, k] - %m[i, j]) * (%x[i, j, k] - %m[i, j]) / 50.0
    %y[i, j, k] = (%x[i, j, k] - %m[i, j]) / sqrt(%v[i, j] + 1e-05) * %g[k] + %b[k]
  })");
}

TEST(PlanTest, MatrixProducts) {
  for (const char* type : {"f32", "f64", "f16", "bf16", "i32", "u32", "i64"}) {
    const std::string t = type;
    CompareOptions options;
    // The tolerance is large, because a contraction does not round products of
    // f16 to 16 bits before it adds them, but the definition does.
    if (t == "f16") options.tolerance = 3e-2;
    if (t == "bf16") options.tolerance = 1e-1;
    ExpectMatchesDefinition(
        "dispatch @nn(%a: " + t + "[37, 45], %b: " + t + "[45, 70]) -> (%c: " +
            t + "[37, 70]) { %c[i, j] = sum(k < 45) %a[i, k] * %b[k, j] }",
        options);
    ExpectMatchesDefinition(
        "dispatch @nt(%a: " + t + "[30, 300], %b: " + t +
            "[33, 300]) -> (%c: " + t +
            "[30, 33]) { %c[i, j] = sum(k < 300) %a[i, k] * %b[j, k] }",
        options);
    ExpectMatchesDefinition(
        "dispatch @tn(%a: " + t + "[20, 15], %b: " + t + "[20, 17]) -> (%c: " +
            t + "[17, 15]) { %c[j, i] = sum(k < 20) %b[k, j] * %a[k, i] }",
        options);
    // This contraction is a product of few rows with a matrix, with many steps
    // along K.
    ExpectMatchesDefinition(
        "dispatch @vector(%a: " + t + "[2, 300], %b: " + t +
            "[300, 33]) -> (%c: " + t +
            "[2, 33]) { %c[i, j] = sum(k < 300) %a[i, k] * %b[k, j] }",
        options);
  }
  for (const bool constant : {false, true}) {
    for (const int workers : {1, 2, 3}) {
      CompareOptions options;
      options.constant_inputs = constant;
      options.workers = workers;
      options.scratch_target = 16 * 1024;
      options.tolerance = 1e-4;
      ExpectMatchesDefinition(
          R"(dispatch @attention(%q: f32[2, 40, 3, 16], %k: f32[2, 40, 3, 16], %v: f32[2, 40, 3, 16]) -> (%o: f32[2, 40, 3, 16]) {
        temp %s: f32[2, 3, 40, 40]
        temp %m: f32[2, 3, 40]
        temp %e: f32[2, 3, 40, 40]
        temp %d: f32[2, 3, 40]
        %s[b, h, i, j] = sum(c < 16) %q[b, i, h, c] * %k[b, j, h, c]
        %m[b, h, i] = maximum(j < 40) %s[b, h, i, j]
        %e[b, h, i, j] = exp(%s[b, h, i, j] - %m[b, h, i])
        %d[b, h, i] = sum(j < 40) %e[b, h, i, j]
        for (b < 2, i < 40, h < 3, c < 16) %o[b, i, h, c] = sum(j < 40) %e[b, h, i, j] / %d[b, h, i] * %v[b, j, h, c]
      })",
          options);
      ExpectMatchesDefinition(
          R"(dispatch @mlp(%x: f32[50, 60], %w: f32[60, 90], %b: f32[90], %v: f32[90, 30]) -> (%y: f32[50, 30]) {
        temp %h: f32[50, 90]
        temp %r: f32[50, 90]
        temp %z: f32[50, 30]
        %h[i, j] = sum(k < 60) %x[i, k] * %w[k, j]
        %r[i, j] = max(%h[i, j] + %b[j], 0.0)
        %z[i, j] = sum(k < 90) %r[i, k] * %v[k, j]
        %y[i, j] = tanh(%z[i, j])
      })",
          options);
      ExpectMatchesDefinition(
          R"(dispatch @embed(%t: f32[9, 40], %i: i64[12], %w: f32[40, 33]) -> (%y: f32[12, 33]) {
        %y[i, j] = sum(k < 40) %t[mod(%i[i], 9), k] * %w[k, j]
      })",
          options);
    }
  }
}

TEST(PlanTest, RowsAreFused) {
  const std::string how = ExpectMatchesDefinition(
      R"(dispatch @conv(%x: f32[1, 9, 10, 6], %w: f32[3, 3, 6, 20], %b: f32[20]) -> (%y: f32[1, 9, 10, 20]) {
    temp %acc: f32[1, 9, 10, 20]
    %acc[n, h, w, o] = sum(i < 3, j < 3, c < 6) pad(%x[n, h + i - 1, w + j - 1, c], 0.0) * %w[i, j, c, o]
    %y[n, h, w, o] = max(%acc[n, h, w, o] + %b[o], 0.0)
  })");
  EXPECT_NE(how.find("contraction m=90 n=20 k=54 f32"), std::string::npos)
      << how;
  EXPECT_NE(how.find(", fused"), std::string::npos) << how;
}

TEST(PlanTest, Folds) {
  for (const char* shape : {"[4, 300]", "[300, 4]"}) {
    const bool wide = std::string(shape) == "[4, 300]";
    const std::string n = wide ? "4" : "300", k = wide ? "300" : "4";
    ExpectMatchesDefinition("dispatch @argmax(%x: f32" + std::string(shape) +
                            ") -> (%v: f32[" + n + "], %i: i64[" + n + R"(]) {
      for (i < )" + n + ") fold(k < " +
                            k + R"() {
        element %e0: f32 = %x[i, k] from -inf
        element %e1: i64 = k from 0
        next %a0 = select(%a0 < %e0, %e0, %a0)
        next %a1 = select(%a0 < %e0, %e1, %a1)
        %v[i] = %a0
        %i[i] = %a1
      }
    })");
  }
  ExpectMatchesDefinition(
      R"(dispatch @swap(%x: i32[9]) -> (%v: i32[], %i: i32[]) {
    for () fold(k < 9) {
      element %e0: i32 = %x[k] from 1
      element %e1: i32 = %x[k] from 5
      next %a0 = %a1
      next %a1 = %a0
      %v[] = %a0
      %i[] = %a1
    }
  })");
}

bool Aliases(const char* text) {
  const auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().message();
  return MayAlias(*dispatch, 0, static_cast<int>(dispatch->input_count()));
}

TEST(MayAliasTest, SamePositionOnly) {
  EXPECT_TRUE(Aliases(
      "dispatch @a<N>(%x: f32[N]) -> (%y: f32[N]) { %y[i] = exp(%x[i]) }"));
  EXPECT_FALSE(Aliases(
      "dispatch @a<N>(%x: f32[N]) -> (%y: f32[N]) { %y[i] = %x[N - 1 - i] }"));
  EXPECT_FALSE(Aliases(
      "dispatch @a<N>(%x: i32[N]) -> (%y: f32[N]) { %y[i] = f32(%x[i]) }"));
  EXPECT_FALSE(
      Aliases("dispatch @a<N>(%x: f32[N, N]) -> (%y: f32[N, N]) { %y[i, j] = "
              "%x[j, i] }"));
  EXPECT_FALSE(
      Aliases("dispatch @a<N>(%x: f32[N]) -> (%y: f32[N]) { %y[i] = sum(k < N) "
              "%x[k] }"));
  EXPECT_TRUE(
      Aliases(R"(dispatch @softmax<N>(%x: f32[N, 8]) -> (%y: f32[N, 8]) {
    temp %m: f32[N]
    %m[i] = maximum(k < 8) %x[i, k]
    %y[i, k] = exp(%x[i, k] - %m[i])
  })"));
  EXPECT_FALSE(
      Aliases(R"(dispatch @late<N>(%x: f32[N]) -> (%y: f32[N], %z: f32[N]) {
    %y[i] = %x[i]
    %z[i] = %x[i]
  })"));
}

// A stage writes some rows of a state and others copy the remaining rows. If
// input and output are the same memory, only the new rows must be written.
TEST(MayAliasTest, CopiesOntoItself) {
  const std::string head =
      "dispatch @write<n, p>(%x: f32[n, 4], %row: f32[2, 4]) -> (%y: f32[n, "
      "4]) {";
  const std::string before = "for (i < p, j < 4) %y[i, j] = %x[i, j] ";
  const std::string row = "for (i < 2, j < 4) %y[i + p, j] = %row[i, j] ";
  const std::string after =
      "for (i < n - p - 2, j < 4) %y[i + 2 + p, j] = %x[i + p + 2, j] ";
  const auto aliases = [&](const std::string& body) {
    return Aliases((head + body + "}").c_str());
  };
  EXPECT_TRUE(aliases(before + row + after));
  EXPECT_TRUE(aliases(after + before + row));
  // The output may not share the input's memory if some rows are not stored, or
  // are stored twice.
  EXPECT_FALSE(aliases(before + row));
  EXPECT_FALSE(aliases(before + row +
                       "for (i < n - p - 1, j < 4) %y[i + 1 + p, j] = %x[i + p "
                       "+ 1, j] "));
  // The output may not share the input's memory here: all rows are copied after
  // the new rows were written, and a third stage without points completes the
  // ranges.
  EXPECT_FALSE(Aliases(
      "dispatch @twice<n>(%x: f32[n, 4], %row: f32[2, 4]) -> (%y: f32[n, 4]) {"
      "for (i < 2, j < 4) %y[i + 1, j] = %row[i, j] "
      "for (i < n, j < 4) %y[i, j] = %x[i, j] "
      "for (i < 0, j < 4) %y[i + n, j] = %x[i + n, j] }"));
  // The output may not share the input's memory if rows are copied from another
  // position, or are read by another stage.
  EXPECT_FALSE(aliases(before + row +
                       "for (i < n - p - 2, j < 4) %y[i + 2 + p, j] = %x[i + p "
                       "+ 1, j] "));
  EXPECT_FALSE(aliases(before +
                       "for (i < 2, j < 4) %y[i + p, j] = %row[i, j] + %x[0, "
                       "j] " +
                       after));
}

// The copied input has another rank than the output. Its load is the last of
// the dispatch, so that reading more operands than it has would be out of
// bounds.
TEST(PlanTest, CopiesInputsOfOtherRank) {
  ExpectMatchesDefinition(R"(
  dispatch @rank(%x: f32[5]) -> (%y: f32[5, 1, 1]) {
    for (i < 5, j < 1, k < 1) %y[i, j, k] = %x[i]
  })");
}

// The value of the padding is known only at run time, and may differ between
// elements. The outer dims are combined into one axis of rows.
TEST(PlanTest, PadsByLoadedValues) {
  ExpectMatchesDefinition(R"(
  dispatch @inner(%x: f32[1, 3, 4, 5], %value: f32[]) -> (%y: f32[1, 3, 4, 8]) {
    %y[i0, i1, i2, i3] = pad(%x[i0, i1, i2, i3 - 3], %value[])
  })");
  ExpectMatchesDefinition(R"(
  dispatch @middle(%x: f32[6, 4, 5], %value: f32[4]) -> (%y: f32[6, 7, 5]) {
    %y[i, j, k] = pad(%x[i, j - 2, k], %value[mod(j, 4)])
  })");
  // The padded index depends on both the column and the row of a tile.
  ExpectMatchesDefinition(R"(
  dispatch @diagonal(%x: f32[3, 4, 20]) -> (%y: f32[3, 4, 20, 20]) {
    %y[i, j, k, l] = pad(%x[i, j, k + l - 10], 0.5)
  })");
}

}  // namespace
}  // namespace ember::vm

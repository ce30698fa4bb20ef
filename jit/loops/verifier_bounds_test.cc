// What the verifier proves of bounds, and what it does not.
#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "jit/loops/text.h"
#include "jit/loops/verifier_testing.h"

namespace ember::loops {
namespace {

TEST(VerifierTest, BoundsByRanges) {
  EXPECT_EQ(BodyError("%s[t * 4 + 3] = 0"), "");
  EXPECT_EQ(BodyError("%s[t * 4 + 4] = 0"),
            "store to %s: index 0: expected a proof of 0 <= t * 4 + 4 < 16, "
            "found none");
  EXPECT_EQ(BodyError("%s[t - 1] = 0"),
            "store to %s: index 0: expected a proof of 0 <= t - 1 < 16, found "
            "none");
  EXPECT_EQ(BodyError("for j < 4 { %s[t * 4 + j] = 0 }"), "");
  ExpectNoProof("for j < 5 { %s[t * 4 + j] = 0 }");
  EXPECT_EQ(BodyError("for i < N { %s[mod(i, 16)] = 0 }"), "");
  EXPECT_EQ(BodyError("for i < N { %s[min(i, 15)] = 0 }"), "");
  EXPECT_EQ(BodyError("for i < N { %s[max(min(%l[i], 15), 0)] = 0 }"), "");
  EXPECT_EQ(BodyError("for i < 64 { %s[floordiv(i, 4)] = 0 }"), "");
  ExpectNoProof("for i < 65 { %s[floordiv(i, 4)] = 0 }");
  EXPECT_EQ(BodyError("for i < N { for j < 64 { %y[i, j] = %x[i, 63 - j] } }"),
            "");
  ExpectNoProof("%y[0, 0] = 0");  // N may be 0
  EXPECT_EQ(BodyError("for i < N { %y[0, 0] = 0 }"), "");
  EXPECT_EQ(BodyError("for i < N { %y[i, 0] = %x[N - 1 - i, 0] }"), "");
  ExpectNoProof("for i < N { %y[i, 0] = %x[N - i, 0] }");
  ExpectNoProof("for i < M { %y[i, 0] = 0 }");
  ExpectNoProof("for i < N { %y[i, 0] = select(false, %x[i, 64], 0) }");
  EXPECT_EQ(BodyError("for i < N { %y[i, 0] = pad(%x[i - 5, 64], 0) }"), "");
  // Indices of a pad are expressions like others.
  ExpectNoProof("for i < N { %y[i, 0] = pad(%x[%l[i + 1], 0], 0) }");
}

TEST(VerifierTest, BoundsByConditions) {
  const std::string loops = "for i < floordiv(N + 15, 16) { vector l < 16 { ";
  const std::string y = "%y[i * 16 + l, 0] = 0 ";
  ExpectNoProof(loops + y + "}}");
  EXPECT_EQ(BodyError(loops + "if i * 16 + l < N { " + y + "}}}"), "");
  EXPECT_EQ(BodyError(loops + "if i * 16 + l <= N - 1 { " + y + "}}}"), "");
  EXPECT_EQ(BodyError(loops + "if not(N <= i * 16 + l) { " + y + "}}}"), "");
  EXPECT_EQ(BodyError(loops + "if and(0 < M, i * 16 + l < N) { " + y + "}}}"),
            "");
  EXPECT_EQ(
      BodyError(loops + "if not(or(M < 0, N <= i * 16 + l)) {" + y + "}}}"),
      "");
  EXPECT_EQ(BodyError(loops + "if i * 16 + l == N - 2 { " + y + "}}}"), "");
  // Not enough, or of another value.
  ExpectNoProof(loops + "if i * 16 + l <= N { " + y + "}}}");
  ExpectNoProof(loops + "if or(M < 0, i * 16 + l < N) { " + y + "}}}");
  ExpectNoProof(loops + "if not(i * 16 + l < N) { " + y + "}}}");
  ExpectNoProof(loops + "if i * 16 < N { " + y + "}}}");
  ExpectNoProof(loops + "if i * 16 + l < N { } " + y + "}}");
  // What follows from it.
  EXPECT_EQ(BodyError(loops + "if i * 16 + l < N { %y[i * 16, 0] = 0 }}}"), "");
  EXPECT_EQ(BodyError(loops + "if i * 16 + l < N - 3 {"
                              "%y[i * 16 + l + 3, 0] = 0 }}}"),
            "");
  EXPECT_EQ(BodyError(loops + "if i * 16 + l < N {"
                              "%y[floordiv(i * 16 + l, 3), 0] = 0 }}}"),
            "");
  EXPECT_EQ(BodyError(loops + "if and(2 <= l, i * 16 + l < N) {"
                              "%y[i * 16 + l - 2, 0] = 0 }}}"),
            "");
  EXPECT_EQ(
      BodyError("for i < 100 { if and(4 <= i, i < 20) { %s[i - 4] = 0 }}"), "");
  ExpectNoProof("for i < 100 { if and(3 <= i, i < 20) { %s[i - 4] = 0 }}");
  // Narrow types.
  EXPECT_EQ(BodyError("for i < N { if and(0 <= %k[i], %k[i] < 16) {"
                      "%s[i64(%k[i])] = 0 } }"),
            "");
  ExpectNoProof("for i < N { if %k[i] < 16 { %s[i64(%k[i])] = 0 } }");
  ExpectNoProof("for i < N { if %k[i] < 16 { %s[i64(u32(%k[i]))] = 0 } }");
}

TEST(VerifierTest, BoundsBySplitsOfSymbolicLoops) {
  // Splits without a guard: whole blocks only.
  EXPECT_EQ(BodyError("for i < floordiv(N, 16) { vector l < 16 {"
                      "%y[i * 16 + l, 0] = 0 } }"),
            "");
  ExpectNoProof(
      "for i < floordiv(N, 16) + 1 { vector l < 16 {"
      "%y[i * 16 + l, 0] = 0 } }");
  EXPECT_EQ(
      BodyError("for i < floordiv(N + 15, 16) {"
                "for l < min(16, N - i * 16) { %y[i * 16 + l, 0] = 0 } }"),
      "");
  // One loop over several dims.
  EXPECT_EQ(BodyError("for i < N * 64 {"
                      "%y[floordiv(i, 64), mod(i, 64)] = 0 }"),
            "");
  ExpectNoProof("for i < N * 64 + 1 { %y[floordiv(i, 64), mod(i, 64)] = 0 }");
  EXPECT_EQ(BodyError("for i < N * M { %z[floordiv(i, M), mod(i, M)] = 0 }"),
            "");
  EXPECT_EQ(BodyError("for i < M * N { %z[floordiv(i, M), mod(i, M)] = 0 }"),
            "");
  ExpectNoProof("for i < N * M { %z[floordiv(i, N), mod(i, M)] = 0 }");
  ExpectNoProof("for i < N * M { %z[mod(i, M), mod(i, M)] = 0 }");
  EXPECT_EQ(BodyError("for i < M { for j < N { %z[j, i] = 0 } }"), "");
  ExpectNoProof("for i < M { for j < N { %z[i, j] = 0 } }");
}

// Of products that may overflow nothing follows: N * M * 4 could be 4 for large
// numbers, but no buffer has such extents.
TEST(VerifierTest, ProductsThatMayOverflow) {
  const auto error = [](const std::string& buffer) {
    return ErrorOf("loops @t<N, M>(" + buffer +
                   R"(, %z: output i64[N], %w: output i64[M]) {
             phase i < N * M * 4 { %z[floordiv(i, M * 4)] = 0  %w[mod(floordiv(i, 4), M)] = 0 }
           })");
  };
  EXPECT_EQ(error("%x: input f32[N, M, 4]"), "");
  EXPECT_EQ(error("%x: input f32[M, 8, N]"), "");
  EXPECT_EQ(error("%x: input f32[N * M * 4]"), "");
  EXPECT_NE(error("%x: input f32[N, M]"), "");
  EXPECT_NE(error("%x: input f32[N + M, 4]"), "");
}

TEST(VerifierTest, IndicesThatMayWrapAreNotProved) {
  // x + 2^63 - 1 - N < N may hold because the left side wraps.
  ExpectNoProof(
      "for i < N { if %l[i] + 9223372036854775807 < N {"
      "%y[min(%l[i] + 9223372036854775807, N - 1), 0] = 0 } }");
  EXPECT_EQ(BodyError("for i < N { if and(0 <= %l[i] + 5, %l[i] + 5 < N) {"
                      "%y[%l[i] + 5, 0] = 0 } }"),
            "");
  // %l[i] + 5 was in bounds, but not so %l[i]: that may be -5.
  ExpectNoProof(
      "for i < N { if and(0 <= %l[i] + 5, %l[i] + 5 < N) {"
      "%y[%l[i], 0] = 0 } }");
  ExpectNoProof(
      "for i < N { if %l[i] * 4 < N { if 0 <= %l[i] * 4 {"
      "%y[%l[i], 0] = 0 } } }");
}

TEST(VerifierTest, SelectsAndExtremesByCases) {
  EXPECT_EQ(BodyError("for i < N { %y[select(M < 3, i, N - 1 - i), 0] = 0 }"),
            "");
  ExpectNoProof("for i < N { %y[select(M < 3, i, N - i), 0] = 0 }");
  EXPECT_EQ(BodyError("for i < N { %y[min(i + 1, N - 1), 0] = 0 }"), "");
  EXPECT_EQ(BodyError("for i < N { %y[max(i - 1, 0), 0] = 0 }"), "");
  EXPECT_EQ(BodyError("for i < N { %y[max(min(%l[i], N - 1), 0), 0] = 0 }"),
            "");
  ExpectNoProof("for i < N { %y[max(min(%l[i], N), 0), 0] = 0 }");
  // N may be 0 where no loop says otherwise.
  ExpectNoProof("%y[max(min(M, N - 1), 0), 0] = 0");
}

TEST(VerifierTest, BoundsByChecks) {
  const std::string use = "%y[i, 0] = %x[%l[i], 0] ";
  EXPECT_EQ(BodyError("for i < N { check %x.0 %l[i] < N " + use + "}"), "");
  // A hint proves nothing, and need not be in bounds.
  EXPECT_EQ(BodyError("for i < N { prefetch %x i * 1000 - 7 }"), "");
  EXPECT_NE(BodyError("vector l < 8 { prefetch %x l }")
                .find("expected no vector loop around it"),
            std::string::npos);
  ExpectNoProof("for i < N { prefetch %x %l[i] " + use + "}");
  ExpectNoProof("for i < N { check %x.0 %l[i] < N + 1 " + use + "}");
  ExpectNoProof("for i < N { check %x.0 %l[N - 1 - i] < N " + use + "}");
  ExpectNoProof("for i < N { if M < 4 { check %x.0 %l[i] < N } " + use + "}");
  EXPECT_EQ(BodyError("for i < N { check %x.0 %l[i] < N for j < 64 {"
                      "%y[i, j] = %x[%l[i], j] } }"),
            "");
}

TEST(VerifierTest, FactsAboutLoadsEndWithStores) {
  const std::string check = "for i < N { check %x.0 %l[i] < N ";
  const std::string use = "%y[i, 0] = %x[%l[i], 0] ";
  // %z and %w are no memory of %l: of another rank and type.
  EXPECT_EQ(
      BodyError("for i < N { %w[i] = 0 } " + check + "%w[i] = 0 " + use + "}"),
      "");
  // An output of type and rank of %l may be its memory.
  const auto error = [](const std::string& body) {
    return ErrorOf(
        "loops @t<N>(%x: input f32[N], %l: input i64[N], %y: output f32[N], "
        "%o: output i64[N]) { register %h: i64[1] call %c: i64[N] "
        "phase t < N { %c[t] = 0 } phase i < N {" +
        body + "}}");
  };
  EXPECT_EQ(error("check %x.0 %l[i] < N %y[i] = %x[%l[i]] %o[i] = 0"), "");
  EXPECT_NE(error("check %x.0 %l[i] < N %o[i] = 0 %y[i] = %x[%l[i]]"), "");
  EXPECT_NE(error("check %x.0 %l[i] < N for j < 2 { %y[i] = %x[%l[i]] "
                  "%o[i] = 0 }"),
            "");
  EXPECT_NE(error("check %x.0 %l[i] < N if i < 4 { %o[i] = 0 } "
                  "%y[i] = %x[%l[i]]"),
            "");
  // Held in a register it stays.
  EXPECT_EQ(error("%h[0] = %l[i] check %x.0 %h[0] < N for j < 2 {"
                  "%y[i] = %x[%h[0]] %o[i] = 0 }"),
            "");
  EXPECT_NE(error("%h[0] = %l[i] check %x.0 %h[0] < N %h[0] = 5 "
                  "%y[i] = %x[%h[0]]"),
            "");
  // What other tasks store to.
  EXPECT_EQ(error("check %x.0 %c[i] < N %y[i] = %x[%c[i]]"), "");
  EXPECT_NE(error("check %x.0 %c[i] < N %y[i] = %x[%c[i]] %c[i] = 7"), "");
}

// Where conditions exclude each other nothing runs.
TEST(VerifierTest, UnreachableStatementsNeedNoProof) {
  EXPECT_EQ(BodyError("if 1 < 0 { %s[99] = 0 }"), "");
  EXPECT_EQ(BodyError("if t < 2 { if 5 <= t + 1 { %s[99] = 0 } }"), "");
  ExpectNoProof("if t < 2 { if 2 <= t + 1 { %s[99] = 0 } }");
  ExpectNoProof("if 1 < 0 { } %s[99] = 0");
  // Not so after a store that may have changed what was compared.
  EXPECT_EQ(BodyError("%s[0] = t if %s[0] < 0 { if 0 < %s[0] {"
                      "%s[99] = 0 } }"),
            "");
  ExpectNoProof(
      "%s[0] = t if %s[0] < 0 { %s[0] = 1 if 0 < %s[0] {"
      "%s[99] = 0 } }");
}

TEST(VerifierTest, FactsEndWithTheirLoops) {
  ExpectNoProof("for i < 4 { if i < 2 { } } for i < 4 { %s[i + 14] = 0 }");
  EXPECT_EQ(BodyError("for i < 4 { if i < 2 { %s[i + 14] = 0 } }"), "");
  ExpectNoProof("for i < 2 { } for i < 4 { %s[i + 14] = 0 }");
}

// Of the noted ranges of the pool nothing is believed.
TEST(VerifierTest, NotedRangesAreNotBelieved) {
  StatusOr<LoopNest> nest = Parse(WithBody("for i < N { %s[i] = 0 }"));
  ASSERT_TRUE(nest.ok());
  const NodeId i = nest->phases[0].body[0].variable;
  nest->pool.Refine(i, {0, 0});
  EXPECT_NE(ErrorOf(*nest), "");
}

// 2^48 additions if each way to a shared node was walked.
TEST(VerifierTest, SharedSumsDoNotExplode) {
  std::string body = "let %a0 = t + t ";
  for (int i = 1; i < 100; ++i) {
    const std::string before = " %a" + std::to_string(i - 1);
    body += "let %a" + std::to_string(i) + " =" + before + " +" + before + " ";
  }
  ExpectNoProof(body + "%s[%a99] = 0");
}

}  // namespace
}  // namespace ember::loops

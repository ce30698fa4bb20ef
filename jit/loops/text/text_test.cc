#include "jit/loops/text/text.h"

#include <string>

#include "gtest/gtest.h"

namespace ember::loops {
namespace {

// Expects that parsing the text and printing the result gives the same text.
// The text must have the formatting of ToText.
void ExpectRoundTrip(const std::string& text) {
  const StatusOr<LoopNest> parsed = Parse(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message() << "\n" << text;
  EXPECT_EQ(ToText(*parsed), text);
}

TEST(TextTest, EveryStatementAndBuffer) {
  ExpectRoundTrip(
      R"(loops @all<N, M>(%x: input f32[N, 64], %k: input i32[M], %y: output f32[N, 64], %m: output f32[N]) {
  packed %b: f32[2, 64, 32]
  call %t: f32[N]
  task %s: f32[64]
  register %acc: f32[14, 32]
  prologue i < 2 {
    %b[i, 0, 0] = 1.0
  }
  phase n < N {
    for j < min(16, N - n * 16) {
      unroll u < 14 {
        vector l < 16 {
          %acc[u, l] = 0.0
          %acc[u, l + 16] += %x[n, j] * %b[1, j, l + 16]
        }
      }
    }
    if and(n < M, 0 < n) {
      check %x.0 i64(%k[n]) < N
      prefetch %b n * 64 + 4096
      %s[0] min= %x[i64(%k[n]), 0]
      %s[1] max= pad(%x[n - 1, 64], -inf)
      %s[2] *= 2.0
    }
    {
      %y[n, 0] = %s[0]
      %m[n] = %s[1]
    }
  }
  phase i < floordiv(N + 15, 16) {
    invocation v < 16 {
      if i * 16 + v < N {
        %t[i * 16 + v] = 0.0
      }
    }
    invocation v < 16 {
      async %s[v] = %x[0, v]
    }
    await 2
    barrier
    barrier orders stores
  }
}
)");
}

TEST(TextTest, Empty) {
  ExpectRoundTrip(R"(loops @empty() {
}
)");
}

TEST(TextTest, LoopsMayShareNames) {
  const std::string text = R"(loops @twice(%y: output i64[8]) {
  phase t < 1 {
    for i < 4 {
      %y[i] = i
    }
    for i < 4 {
      %y[i] += i
    }
    for i < 8 {
      %y[i] *= 2
    }
  }
}
)";
  ExpectRoundTrip(text);
  const StatusOr<LoopNest> nest = Parse(text);
  ASSERT_TRUE(nest.ok());
  EXPECT_EQ(nest->variables, (std::vector<std::string>{"t", "i"}));
  const Block& body = nest->phases[0].body;
  EXPECT_EQ(body[0].variable, body[1].variable);
  EXPECT_NE(body[0].variable, body[2].variable);
}

TEST(TextTest, SharedExpressionsGetNames) {
  ExpectRoundTrip(
      R"(loops @lets<N, %h0 = floordiv(N + 1, 2) * 3 + max(N, 4)>(%x: input f32[%h0, %h0], %y: output f32[4, 4]) {
  phase t < %h0 {
    let %t0 = 1.0 / (1.0 + exp(neg(%x[0, t])))
    %y[0, 1] = %x[0, 0] * %t0 + %t0
    let %t1 = mod(floordiv(t, 2) + 1, 4)
    if %t1 * %t1 < 4 {
      let %t2 = mod(t + N, 3) + 1
      for i < %t2 * %t2 {
        let %t3 = mod(t + i, 4)
        {
          %y[0, %t3] = 1.0
          %y[1, %t3] = 2.0
        }
      }
    }
  }
}
)");
}

// Shows that a let may be at any position of a block, and that it only names an
// expression: parsing replaces the name by the expression.
TEST(TextTest, LetsMayStandAnywhere) {
  const StatusOr<LoopNest> nest = Parse(R"(
      loops @lets<N>(%y: output i64[N]) {
        let %n = N + 1
        phase t < %n {
          let %a = t * %n  // as it were written twice below
          let %unused = 1
          for i < %a { let %a2 = %a + i  %y[%a2] = %a2 }
        }
      })");
  ASSERT_TRUE(nest.ok()) << nest.status().message();
  EXPECT_EQ(ToText(*nest), R"(loops @lets<N>(%y: output i64[N]) {
  phase t < N + 1 {
    for i < t * (N + 1) {
      let %t0 = t * (N + 1) + i
      %y[%t0] = %t0
    }
  }
}
)");
}

TEST(TextTest, SharedValuesDoNotExplode) {
  std::string text = "loops @t(%y: output i64[1]) { phase t < 1 {";
  text += "let %a0 = t + 1\n";
  for (int i = 1; i < 100; ++i) {
    const std::string before = "%a" + std::to_string(i - 1);
    text += "let %a" + std::to_string(i) + " = " + before + " * " + before;
    text += "\n";
  }
  text += "%y[0] = %a99 } }";
  const StatusOr<LoopNest> nest = Parse(text);
  ASSERT_TRUE(nest.ok()) << nest.status().message();
  const std::string printed = ToText(*nest);
  EXPECT_LT(printed.size(), 5000u);
  ExpectRoundTrip(printed);
}

TEST(TextTest, Workgroups) {
  ExpectRoundTrip(R"(loops @t<N>(%x: input f16[N, 64], %y: output f32[N]) {
  task %a: f16[2, 64, 64]
  task %b: u8[64]
  task %c: f32[64]
  register %r: f32[256]
  register %s: i32[8, 16, 16]
  prologue p < 1 {
    workgroup 64 of_tasks iterations 65536
    memory %x reads
    private %b reads writes
  }
  phase i < N {
    workgroup 256 bytes 16448 slots_at 16416 at_most 264 producer checks
    memory %x reads coherent
    memory %y writes ordered
    shared %a reads writes panels 64 by 128 at 0
    slices %b reads writes
    shared %c reads writes at 16384
    registers %r reads writes of_invocations
    matrices %s reads writes unsigned of_invocations
    barrier
  }
  phase i < 4 {
    workgroup 1 alone
    ring slots 4 bytes 24576 subgroups 8 in_flight
    ring slots 2 bytes 8192 subgroups 4
    shared %a reads native
    shared %b reads words
    shared %c reads vectors
    for k < 2 {
      in_flight subgroup s < 2 {
      }
      subgroup s < 2 {
        await ring 0 slot mod(k, 4)
        release ring 1 slot 0
      }
      producer if k < 1 {
        producer fill ring 1 slot k
        producer box 1 bytes 8192 of 1 64 32 dims none 1 2 order 0 2 1 piece 0 at 0 0 0 piece 4096 at 0 0 32 invocation v < 64 {
          async %a[0, v, k] = 1.0
        }
      }
      producer await 1
    }
  }
}
)");
}

TEST(TextTest, CombiningAndGuards) {
  ExpectRoundTrip(
      R"(loops @t(%x: input f32[64], %z: input f32[2], %y: output f32[2] shares %z) {
  task %parts: f32[2] shared
  register %most: f32[]
  phase i < 1 {
    invocation j < 64 subgroup s < 2 of 32 {
      subgroup_maximum %parts[s] = %x[j]
    }
    first {
      %most[] = %parts[0]
      %y[0] = %most[]
    }
  }
}
)");
}

TEST(TextTest, LongChainsAreCutByNames) {
  std::string text = "loops @t(%y: output f32[1]) { phase t < 1 {\n";
  text += "let %a0 = f32(t)\n";
  for (int i = 1; i < 3000; ++i) {
    text += "let %a" + std::to_string(i) + " = sin(%a" + std::to_string(i - 1) +
            ")\n";
  }
  text += "%y[0] = %a2999 } }";
  const StatusOr<LoopNest> nest = Parse(text);
  ASSERT_TRUE(nest.ok()) << nest.status().message();
  ExpectRoundTrip(ToText(*nest));
}

std::string ErrorOf(const std::string& text) {
  const StatusOr<LoopNest> parsed = Parse(text);
  return parsed.ok() ? "no error" : std::string(parsed.status().message());
}

std::string BodyError(const std::string& body) {
  return ErrorOf(
      "loops @t<N>(%x: input f32[N, 4], %y.1: output f32[N]) { phase i < N "
      "{\n" +
      body + "\n}}");
}

TEST(TextTest, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(ErrorOf(""), "1:1: expected 'loops', found the end of the text");
  EXPECT_EQ(ErrorOf("loops t"),
            "1:7: expected the name of the nest (@name), found 't'");
  EXPECT_EQ(ErrorOf("loops @t(%x: f32[])"),
            "1:14: expected 'input' or 'output', found 'f32'");
  EXPECT_EQ(ErrorOf("loops @t() { input %x: f32[] }"),
            "1:14: expected 'input' only among the parameters of the nest");
  EXPECT_EQ(ErrorOf("loops @t() { task %x: f32[] task %x: f32[] }"),
            "1:34: expected a new name, found '%x' again");
  EXPECT_EQ(ErrorOf("loops @t() { for }"),
            "1:14: expected a buffer, 'prologue', 'phase', 'let' or '}', "
            "found 'for'");
  EXPECT_EQ(ErrorOf("loops @t() { phase i < 1 {} prologue j < 1 {} }"),
            "1:29: expected 'prologue' before the first 'phase'");
  EXPECT_EQ(ErrorOf("loops @t() {} loops"),
            "1:15: expected the end of the text, found 'loops'");
  EXPECT_EQ(BodyError("  for i < 4 {}"),
            "2:7: expected a new name, found 'i' again");
  EXPECT_EQ(BodyError("  for N < 4 {}"),
            "2:7: expected a new name, found 'N' again");
  EXPECT_EQ(BodyError("  for j < 4 {} %y.1[j] = 0"),
            "2:21: expected a name that is known here, found 'j'");
  EXPECT_EQ(BodyError("  if i {}"),
            "2:6: expected a value of type bool, found i64");
  EXPECT_EQ(BodyError("  phase j < 4 {}"),
            "2:3: expected a loop, 'if', 'first', 'check', 'prefetch', "
            "'await', 'barrier', 'fill', 'release', 'let', a store "
            "(%name[...] = ...) or '}', found 'phase'");
  EXPECT_EQ(BodyError("  barrier orders"), "3:1: expected 'stores', found '}'");
  EXPECT_EQ(BodyError("  in_flight for j < 4 {}"),
            "2:13: expected 'subgroup', found 'for'");
  EXPECT_EQ(BodyError("producer %y.1[i] = 1.0"),
            "2:10: expected a loop, 'if', 'await' or 'fill', found '%y.1'");
  EXPECT_EQ(BodyError("box 0 bytes 8 of 1 dims 0 order 0 for j < 4 {}"),
            "2:35: expected 'invocation', found 'for'");
  EXPECT_EQ(BodyError("workgroup bytes 8"),
            "2:11: expected a number of invocations, found 'bytes'");
  EXPECT_EQ(BodyError("workgroup 8 memory %x reads memory %x reads"),
            "2:36: expected one line for buffer %x, found a second one");
  EXPECT_EQ(BodyError("workgroup 8 memory %z reads"),
            "2:20: expected a buffer that is declared, found '%z'");
  EXPECT_EQ(BodyError("workgroup 8 memory %x reads panels 8"),
            "3:1: expected 'by', found '}'");
  EXPECT_EQ(BodyError("  check %x i < N"),
            "2:9: expected a dim behind the buffer (%x.0), found none");
  EXPECT_EQ(BodyError("  check %x.2 i < N"),
            "2:9: expected a dim below 2, found '2'");
  EXPECT_EQ(BodyError("  check %z.0 i < N"),
            "2:9: expected a buffer that is declared, found '%z'");
  EXPECT_EQ(BodyError("  check %y.1.0 i < N"), "no error");
  EXPECT_EQ(BodyError("  prefetch %y.1 i * 4 - 100"), "no error");
  EXPECT_EQ(BodyError("  %x[i] = 0"),
            "2:3: expected 2 indices for %x, found 1");
  EXPECT_EQ(BodyError("  %y.1[i] = i"),
            "2:13: expected a value of type f32, found i64");
  EXPECT_EQ(BodyError("  if true { let %a = 1 } %y.1[%a] = 0"),
            "2:31: expected a name that is known here, found '%a'");
}

TEST(TextTest, DeepNestingIsAnErrorNotACrash) {
  std::string ifs;
  for (int i = 0; i < 100000; ++i) ifs += "if true {";
  EXPECT_NE(BodyError(ifs).find("at most 200 statements"), std::string::npos);
  EXPECT_NE(BodyError("%y.1[i] = " + std::string(100000, '(')).find("nested"),
            std::string::npos);
}

}  // namespace
}  // namespace ember::loops

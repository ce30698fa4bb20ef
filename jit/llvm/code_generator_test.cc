// Statements, loops, lanes and memory: nests compiled against the evaluator.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "jit/llvm/testing.h"
#include "jit/loops/text_template.h"

namespace ember::jit {
namespace {

using loops::Replaced;

// --- loops

TEST(CodeGeneratorTest, SerialLoops) {
  ExpectAsEvaluated(R"(loops @triangle<N>(%x: input f32[N, N],
                                          %y: output f32[N, N]) {
    phase i < N {
      for j < i + 1 {
        %y[i, j] = %x[j, i] * f32(i - j)
      }
      for j < N - i - 1 {
        %y[i, N - 1 - j] = 0.0
      }
    }
  })",
                    {9});
}

TEST(CodeGeneratorTest, EmptyLoopsAndPhases) {
  const std::string text = R"(loops @empty<N>(%x: input f32[N, 4],
                                              %y: output f32[4]) {
    phase i < 4 {
      %y[i] = 1.0
      for k < N { %y[i] += %x[k, i] }
      for k < 0 { %y[i] += 100.0 }
    }
    phase i < N { %y[0] += 1.0 }
  })";
  ExpectAsEvaluated(text, {0});
  ExpectAsEvaluated(text, {3});
}

TEST(CodeGeneratorTest, UnrolledLoopsAndConditionsOnThem) {
  ExpectAsEvaluated(R"(loops @unrolled<N>(%x: input f32[N, 5],
                                          %y: output f32[N, 5]) {
    phase i < N {
      unroll j < 5 {
        if j < 3 { %y[i, j] = %x[i, 4 - j] }
        if 3 <= j { %y[i, j] = %x[i, j] * f32(j) }
        if i < j { %y[i, j] += 1.0 }
      }
    }
  })",
                    {7});
}

TEST(CodeGeneratorTest, ScopesOfMemory) {
  ExpectAsEvaluated(R"(loops @scopes<N>(%x: input f32[N, 16], %w: input f32[16],
                                        %y: output f32[N, 16]) {
    packed %p: f32[16]
    call %c: f32[N]
    task %t: f32[16]
    register %r: f32[2, 16]
    prologue i < 16 { %p[15 - i] = %w[i] }
    phase i < N {
      %c[i] = 0.0
      for j < 16 { %c[i] += %x[i, j] }
    }
    phase i < N {
      unroll u < 2 { vector l < 16 { %r[u, l] = f32(u + 1) } }
      for j < 16 { %t[j] = %x[i, j] * %p[j] }
      for k < N {
        unroll u < 2 { vector l < 16 { %r[u, l] += %t[l] * %c[k] } }
      }
      vector l < 16 { %y[i, l] = %r[0, l] - %r[1, l] + %t[l] }
    }
  })",
                    {5});
}

// On a CPU they are serial loops, and registers of invocations memory.
TEST(CodeGeneratorTest, Invocations) {
  ExpectAsEvaluated(
      R"(loops @tiles<N>(%x: input f32[N, 64], %w: input f32[64, 6],
                                       %y: output f32[N, 6]) {
    task %tile: f32[2, 16]
    register %sum: f32[3, 2, 2]
    phase t < floordiv(N + 1, 2) {
      invocation v < 3 {
        unroll i < 2 { unroll j < 2 { %sum[v, i, j] = 0.0 } }
      }
      for k0 < 4 {
        invocation v < 32 {
          if t * 2 + floordiv(v, 16) < N {
            %tile[floordiv(v, 16), mod(v, 16)]
                = %x[t * 2 + floordiv(v, 16), k0 * 16 + mod(v, 16)]
          }
        }
        invocation v < 3 {
          for k1 < 16 {
            unroll i < 2 {
              unroll j < 2 {
                %sum[v, i, j] += %tile[i, k1] * %w[k0 * 16 + k1, v * 2 + j]
              }
            }
          }
        }
      }
      invocation v < 3 {
        unroll i < 2 {
          if t * 2 + i < N {
            vector j < 2 { %y[t * 2 + i, v * 2 + j] = %sum[v, i, j] }
          }
        }
      }
    }
  })",
      {5});
}

TEST(CodeGeneratorTest, TargetsStoredTogether) {
  ExpectAsEvaluated(R"(loops @argmax<N>(%x: input f32[N], %m: output f32[],
                                        %i: output i64[]) {
    phase t < 1 {
      { %m[] = -inf %i[] = 0 }
      for k < N {
        {
          %m[] = max(%m[], %x[k])
          %i[] = select(%m[] < %x[k], k, %i[])
        }
      }
    }
  })",
                    {40});
  // Both updates count, and see values of before.
  ExpectAsEvaluated(R"(loops @twice(%y: output f32[4]) {
    phase i < 4 { { %y[i] += %y[i] * 2.0 %y[i] += %y[i] * 3.0 } }
  })");
}

// --- lanes

// x[a * l + b] in lanes of l, of every kind of step.
TEST(CodeGeneratorTest, LoadsOfEveryStep) {
  for (const char* type :
       {"f32", "f64", "f16", "bf16", "i8", "i16", "i64", "bool"}) {
    for (const char* lanes : {"16", "7", "20"}) {
      const std::string text = R"(loops @step<N>(%x: input T[N, 64],
          %k: input i64[64], %y: output T[N, 10, W], %z: output T[W]) {
        phase i < N {
          vector l < W {
            %y[i, 0, l] = %x[i, l + 3]
            %y[i, 1, l] = %x[i, 40 - l]
            %y[i, 2, l] = %x[i, l * 3 + 1]
            %y[i, 3, l] = %x[i, 60 - l * 2]
            %y[i, 4, l] = %x[i, 5]
            %y[i, 5, l] = %x[i, floordiv(l, 2) + i]
            %y[i, 6, l] = %x[i, %k[l] + 1]
            %y[i, 7, l] = %x[%k[i], l * 2]
            %y[i, 8, W - 1 - l] = %x[i, l + i]
          }
        }
        phase t < 1 {
          vector l < W {
            if l < N { %z[l] = %x[l, 6 + l] }
          }
        }
      })";
      ExpectAsEvaluated(
          Replaced(Replaced(text, "T[", std::string(type) + "["), "W", lanes),
          {5});
    }
  }
}

TEST(CodeGeneratorTest, LanesThatAreOffTouchNoMemory) {
  for (const char* type : {"f32", "f64", "f16", "i8", "i16", "bool"}) {
    for (const char* lanes : {"16", "7", "64"}) {
      const std::string text = R"(loops @masked<N>(%x: input T[N],
          %w: input T[N, N], %k: input i64[N], %u: input T[N, 2],
          %y: output T[N, 9]) {
        phase i < floordiv(N + W - 1, W) {
          vector l < W {
            if i * W + l < N {
              %y[i * W + l, 0] = %x[i * W + l]
              %y[i * W + l, 1] = %x[N - 1 - i * W - l]
              %y[i * W + l, 2] = %u[i * W + l, 1]
              %y[N - 1 - i * W - l, 3] = %w[i * W + l, 0]
              %y[i * W + l, 4] = %w[N - 1, i * W + l]
              %y[i * W + l, 5] = %x[mod(%k[i * W + l], N)]
              %y[i * W + l, 6] = %x[floordiv(i * W + l, 2)]
              %y[i * W + l, 7] = %x[N - 1]
            }
            if N - 1 <= i * W + l {
              if i * W + l <= N - 1 { %y[i * W + l, 8] = %x[i * W + l] }
            }
          }
        }
      })";
      const std::string instance =
          Replaced(Replaced(text, "T[", std::string(type) + "["), "W", lanes);
      if (lanes == std::string("64") && type[0] != 'i') continue;  // slow
      for (int64_t n : {0, 6, 16, 23}) ExpectAsEvaluated(instance, {n});
    }
  }
}

// Conditions that LLVM can compute in part, and that leave halves of vectors
// all on or all off.
TEST(CodeGeneratorTest, ConditionsThatArePartlyKnown) {
  for (const char* lanes : {"15", "16", "12", "20", "32"}) {
    for (const char* condition :
         {"l < 9", "8 <= l", "0 - l < N", "l < 1", "and(l < 20, l < N)"}) {
      const std::string text =
          Replaced(R"(loops @known<N>(%x: input i32[N], %z: output i32[2, W],
                                      %y: output i32[W]) {
            phase i < 2 {
              vector l < W {
                %z[i, l] = pad(%x[0 - l], 5)
                if C { %y[l] = pad(%x[l + i], 7) }
                if C { if l < N { %y[l] += %x[l] } }
              }
            }
          })",
                   "W", lanes);
      for (int64_t n : {1, 40})
        ExpectAsEvaluated(Replaced(text, "C", condition), {n});
    }
  }
}

// What mentions the lane and is the same in all: a scalar.
TEST(CodeGeneratorTest, LanesThatCancel) {
  ExpectAsEvaluated(R"(loops @cancel<N>(%x: input i32[N], %k: input i64[8],
                                        %y: output i32[8, 3]) {
    phase t < 1 {
      vector l < 8 {
        check %x.0 mod(%k[l - l], 3) < N
        %y[l, 0] = %x[mod(%k[l - l], 3)]
        %y[l, 1] = pad(%x[%k[0 - l + l * 1] * 5], 7)
        %y[l, 2] = pad(%x[max(%k[l - l], l - l)], 3)
      }
    }
  })",
                    {4});
}

// No part of a gather is without addresses, in which LLVM 19 may make it trap.
TEST(CodeGeneratorTest, AllLanesOfGathersHaveAddresses) {
  const auto ir = [](const char* lanes, const char* condition) {
    const std::string text =
        Replaced(Replaced(R"(loops @gather(%x: input i32[8],
        %k: input i64[W], %y: output i32[W]) {
      phase t < 1 {
        vector l < W {
          %y[l] = 7
          if C { %y[l] = %x[mod(%k[l], 8)] }
        }
      }
    })",
                          "W", lanes),
                 "C", condition);
    ExpectAsEvaluated(text);
    return CompileOrDie(ParseOrDie(text), {.keep_llvm = true})->llvm;
  };
  const std::string odd = ir("20", "l < 20");
  EXPECT_NE(odd.find("call <32 x i32> @llvm.masked.gather"), std::string::npos)
      << odd;
  EXPECT_EQ(odd.find("call <20 x i32> @llvm.masked.gather"), std::string::npos)
      << odd;
  const std::string masked = ir("16", "or(l == 2, l == 5)");
  EXPECT_NE(masked.find("@inactive"), std::string::npos) << masked;
  EXPECT_EQ(ir("16", "l < 16").find("@inactive"), std::string::npos);
}

// Columns of a tile are shuffles of its rows, whatever its size and type; some
// lanes may be off.
TEST(CodeGeneratorTest, TransposedTiles) {
  struct Case {
    const char* type;
    int lanes, columns;
  };
  for (const Case& c :
       {Case{"f32", 8, 4}, Case{"f32", 8, 8}, Case{"f32", 16, 4},
        Case{"f32", 4, 4}, Case{"f64", 4, 2}, Case{"f64", 8, 6},
        Case{"i8", 32, 16}, Case{"i8", 8, 8}, Case{"bool", 16, 16},
        Case{"i16", 16, 8}, Case{"bf16", 8, 8}, Case{"f32", 8, 3}}) {
    for (const int rows : {c.lanes, c.lanes - 1}) {
      std::string text = R"(loops @t(%x: input TYPE[ROWS, COLUMNS],
                                     %y: output TYPE[COLUMNS, ROWS]) {
        task %t: TYPE[LANES, COLUMNS]
        phase i < 1 {
          unroll r < ROWS {
            for c < COLUMNS { %t[r, c] = %x[r, c] }
          }
          unroll c < COLUMNS {
            vector l < LANES {
              if l < ROWS { %y[c, l] = %t[l, c] }
            }
          }
        }
      })";
      text = Replaced(text, "TYPE", c.type);
      text = Replaced(text, "ROWS", std::to_string(rows));
      text = Replaced(text, "LANES", std::to_string(c.lanes));
      text = Replaced(text, "COLUMNS", std::to_string(c.columns));
      ExpectAsEvaluated(text);
    }
  }
}

TEST(CodeGeneratorTest, ConditionsOnLanes) {
  for (const char* condition :
       {"l < N", "l <= N", "N < l", "N <= l", "5 - l < N", "N <= 5 - l",
        "l * 2 < N", "l == N", "%x[l] < 0.0", "l < N + 9223372036854775800",
        "l <= 9223372036854775807", "N - 9223372036854775807 <= l",
        "and(l < N, 2 <= l)", "mod(l, 3) == N"}) {
    const std::string text =
        Replaced(R"(loops @condition<N>(%x: input f32[16], %y: output f32[16],
                                        %z: output bool[16]) {
          phase t < 1 {
            vector l < 16 {
              if CONDITION { %y[l] = %x[l] + 1.0 }
              %z[l] = CONDITION
            }
          }
        })",
                 "CONDITION", condition);
    for (int64_t n : {-20, -1, 0, 1, 2, 5, 15, 16, 17, 40})
      ExpectAsEvaluated(text, {n});
  }
}

TEST(CodeGeneratorTest, LoopsAndUniformConditionsInLanes) {
  ExpectAsEvaluated(R"(loops @inside<N, M>(%x: input f32[M, N],
                                           %y: output f32[N]) {
    phase i < floordiv(N + 15, 16) {
      vector l < 16 {
        if i * 16 + l < N {
          %y[i * 16 + l] = 0.0
          for k < M {
            if k < 3 { %y[i * 16 + l] += %x[k, i * 16 + l] * %x[0, N - 1] }
          }
        }
      }
    }
  })",
                    {21, 5});
}

// --- padding

TEST(CodeGeneratorTest, PadsInAnyDim) {
  for (const char* lanes : {"16", "5"}) {
    const std::string text = R"(loops @pad<H, V>(%x: input f32[H, V],
                                                 %y: output f32[7, H, W]) {
      phase i < H {
        vector l < W {
          %y[0, i, l] = pad(%x[i - 1, l - 2], 0.5)
          %y[1, i, l] = pad(%x[i + 1, 3 - l], -inf)
          %y[2, i, l] = pad(%x[l - 1, i], 1.0)
          %y[3, i, l] = pad(%x[i - 2, 2], f32(l))
          %y[4, i, l] = pad(%x[i, l * 2 - 3], 2.0)
          %y[5, i, l] = pad(%x[mod(l, 3), l - i], f32(l))
          if l < V { %y[6, i, l] = pad(%x[i + 1, l + 1], 3.0) }
        }
      }
    })";
    for (int64_t width : {5, 16, 30})
      ExpectAsEvaluated(Replaced(text, "W", lanes), {4, width});
  }
}

// Digits of one value are the value again where they lie behind each other in
// memory, and bounds on its quotient are bounds on it.
TEST(CodeGeneratorTest, DigitsOfLanes) {
  const std::string text = R"(loops @digits<H, V>(
      %x: input f32[H, V, D], %y: output f32[8, H, 7, D]) {
    phase i < H {
      for b < 6 {
        vector l < 16 {
          let %t = b * 16 + l
          if %t < 7 * D {
            %y[0, i, floordiv(%t, D), mod(%t, D)] =
              pad(%x[i - 1, floordiv(%t, D) - 1, mod(%t, D)], 0.5)
            %y[1, i, floordiv(%t, D), mod(%t, D)] =
              pad(%x[i, floordiv(%t, D) + i - 2, mod(%t, D)], f32(l))
            %y[2, i, floordiv(%t, D), mod(%t, D)] =
              pad(%x[i, 2 - floordiv(%t, D), mod(%t, D)], 1.0)
            %y[3, i, floordiv(%t, D), mod(%t, D)] =
              pad(%x[i, floordiv(17 - %t, D) + 1, mod(17 - %t, D)], 2.0)
            %y[4, i, floordiv(%t, D), mod(%t, D)] =
              pad(%x[i, floordiv(%t - 5, D), mod(%t - 4, D)], 3.0)
            %y[5, i, floordiv(%t, D), mod(%t, D)] =
              pad(%x[mod(%t, D), floordiv(%t, D), i], 4.0)
            %y[6, i, floordiv(%t, D), mod(%t, D)] =
              pad(%x[i, floordiv(%t * 2, D) - V, mod(%t * 2, D)], 5.0)
            %y[7, i, floordiv(%t, D), mod(%t, D)] =
              pad(%x[i, floordiv(%t, D) - 9223372036854775807, 0], 6.0)
          }
        }
      }
    }
  })";
  for (const char* digit : {"1", "2", "3", "5", "8", "12"}) {
    for (int64_t width : {1, 4, 5, 30})
      ExpectAsEvaluated(Replaced(text, "D", digit), {4, width});
  }
  const std::string copy = CompileOrDie(ParseOrDie(R"(loops @copy(
      %x: input f32[320, 3], %y: output f32[321, 3]) {
    phase b < 60 {
      vector l < 16 {
        let %t = b * 16 + l
        %y[floordiv(%t, 3), mod(%t, 3)] =
          pad(%x[floordiv(%t, 3) - 1, mod(%t, 3)], 0.0)
      }
    }
  })"),
                                        {.keep_llvm = true})
                               ->llvm;
  for (const char* slow : {"div ", "rem ", "gather", "scatter"})
    EXPECT_EQ(copy.find(slow), std::string::npos) << copy;
}

TEST(CodeGeneratorTest, PadsOfOneElement) {
  ExpectAsEvaluated(R"(loops @pad<H>(%x: input i8[H, 3],
                                     %y: output i8[H + 4, 6]) {
    phase i < H + 4 {
      for j < 6 { %y[i, j] = pad(%x[i - 2, j - 1], 77) }
    }
  })",
                    {4});
}

TEST(CodeGeneratorTest, PadsOfAnEmptyBuffer) {
  ExpectAsEvaluated(R"(loops @pad<N>(%x: input f32[N], %y: output f32[20]) {
    phase t < 1 {
      vector l < 16 { %y[l] = pad(%x[l], 1.0) }
      for i < 4 { %y[16 + i] = pad(%x[i], 2.0) }
    }
  })",
                    {0});
}

// --- checks

TEST(CodeGeneratorTest, Checks) {
  const std::string text = R"(loops @gather<N>(%x: input f32[3, N],
      %k: input i32[40], %y: output f32[40]) {
    phase i < 3 {
      vector l < 16 {
        if i * 16 + l < 40 {
          check %x.1 i64(%k[i * 16 + l]) < N
          %y[i * 16 + l] = %x[i, i64(%k[i * 16 + l])]
        }
      }
    }
  })";
  ExpectAsEvaluated(text, {5});  // random indices are below 5
  ExpectAsEvaluated(text, {4});
  ExpectAsEvaluated(text, {0});
  const auto one_wrong = [](int64_t where) {
    return [=](const loops::Buffer& buffer, size_t number, int64_t element) {
      if (number == 1) return uint64_t{element == where ? 0xffffffffu : 1u};
      return SmallValue(buffer, number, element);
    };
  };
  for (int64_t where : {0, 7, 15, 16, 39})
    ExpectAsEvaluated(text, {5}, one_wrong(where));
  ExpectAsEvaluated(Replaced(text, "vector", "for"), {4});
  ExpectAsEvaluated(Replaced(text, "vector", "unroll"), {4});
}

TEST(CodeGeneratorTest, ChecksOfOneIndexInLanes) {
  const std::string text = R"(loops @row<N>(%x: input f32[N, 16],
      %k: input i64[3], %y: output f32[3, 16]) {
    phase i < 3 {
      vector l < 16 {
        check %x.0 %k[i] < N
        %y[i, l] = %x[%k[i], l]
      }
    }
  })";
  ExpectAsEvaluated(text, {5});
  ExpectAsEvaluated(text, {1});
}

// --- what is left to others

TEST(CodeGeneratorTest, Declines) {
  EXPECT_EQ(CompileError(R"(loops @f(%x: input f32[4], %y: output f32[4]) {
              phase i < 4 { %y[i] = rem(%x[i], 3.0) }
            })"),
            "UNIMPLEMENTED: loops @f: float-remainder: remainders of floats "
            "are exact only by long division, which kernels do not contain: "
            "f32");
  EXPECT_EQ(CompileError(R"(loops @f(%x: input f32[4], %y: output f32[4]) {
              phase i < 4 { %y[i] = exp(%x[i]) }
            })"),
            "INTERNAL: loops @f: expected what jit/math and jit/legalise "
            "leave, found exp of f32");
  EXPECT_EQ(CompileError(R"(loops @f(%x: input f32[64], %y: output f32[64]) {
              phase t < 1 {
                unroll i < 64 { unroll j < 64 { unroll k < 64 {
                  %y[i] += %x[j] * %x[k]
                } } }
              }
            })"),
            "UNIMPLEMENTED: loops @f: too-large: the kernel would be larger "
            "than the limit: more than 20000 instructions");
}

}  // namespace
}  // namespace ember::jit

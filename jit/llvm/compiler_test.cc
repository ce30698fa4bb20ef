// Tests the compiler's interface: permissions and lifetime of code, outputs in
// the memory of inputs, use by several threads, figures such as compile times,
// and texts of LLVM IR and assembly. Also tests matrix products, transposed
// loads, prefetches and dot products: their results and the expected
// instructions.
#include "jit/llvm/compiler.h"

#include <cstdio>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "jit/llvm/testing/run_nest.h"
#include "jit/loops/analysis/dot_product.h"

namespace ember::jit::llvm_ir {
namespace {

constexpr const char* kScale = R"(loops @scale<N>(%x: input f32[N],
                                                  %y: output f32[N]) {
  phase i < floordiv(N + 15, 16) {
    vector l < 16 {
      if i * 16 + l < N { %y[i * 16 + l] = %x[i * 16 + l] * 3.0 }
    }
  }
})";

// Facts from /proc/self/maps: the permissions of the mapping that contains an
// address, and if any mapping is writable and executable.
struct Maps {
  std::string permissions;
  bool has_writable_code = false;
};
Maps ReadMaps(const void* address) {
  Maps result;
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);) {
    uintptr_t begin = 0, end = 0;
    char permissions[8] = {};
    EXPECT_EQ(
        std::sscanf(line.c_str(), "%lx-%lx %7s", &begin, &end, permissions), 3);
    const std::string_view text = permissions;
    if (text[1] == 'w' && text[2] == 'x') result.has_writable_code = true;
    const auto at = reinterpret_cast<uintptr_t>(address);
    if (begin <= at && at < end) result.permissions = permissions;
  }
  return result;
}

TEST(CompilerTest, CodeIsNeverWritable) {
  auto code = CompileOrDie(ParseOrDie(kScale));
  const void* address = reinterpret_cast<const void*>(code->phases[0]);
  const Maps maps = ReadMaps(address);
  EXPECT_EQ(maps.permissions.substr(0, 3), "r-x");
  EXPECT_FALSE(maps.has_writable_code);
  code.reset();
  EXPECT_NE(ReadMaps(address).permissions.substr(0, 3), "r-x");
}

TEST(CompilerTest, FiguresAndTexts) {
  const auto code = CompileOrDie(ParseOrDie(kScale),
                                 {.keep_llvm = true, .keep_assembly = true});
  EXPECT_EQ(code->prologue.size(), 0u);
  EXPECT_EQ(code->phases.size(), 1u);
  EXPECT_GT(code->code_bytes, 16);
  EXPECT_LT(code->code_bytes, 1000);
  EXPECT_GT(code->optimize_ms, 0);
  EXPECT_GT(code->codegen_ms, 0);
  EXPECT_NE(code->llvm.find("define i32 @phase0"), std::string::npos);
  EXPECT_NE(code->assembly.find("phase0:"), std::string::npos);
  const auto plain = CompileOrDie(ParseOrDie(kScale));
  EXPECT_EQ(plain->llvm + plain->assembly, "");
}

// Shows that a kernel is right if its output has the memory of an input: each
// element is read before it is written. The nest has whole vectors, a masked
// last vector, and single elements.
TEST(CompilerTest, InPlace) {
  const loops::LoopNest nest =
      ParseOrDie(R"(loops @add<N>(%x: input f32[N], %y: output f32[N]) {
        phase i < floordiv(N, 64) {
          unroll u < 4 {
            vector l < 16 {
              %y[i * 64 + u * 16 + l] = %x[i * 64 + u * 16 + l] * 2.0 + 1.0
            }
          }
        }
        phase i < 1 {
          vector l < 16 {
            if floordiv(N, 64) * 64 + l < N {
              %y[floordiv(N, 64) * 64 + l] =
                  %x[floordiv(N, 64) * 64 + l] * 2.0 + 1.0
            }
          }
          for j < N - floordiv(N, 64) * 64 - 16 {
            %y[floordiv(N, 64) * 64 + 16 + j] =
                %x[floordiv(N, 64) * 64 + 16 + j] * 2.0 + 1.0
          }
        }
      })");
  for (const Effort effort : {Effort::kFast, Effort::kFull}) {
    const auto code = CompileOrDie(nest, {.effort = effort});
    constexpr int64_t kCount = 150;
    std::vector<float> data(kCount);
    for (int64_t i = 0; i < kCount; ++i) data[i] = static_cast<float>(i);
    void* const buffers[] = {data.data(), data.data()};
    vm::IndexFailure failure;
    ASSERT_EQ(code->phases[0](&kCount, buffers, 0, 2, &failure), 0);
    ASSERT_EQ(code->phases[1](&kCount, buffers, 0, 1, &failure), 0);
    for (int64_t i = 0; i < kCount; ++i)
      ASSERT_EQ(data[i], 2 * static_cast<float>(i) + 1) << i;
  }
}

TEST(CompilerTest, CodeOutlivesItsCompiler) {
  auto compiler = NewLlvmCompiler();
  ASSERT_TRUE(compiler.ok());
  const loops::LoopNest nest = ParseOrDie(kScale);
  auto code = (*compiler)->Compile(nest, {});
  ASSERT_TRUE(code.ok());
  compiler->reset();
  const Buffers buffers = MakeBuffers(nest, {21}, SmallValue, true);
  EXPECT_EQ(RunCompiled(nest, **code, {21}, buffers), "");
}

TEST(CompilerTest, ThreadsShareACompiler) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      for (int64_t n = 1; n < 20; n += 4)
        ExpectAsEvaluated(kScale, {n + thread});
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// --- The register tile of a matrix product: 14 rows of two vectors of 16
// columns. The right factor is packed. ---

std::string GemmText(const std::string& left) {
  return R"(loops @gemm<M, K>(%a: input f32[)" + left + R"(],
      %b: input f32[K, 64], %c: output f32[M, 64]) {
    packed %p: f32[2, K, 32]
    register %acc: f32[14, 32]
    prologue j < 2 {
      for k < K {
        unroll v < 2 {
          vector l < 16 { %p[j, k, v * 16 + l] = %b[k, j * 32 + v * 16 + l] }
        }
      }
    }
    phase t < floordiv(M, 14) {
      for j < 2 {
        unroll i < 14 {
          unroll v < 2 { vector l < 16 { %acc[i, v * 16 + l] = 0.0 } }
        }
        for k < K {
          unroll i < 14 {
            unroll v < 2 {
              vector l < 16 {
                %acc[i, v * 16 + l] += %a[t * 14 + i, k] * %p[j, k, v * 16 + l]
              }
            }
          }
        }
        unroll i < 14 {
          unroll v < 2 {
            vector l < 16 {
              %c[t * 14 + i, j * 32 + v * 16 + l] = %acc[i, v * 16 + l]
            }
          }
        }
      }
    }
  })";
}

// Returns the lines of an assembly loop, from its label to the branch back to
// it. Chooses the loop with the most multiply-adds.
std::string InnermostLoop(const std::string& assembly) {
  std::istringstream stream(assembly);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::string best;
  int best_count = 0;
  for (size_t begin = 0; begin < lines.size(); ++begin) {
    const std::string& label = lines[begin];
    if (label.rfind(".L", 0) != 0) continue;
    const std::string name = label.substr(0, label.find(':'));
    std::string body;
    int count = 0;
    for (size_t i = begin + 1; i < lines.size(); ++i) {
      if (lines[i].rfind(".L", 0) == 0) break;
      body += lines[i] + "\n";
      count += lines[i].find("vfmadd") != std::string::npos;
      const bool is_back = lines[i].find("\tj") != std::string::npos &&
                           lines[i].find(name) != std::string::npos;
      if (!is_back) continue;
      if (count > best_count) best = body, best_count = count;
      break;
    }
  }
  return best;
}

int Count(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<int>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), regex),
                    std::sregex_iterator()));
}

void ExpectRegisterTile(const std::string& text, Effort effort) {
  const auto code =
      CompileOrDie(ParseOrDie(text), {.effort = effort, .keep_assembly = true});
  const std::string loop = InnermostLoop(code->assembly);
  EXPECT_EQ(Count(loop, "vfmadd.*%zmm"), 28) << loop;
  EXPECT_EQ(Count(loop, "vfmadd"), 28);
  EXPECT_EQ(Count(loop, "%rsp"), 0) << loop;
  EXPECT_EQ(Count(loop, "vmov.*zmm"), 2) << loop;
  ::testing::Test::RecordProperty("optimize_ms",
                                  std::to_string(code->optimize_ms));
  ::testing::Test::RecordProperty("codegen_ms",
                                  std::to_string(code->codegen_ms));
}

TEST(CompilerTest, MatrixProductIsRight) {
  ExpectAsEvaluated(GemmText("M, K"), {28, 9});
  ExpectAsEvaluated(GemmText("28, 9"), {28, 9});
}

TEST(CompilerTest, RegisterTileStaysInRegisters) {
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "needs AVX-512";
  for (const Effort effort : {Effort::kFull, Effort::kFast}) {
    SCOPED_TRACE(effort == Effort::kFast ? "fast" : "full");
    for (const char* left : {"M, 512", "M, K"}) {
      SCOPED_TRACE(left);
      ExpectRegisterTile(GemmText(left), effort);
    }
  }
}

TEST(CompilerTest, TransposedLanesAreLoadsOfRuns) {
  const std::string text = R"(loops @transpose<N>(%x: input f32[4, 34],
      %y: output f32[34, 4]) {
    phase b < 8 {
      vector l < 16 {
        %y[b * 4 + floordiv(l, 4), mod(l, 4)] = %x[mod(l, 4), b * 4 + floordiv(l, 4)]
      }
    }
    phase r < 8 {
      %y[32 + floordiv(r, 4), mod(r, 4)] = %x[mod(r, 4), 32 + floordiv(r, 4)]
    }
  })";
  ExpectAsEvaluated(text, {1});
  const auto code = CompileOrDie(ParseOrDie(text), {.keep_assembly = true});
  EXPECT_EQ(Count(code->assembly, "gather"), 0) << code->assembly;
  if (__builtin_cpu_supports("avx512f")) {
    EXPECT_GE(Count(code->assembly, "vperm"), 1) << code->assembly;
  }
}

TEST(CompilerTest, PackedConstantsAreAskedForEarly) {
  const std::string text = R"(loops @product<K>(%a: input f32[4, 64],
      %b: input f32[64, 32], %c: output f32[4, 32]) {
    packed %p: f32[64, 32]
    register %acc: f32[4, 32]
    prologue t < 1 {
      for k < 64 { vector l < 32 { %p[k, l] = %b[k, l] } }
    }
    phase t < 1 {
      unroll i < 4 { vector l < 32 { %acc[i, l] = 0.0 } }
      for k < 64 {
        unroll i < 4 { vector l < 32 { %acc[i, l] += %a[i, k] * %p[k, l] } }
      }
      unroll i < 4 { vector l < 32 { %c[i, l] = %acc[i, l] } }
    }
  })";
  ExpectAsEvaluated(text, {1});
  const auto code = CompileOrDie(ParseOrDie(text), {.keep_assembly = true});
  // Each cache line of %p is prefetched once per iteration of k, not once for
  // each of the 4 rows, and the prologue, which packs %p, prefetches nothing.
  EXPECT_GE(Count(code->assembly, "prefetch"), 1) << code->assembly;
  EXPECT_LE(Count(code->assembly, "prefetch"), 8) << code->assembly;
}

// --- Dot products of narrow integers. ---

std::string DotText(const std::string& a, const std::string& b, int lanes,
                    int count) {
  std::string text = R"(loops @dot<K>(%a: input AA[6, K * C],
      %b: input BB[K, W, C], %y: output i32[6, W]) {
    register %acc: i32[6, W]
    phase t < 1 {
      unroll i < 6 { vector l < W { %acc[i, l] = i32(i) } }
      for k < K {
        unroll i < 6 {
          vector l < W {
            dot q < C {
              %acc[i, l] += i32(%a[i, k * C + q]) * i32(%b[k, l, q])
            }
          }
        }
      }
      unroll i < 6 { vector l < W { %y[i, l] = %acc[i, l] } }
    }
  })";
  const std::pair<std::string, std::string> values[] = {
      {"AA", a},
      {"BB", b},
      {"W", std::to_string(lanes)},
      {"C", std::to_string(count)}};
  for (const auto& [name, value] : values)
    text = std::regex_replace(text, std::regex("\\b" + name + "\\b"), value);
  return text;
}

TEST(CompilerTest, DotProductsAreExact) {
  const auto extremes = [](const loops::Buffer&, size_t number,
                           int64_t element) -> uint64_t {
    constexpr uint64_t kValues[] = {0x00,   0x80, 0xff,   0x7f, 0x01,
                                    0x8000, 0xfe, 0xffff, 0x81};
    return kValues[static_cast<size_t>(element * 7 + element / 9) % 9] &
           (number < 2 ? ~uint64_t{0} : 0);
  };
  for (int lanes : {4, 8, 16, 7}) {
    for (const char* a : {"u8", "i8", "i16"}) {
      for (const char* b : {"u8", "i8", "i16"}) {
        for (int count : {2, 4}) {
          const bool exists = loops::IsDotProductType(
              count, *DTypeFromName(a), *DTypeFromName(b), DType::kI32);
          if (!exists) continue;
          SCOPED_TRACE(DotText(a, b, lanes, count));
          ExpectAsEvaluated(DotText(a, b, lanes, count), {9}, extremes);
        }
      }
    }
  }
}

TEST(CompilerTest, SmallDotProductsAreExact) {
  // Most of the bytes are the extreme values of their type, with equal or
  // different signs in the two factors, so that sums in 16 bits would saturate.
  const auto extremes = [](const loops::Buffer&, size_t number,
                           int64_t element) -> uint64_t {
    constexpr uint64_t kSmall[] = {0x7f, 0x7f, 0x80, 0x80, 0x01};
    return number == 0   ? (element % 11 == 0 ? 0x80 : 0xff)
           : number == 1 ? kSmall[static_cast<size_t>(element / 2) % 5]
                         : 0;
  };
  for (int lanes : {4, 8, 16, 7}) {
    for (int most : {64, 65, 127}) {
      const std::string text =
          WithSmallFactor(DotText("u8", "i8", lanes, 4), lanes, -most, most);
      SCOPED_TRACE(text);
      ExpectAsEvaluated(text, {9}, extremes);
    }
  }
}

TEST(CompilerTest, DotProductsAreInstructions) {
  if (!__builtin_cpu_supports("avx512vnni")) GTEST_SKIP() << "needs VNNI";
  const auto count = [](const char* a, const char* b, int products,
                        const char* instruction) {
    const auto code = CompileOrDie(ParseOrDie(DotText(a, b, 16, products)),
                                   {.keep_assembly = true});
    return Count(code->assembly, instruction);
  };
  EXPECT_EQ(count("u8", "i8", 4, "vpdpbusd.*%zmm"), 6);
  EXPECT_EQ(count("i8", "u8", 4, "vpdpbusd.*%zmm"), 6);
  // vpdpbusd multiplies u8 by i8. For i8 by i8 the code adds 128 to one factor,
  // which makes it unsigned, and one more vpdpbusd for all six rows computes
  // the correction.
  EXPECT_EQ(count("i8", "i8", 4, "vpdpbusd.*%zmm"), 7);
  EXPECT_EQ(count("i8", "i8", 2, "(vpmaddwd|vpdpwssd).*%zmm"), 6);
}

}  // namespace
}  // namespace ember::jit::llvm_ir

// Code for machines that this one is not: which instructions are chosen. What
// they compute is tested by random_test for each processor.
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "jit/llvm/compiler.h"
#include "jit/llvm/testing.h"
#include "llvm/Support/TargetSelect.h"

namespace ember::jit {
namespace {

// A tile of 2 rows by a vector of `lanes`, of sums of `count` products.
std::string DotText(const std::string& a, const std::string& b,
                    const std::string& sum, int lanes, int count) {
  std::string text = R"(loops @dot<K>(%a: input AA[2, K * C],
      %b: input BB[K, W, C], %y: output SS[2, W]) {
    register %acc: SS[2, W]
    phase t < 1 {
      unroll i < 2 { vector l < W { %acc[i, l] = SS(0) } }
      for k < K {
        unroll i < 2 {
          vector l < W {
            dot q < C {
              %acc[i, l] += SS(%a[i, k * C + q]) * SS(%b[k, l, q])
            }
          }
        }
      }
      unroll i < 2 { vector l < W { %y[i, l] = %acc[i, l] } }
    }
  })";
  const std::pair<std::string, std::string> values[] = {
      {"AA", a},
      {"BB", b},
      {"SS", sum},
      {"W", std::to_string(lanes)},
      {"C", std::to_string(count)}};
  for (const auto& [name, value] : values)
    text = std::regex_replace(text, std::regex("\\b" + name + "\\b"), value);
  return text;
}

std::string AssemblyFor(const std::string& cpu, const std::string& nest) {
  static const bool initialized = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    return true;
  }();
  EXPECT_TRUE(initialized);
  const auto compiler = ObjectCompiler::Create(cpu);
  EXPECT_TRUE(compiler.ok()) << compiler.status().ToString();
  if (!compiler.ok()) return "";
  CompiledNest figures;
  const auto object = (*compiler)->CompileToObject(
      ParseOrDie(nest), {.keep_assembly = true}, &figures);
  EXPECT_TRUE(object.ok()) << object.status().ToString();
  return figures.assembly;
}

int Count(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<int>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), regex),
                    std::sregex_iterator()));
}

TEST(OtherTargets, Vnni) {
  // AVX-512 VNNI, and the VEX form of it.
  const std::string wide =
      AssemblyFor("sapphirerapids", DotText("u8", "i8", "i32", 16, 4));
  EXPECT_EQ(Count(wide, "vpdpbusd[^\n]*%zmm"), 2) << wide;
  const std::string narrow =
      AssemblyFor("alderlake", DotText("u8", "i8", "i32", 8, 4));
  EXPECT_EQ(Count(narrow, "vpdpbusd[^\n]*%ymm"), 2) << narrow;
  // One more for what the other sign adds.
  const std::string both =
      AssemblyFor("sapphirerapids", DotText("i8", "i8", "i32", 16, 4));
  EXPECT_EQ(Count(both, "vpdpbusd[^\n]*%zmm"), 3) << both;
  // 16-bit integers: the sum is part of the instruction, too.
  const std::string pairs =
      AssemblyFor("sapphirerapids", DotText("i16", "i16", "i32", 16, 2));
  EXPECT_EQ(Count(pairs, "vpdpwssd[^\n]*%zmm"), 2) << pairs;
}

TEST(OtherTargets, SmallBytes) {
  // Two products in 16 bits, where nothing is packed beyond -64..64.
  const auto text = [](int lanes, int low, int high) {
    return WithSmallFactor(DotText("u8", "i8", "i32", lanes, 4), lanes, low,
                           high);
  };
  const std::string narrow = AssemblyFor("haswell", text(8, -64, 64));
  EXPECT_EQ(Count(narrow, "vpmaddubsw[^\n]*%ymm"), 2) << narrow;
  EXPECT_EQ(Count(narrow, "vpmaddwd[^\n]*%ymm"), 2) << narrow;
  const std::string wide = AssemblyFor("skylake-avx512", text(16, -64, 64));
  EXPECT_EQ(Count(wide, "vpmaddubsw[^\n]*%zmm"), 2) << wide;
  EXPECT_EQ(Count(AssemblyFor("haswell", text(8, -65, 64)), "vpmaddubsw"), 0);
  EXPECT_EQ(Count(AssemblyFor("haswell", text(8, -64, 65)), "vpmaddubsw"), 0);
  EXPECT_EQ(Count(AssemblyFor("alderlake", text(8, -64, 64)), "vpdpbusd"), 2);
}

TEST(OtherTargets, BFloat) {
  const std::string wide =
      AssemblyFor("sapphirerapids", DotText("bf16", "bf16", "f32", 16, 2));
  EXPECT_EQ(Count(wide, "vdpbf16ps[^\n]*%zmm"), 2) << wide;
  // Without it, products of what is widened.
  const std::string widened =
      AssemblyFor("skylake-avx512", DotText("bf16", "bf16", "f32", 16, 2));
  EXPECT_EQ(Count(widened, "vdpbf16ps"), 0);
  EXPECT_GE(Count(widened, "vfmadd[^\n]*%zmm"), 4) << widened;
}

TEST(OtherTargets, Neon) {
  const std::string triple = "aarch64-linux-gnu:";
  const auto code = [&](const char* cpu, const char* a, const char* b) {
    return AssemblyFor(triple + cpu, DotText(a, b, "i32", 4, 4));
  };
  EXPECT_EQ(Count(code("neoverse-n1", "i8", "i8"), "\tsdot\t"), 2);
  EXPECT_EQ(Count(code("neoverse-n1", "u8", "u8"), "\tudot\t"), 2);
  // Of different signs: with i8mm, or one more for what 128 adds.
  EXPECT_EQ(Count(code("neoverse-v1", "u8", "i8"), "\tusdot\t"), 2);
  EXPECT_EQ(Count(code("neoverse-n1", "u8", "i8"), "\tsdot\t"), 3);
  // Without dotprod it is a loop.
  EXPECT_EQ(Count(code("cortex-a72", "i8", "i8"), "\t[su]dot\t"), 0);
}

}  // namespace
}  // namespace ember::jit

// Tests which instructions LLVM chooses for machines other than this one.
// random_test tests the results of code for each processor.
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jit/llvm/all_targets.h"
#include "jit/llvm/compiler.h"
#include "jit/llvm/testing/run_nest.h"
#include "vm/format/kernel_image.h"

namespace ember::jit::llvm_ir {
namespace {

// Returns a nest that computes a tile of 2 rows by one vector of `lanes`; each
// element is a sum of `count` products.
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
  UseAllTargets();
  const auto compiler = NewLlvmCompiler(cpu);
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
  // AVX-512 VNNI has vpdpbusd on vectors of 512 bits, AVX-VNNI only on 256
  // bits.
  const std::string wide =
      AssemblyFor("sapphirerapids", DotText("u8", "i8", "i32", 16, 4));
  EXPECT_EQ(Count(wide, "vpdpbusd[^\n]*%zmm"), 2) << wide;
  const std::string narrow =
      AssemblyFor("alderlake", DotText("u8", "i8", "i32", 8, 4));
  EXPECT_EQ(Count(narrow, "vpdpbusd[^\n]*%ymm"), 2) << narrow;
  // vpdpbusd multiplies u8 by i8. For i8 by i8 the code adds 128 to one factor,
  // which makes it unsigned, and a third vpdpbusd computes the correction: 128
  // times the sums of the other factor.
  const std::string both =
      AssemblyFor("sapphirerapids", DotText("i8", "i8", "i32", 16, 4));
  EXPECT_EQ(Count(both, "vpdpbusd[^\n]*%zmm"), 3) << both;
  // For 16-bit integers, one instruction multiplies the pairs, adds their
  // products, and adds these to the sum.
  const std::string pairs =
      AssemblyFor("sapphirerapids", DotText("i16", "i16", "i32", 16, 2));
  EXPECT_EQ(Count(pairs, "vpdpwssd[^\n]*%zmm"), 2) << pairs;
}

TEST(OtherTargets, SmallBytes) {
  // vpmaddubsw adds two products in 16 bits. It is used if all packed values
  // are in -64..64, so that the sums fit, and not if the range is larger by
  // one.
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
  // A processor without instructions for bf16 widens and multiplies the
  // factors.
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
  // usdot multiplies u8 by i8, but needs i8mm. Without i8mm the code subtracts
  // 128 from the unsigned factor, and a third sdot computes the correction.
  EXPECT_EQ(Count(code("neoverse-v1", "u8", "i8"), "\tusdot\t"), 2);
  EXPECT_EQ(Count(code("neoverse-n1", "u8", "i8"), "\tsdot\t"), 3);
  // On a processor without dotprod the dot loop becomes ordinary code.
  EXPECT_EQ(Count(code("cortex-a72", "i8", "i8"), "\t[su]dot\t"), 0);
}

TEST(OtherTargets, Sve) {
  // If SVE's vectors have 256 bits, eight lanes use SVE's instructions, and
  // four lanes use NEON's.
  const auto code = [](const char* a, const char* b, int lanes) {
    return AssemblyFor("aarch64-linux-gnu:neoverse-v1+sve=256",
                       DotText(a, b, "i32", lanes, 4));
  };
  EXPECT_EQ(Count(code("i8", "i8", 8), "\tsdot\tz"), 2);
  EXPECT_EQ(Count(code("u8", "u8", 8), "\tudot\tz"), 2);
  EXPECT_EQ(Count(code("u8", "i8", 8), "\tusdot\tz"), 2);
  EXPECT_EQ(Count(code("i8", "i8", 4), "\tsdot\tv"), 2);
  // Without SVE, eight lanes need two NEON registers, and then no dot product
  // instruction is used.
  EXPECT_EQ(Count(AssemblyFor("aarch64-linux-gnu:neoverse-v1",
                              DotText("i8", "i8", "i32", 8, 4)),
                  "\t[su]dot\t[vz]"),
            0);
}

TEST(OtherTargets, Arm32) {
  const std::string triple = "arm-linux-gnueabihf:";
  const std::string sums = R"(loops @sums(%a: input f32[64],
      %b: input f32[64, 4], %y: output f32[4]) {
    register %acc: f32[4]
    phase t < 1 {
      vector l < 4 { %acc[l] = f32(0) }
      for k < 64 { vector l < 4 { %acc[l] += %a[k] * %b[k, l] } }
      vector l < 4 { %y[l] = %acc[l] }
    }
  })";
  const std::string fused = AssemblyFor(triple + "cortex-a15+neon", sums);
  EXPECT_EQ(Count(fused, "vfma\\.f32\tq"), 1) << fused;
  const std::string plain = AssemblyFor(triple + "cortex-a9+neon", sums);
  // A Cortex-A9 has no fused vfma.f32, so the sum uses vmla.f32, which rounds
  // product and sum.
  EXPECT_EQ(Count(plain, "vmla\\.f32\tq"), 1) << plain;
  // 64-bit numbers are divided by a function in the kernel, because the machine
  // has no instruction for that. Indices that fit 32 bits are divided by a
  // constant, which becomes a multiplication.
  const std::string divided =
      AssemblyFor(triple + "cortex-a15+neon",
                  "loops @divide(%a: input i64[64], %b: input i64[64],\n"
                  "              %y: output i64[64]) {\n"
                  "  phase i < 64 { %y[i] = %a[i] / %b[i] }\n}");
  EXPECT_EQ(Count(divided, "\tbl\tdivide_long"), 1) << divided;
  const std::string index =
      AssemblyFor(triple + "cortex-a9+neon",
                  "loops @index(%a: input f32[10], %y: output f32[70]) {\n"
                  "  phase i < 70 { %y[i] = %a[floordiv(i, 7)] }\n}");
  EXPECT_EQ(Count(index, "divide"), 0) << index;
}

constexpr char kWasm[] =
    "wasm32-unknown-unknown:generic+simd128+bulk-memory+sign-ext"
    "+nontrapping-fptoint+mutable-globals";

vm::KernelCode WasmCodeOf(const char* nest) {
  UseAllTargets();
  const auto compiler = NewLlvmCompiler(kWasm);
  EXPECT_TRUE(compiler.ok()) << compiler.status().ToString();
  if (!compiler.ok()) return {};
  auto code = (*compiler)->CompileToCode(ParseOrDie(nest), {}, nullptr);
  EXPECT_TRUE(code.ok()) << code.status().ToString();
  return code.ok() ? *std::move(code) : vm::KernelCode();
}

bool Contains(const vm::KernelCode& code, std::string_view text) {
  const std::string_view bytes(reinterpret_cast<const char*>(code.bytes.data()),
                               code.bytes.size());
  return bytes.find(text) != std::string_view::npos;
}

TEST(OtherTargets, Wasm) {
  const std::string sums = R"(loops @sums(%a: input f32[64],
      %b: input f32[64, 4], %y: output f32[4]) {
    register %acc: f32[4]
    phase t < 1 {
      vector l < 4 { %acc[l] = f32(0) }
      for k < 64 { vector l < 4 { %acc[l] += %a[k] * %b[k, l] } }
      vector l < 4 { %y[l] = max(%acc[l], 0.0) }
    }
  })";
  const std::string assembly = AssemblyFor(kWasm, sums);
  EXPECT_EQ(Count(assembly, "f32x4\\.mul"), 1) << assembly;
  EXPECT_EQ(Count(assembly, "f32x4\\.p?max"), 1) << assembly;
  EXPECT_EQ(Count(assembly, "\tcall"), 0) << assembly;
  // The kernel's code is a WebAssembly module that exports a function for each
  // phase.
  const vm::KernelCode code = WasmCodeOf(sums.c_str());
  EXPECT_TRUE(Contains(code, std::string_view("\0asm\1\0\0\0", 8)));
  EXPECT_EQ(code.entries, std::vector<uint32_t>({0}));
  EXPECT_TRUE(Contains(code, "\5ember\6memory"));
  EXPECT_TRUE(Contains(code, std::string_view("\2f0\0", 4)));
  EXPECT_FALSE(Contains(code, "__"));
}

TEST(OtherTargets, WasmWithConstants) {
  // A pad reads a constant instead of an element outside of %x. The address of
  // constants is an import of the module.
  const vm::KernelCode code = WasmCodeOf(
      R"(loops @outside(%x: input f32[10], %y: output f32[16]) {
    phase i < 16 { %y[i] = pad(%x[i - 3], 1.5) }
  })");
  EXPECT_TRUE(Contains(code, "\5ember\4data"));
  EXPECT_TRUE(Contains(code, "\012ember.data"));
}

TEST(OtherTargets, WasmMovesHalvesAsBits) {
  // LLVM alone would convert each f16 to f32 by a library function, although
  // the nest only selects and negates it. The test shows that no function is
  // called.
  const std::string code =
      AssemblyFor(kWasm,
                  R"(loops @choose(%c: input i32[64], %x: input f16[64],
               %y: output f16[64]) {
    phase t < 1 {
      for i < 8 {
        vector l < 8 {
          %y[i * 8 + l] = select(%c[i * 8 + l] < 1, %x[i * 8 + l],
                                 neg(%x[i * 8 + l]))
        }
      }
    }
  })");
  EXPECT_EQ(Count(code, "\tcall"), 0) << code;
}

TEST(OtherTargets, HalfWithoutInstructions) {
  const std::string code =
      AssemblyFor("x86-64-v2",
                  "loops @half(%a: input f16[64], %y: output f16[64]) {\n"
                  "  phase t < 1 { for i < 8 { vector l < 8 {\n"
                  "    %y[i * 8 + l] = neg(%a[i * 8 + l]) * %a[i * 8 + l]\n"
                  "  } } }\n}");
  EXPECT_GE(Count(code, "mulps"), 1) << code;
  EXPECT_EQ(Count(code, "vcvt|call"), 0) << code;
}

TEST(OtherTargets, PartsOfVectors) {
  // On machines with mask registers, a masked assignment is done without a test
  // if any lane is active.
  const std::string nest =
      R"(loops @part(%x: input f32[100], %y: output f32[100]) {
    phase t < 4 {
      unroll i < 2 {
        vector l < 16 {
          if t * 32 + i * 16 + l < 100 {
            %y[t * 32 + i * 16 + l] = %x[t * 32 + i * 16 + l] * 2.0
          }
        }
      }
    }
  })";
  const std::string masked = AssemblyFor("skylake-avx512", nest);
  EXPECT_EQ(Count(masked, "kortest|ktest"), 0) << masked;
  EXPECT_EQ(Count(masked, "vmov[^\n]*%zmm[0-9]+, [^\n]*\\(.*\\) \\{%k"), 2)
      << masked;
  // If the nest also reads an element that all lanes share, code must test if
  // any lane is active, because the element may be out of bounds otherwise.
  const std::string shared = AssemblyFor(
      "skylake-avx512",
      std::regex_replace(nest, std::regex("\\* 2.0"), "* %x[t * 32 + i * 16]"));
  EXPECT_EQ(Count(shared, "kortest|ktest"), 2) << shared;
}

}  // namespace
}  // namespace ember::jit::llvm_ir

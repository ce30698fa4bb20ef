// Tests the PTX of nests by its text, and with ptxas where the toolkit is
// installed.
#include <cstdio>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/gpu/testing/run_nest.h"
#include "jit/loops/text/text.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/target.h"
#include "jit/ptx/testing/assembler.h"

namespace ember::jit::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Compiled {
  gpu::DeviceCode code;
  std::string ptx;
};

Compiled Compile(const std::string& text, const char* target = "sm_80") {
  CodeTexts texts;
  auto code = CompileNest(gpu::ParseOrDie(text), Target::Of(target), &texts);
  EXPECT_TRUE(code.ok()) << code.status().ToString();
  if (!code.ok()) return {};
  EXPECT_EQ(code->format, "ptx");
  return {*std::move(code), texts.ptx};
}

constexpr char kScale[] = R"(
  loops @scale<N>(%x: input f32[N, 12], %s: input f32[N],
                  %y: output f32[N, 12]) {
    phase i < N {
      for j < 3 {
        vector l < 4 { %y[i, j * 4 + l] = %x[i, j * 4 + l] * %s[i] }
      }
    }
  })";

constexpr char kRows[] = R"(
  loops @rows(%x: input f32[5, 128], %y: output f32[5, 64]) {
    task %tile: f32[64]
    register %sum: f32[64]
    phase t < 5 {
      invocation i < 64 { %sum[i] = 0.0 }
      for k < 2 {
        invocation i < 64 { %tile[i] = %x[t, k * 64 + i] }
        invocation i < 64 { for j < 64 { %sum[i] += %tile[j] } }
      }
      invocation i < 64 { %y[t, i] = %sum[i] }
    }
  })";

// A matrix product without tensor cores: 256 threads compute a tile of 64 x 64,
// each 4 x 4 results in registers.
constexpr char kProduct[] = R"(
  loops @gemm(%x: input f32[512, 512], %w: input f32[512, 512], %y: output f32[512, 512]) {
    task %a: f32[64, 16]
    task %b: f32[16, 64]
    register %s: f32[256, 4, 4]
    phase t < 64 {
      invocation i < 256 { unroll m < 4 { vector n < 4 { %s[i, m, n] = 0.0 } } }
      for k < 32 {
        invocation i < 256 { vector l < 4 { %a[floordiv(i, 4), mod(i, 4) * 4 + l] = %x[floordiv(t, 8) * 64 + floordiv(i, 4), k * 16 + mod(i, 4) * 4 + l] } }
        invocation i < 256 { vector l < 4 { %b[floordiv(i, 16), mod(i, 16) * 4 + l] = %w[k * 16 + floordiv(i, 16), mod(t, 8) * 64 + mod(i, 16) * 4 + l] } }
        invocation i < 256 {
          unroll j < 16 { unroll m < 4 { vector n < 4 {
            %s[i, m, n] += %a[floordiv(i, 16) * 4 + m, j] * %b[j, mod(i, 16) * 4 + n]
          } } }
        }
      }
      invocation i < 256 { unroll m < 4 { vector n < 4 { %y[floordiv(t, 8) * 64 + floordiv(i, 16) * 4 + m, mod(t, 8) * 64 + mod(i, 16) * 4 + n] = %s[i, m, n] } } }
    }
  }
)";

TEST(PtxTest, KernelsOfPhases) {
  const Compiled scale = Compile(kScale);
  EXPECT_THAT(scale.ptx, HasSubstr(".target sm_80"));
  EXPECT_THAT(scale.ptx, HasSubstr(".visible .entry phase0("));
  EXPECT_THAT(scale.ptx, HasSubstr(".maxntid 64, 1, 1"));
  ASSERT_EQ(scale.code.phases.size(), 1u);
  EXPECT_EQ(scale.code.phases[0].bindings.size(), 3u);
  EXPECT_EQ(scale.code.phases[0].tasks_per_workgroup, 64);
  EXPECT_EQ(scale.code.phases[0].dynamic_shared_bytes, 0);
}

// Shows that accesses are vector instructions: rows of 48 bytes begin at
// multiples of 16 bytes, and the address space (global) is known.
TEST(PtxTest, VectorsWhereTheyAreAligned) {
  const Compiled scale = Compile(kScale);
  EXPECT_THAT(scale.ptx, HasSubstr("ld.global.v4.f32"));
  EXPECT_THAT(scale.ptx, HasSubstr("st.global.v4.f32"));
  EXPECT_THAT(scale.ptx, Not(HasSubstr(".local")));
}

// Shows that unrolled iterations use vector instructions, too, although their
// addresses are sums of many terms, and that a value is loaded only once if no
// output can overlap it.
TEST(PtxTest, VectorsOfWrittenOutIterations) {
  const Compiled compiled = Compile(R"(
    loops @rounds(%x: input f32[1024, 1024], %bias: input f32[1024],
                 %y: output f16[1024, 1024]) {
      phase t < 128 {
        invocation i < 128 {
          for rounds < 4 {
            unroll round < 4 {
              vector l < 4 {
                %y[floordiv(t, 8) * 64 + floordiv(i, 32) + rounds * 16 + round * 4, mod(t, 8) * 128 + mod(i, 32) * 4 + l] = f16(%x[floordiv(t, 8) * 64 + floordiv(i, 32) + rounds * 16 + round * 4, mod(t, 8) * 128 + mod(i, 32) * 4 + l] + %bias[mod(t, 8) * 128 + mod(i, 32) * 4 + l])
              }
            }
          }
        }
      }
    })");
  EXPECT_EQ(CountIn(compiled.ptx, "st.global.v4.b16"), 4u);
  EXPECT_THAT(compiled.ptx, Not(HasSubstr("st.global.b16")));
  EXPECT_THAT(compiled.ptx, Not(HasSubstr("st.global.u16")));
  EXPECT_EQ(CountIn(compiled.ptx, "ld.global.nc.v4.f32"), 5u);
}

// An output may share the memory of an input with the same shape. So that input
// is not loaded as constant memory (ld.global.nc); the other input is.
TEST(PtxTest, WhatMayBeOverwrittenIsNoConstant) {
  EXPECT_EQ(CountIn(Compile(kScale).ptx, "ld.global.nc."), 1u);
}

TEST(PtxTest, NoMoreArgumentsThanDriversTake) {
  const auto compile = [](int inputs) {
    std::string buffers, sums;
    for (int i = 0; i < inputs; ++i) {
      const std::string name = "%x" + std::to_string(i);
      buffers += name + ": input f32[4], ";
      sums += " %y[i] += " + name + "[i]";
    }
    return CompileNest(
        gpu::ParseOrDie("loops @sum(" + buffers + "%y: output f32[4]) {\n" +
                        "phase i < 4 { %y[i] = 0.0" + sums + " } }"),
        Target::Of("sm_80"), nullptr);
  };
  // Besides the inputs, the output and the number of the first task are
  // arguments, each of 8 bytes, so 510 inputs fill the 4096 bytes that a
  // kernel's arguments may have.
  EXPECT_TRUE(compile(510).ok());
  EXPECT_THAT(compile(511).status().ToString(),
              HasSubstr("4104 bytes of arguments, where there are 4096"));
}

TEST(PtxTest, SharedMemoryAndRegisters) {
  const Compiled rows = Compile(kRows);
  EXPECT_EQ(rows.code.phases[0].dynamic_shared_bytes, 256);
  EXPECT_EQ(rows.code.phases[0].invocations, 64);
  EXPECT_EQ(rows.code.phases[0].barriers, 2);
  EXPECT_THAT(rows.ptx, HasSubstr(".extern .shared .align 16 .b8 shared[]"));
  EXPECT_THAT(rows.ptx, HasSubstr("st.shared"));
  EXPECT_THAT(rows.ptx, HasSubstr("ld.shared"));
  EXPECT_THAT(rows.ptx, HasSubstr("bar.sync"));
  EXPECT_THAT(rows.ptx, HasSubstr("add.rn.f32"));
  EXPECT_THAT(rows.ptx, Not(HasSubstr(".local")));
}

int CountOf(std::string_view part, std::string_view text) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1))
    ++count;
  return count;
}

// Each vector that is loaded from shared memory is used in eight multiply-adds.
TEST(PtxTest, ProductsOfTiles) {
  const Compiled product = Compile(kProduct);
  EXPECT_EQ(CountOf("fma.rn.f32", product.ptx), 256);
  EXPECT_EQ(CountOf("ld.shared.v4.f32", product.ptx), 32);
  EXPECT_EQ(CountOf("ld.shared", product.ptx), 32);
  EXPECT_EQ(CountOf("st.shared.v4.f32", product.ptx), 2);
  EXPECT_EQ(CountOf("ld.global.v4.f32", product.ptx), 2);
  EXPECT_EQ(CountOf("st.global.v4.f32", product.ptx), 4);
  EXPECT_EQ(CountOf("bar.sync", product.ptx), 2);
  EXPECT_EQ(product.code.phases[0].dynamic_shared_bytes, 8192);
  EXPECT_THAT(product.ptx, Not(HasSubstr(".local")));
}

// Shows that a cast is not folded into a load, which PTX does not allow: a
// register must have the type that is loaded.
TEST(PtxTest, CastsOfVectors) {
  const Compiled casts = Compile(
      "loops @casts(%x: input f32[64], %y: output f64[64]) { phase t < 4 { "
      "vector l < 16 { %y[t * 16 + l] = f64(%x[t * 16 + l]) } } }");
  EXPECT_EQ(CountOf("cvt.f64.f32", casts.ptx), 16);
  EXPECT_THAT(casts.ptx, Not(HasSubstr("ld.global.v2.f32 \t{%fd")));
  if (HasAssembler()) {
    EXPECT_EQ(Assemble(casts.ptx, "sm_80"), "");
  }
}

TEST(PtxTest, Architectures) {
  const std::pair<const char*, const char*> rows[] = {
      {"sm_70", "sm_70"},
      {"sm_86+subgroup32", "sm_86"},
      {"sm_90", "sm_90"},
      {"sm_90a", "sm_90a"},
      {"sm_120", "sm_90"}};
  for (const auto& [target, processor] : rows)
    EXPECT_EQ(Target::Of(target).processor, processor);
  EXPECT_EQ(Target::Of("sm_80+emulated+shared1024").shared_bytes, 1024);
  EXPECT_TRUE(Target::Of("sm_80+emulated").is_emulated);
  EXPECT_FALSE(Target::Of("sm_80").is_emulated);
}

// Shows that ptxas accepts the code, spills no registers, and keeps no array in
// local memory.
TEST(PtxTest, AssemblerTakesIt) {
  if (!HasAssembler()) GTEST_SKIP() << kNoAssembler;
  for (const char* target : {"sm_75", "sm_80", "sm_90a"}) {
    for (const char* text : {kScale, kRows, kProduct}) {
      std::string says;
      ASSERT_EQ(Assemble(Compile(text, target).ptx, target, &says), "");
      EXPECT_THAT(says, HasSubstr("0 bytes stack frame, 0 bytes spill stores"));
    }
  }
}

}  // namespace
}  // namespace ember::jit::ptx

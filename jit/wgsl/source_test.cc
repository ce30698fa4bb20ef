// Tests the printer of WGSL: modules of default schedules, the forms in which
// WGSL differs from C, and the names of what is declined. tests/nests runs
// modules on an adapter.
#include "jit/wgsl/source.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/c_like/kernels.h"
#include "jit/kernel/build_nest.h"
#include "jit/loops/text/text.h"
#include "jit/wgsl/target.h"
#include "tensor/text/text.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit::wgsl {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kTarget[] = "webgpu+shared16384+invocations256+buffers8";

StatusOr<std::string> TextOf(const loops::LoopNest& nest, const char* target) {
  EMBER_ASSIGN_OR_RETURN(const gpu::DeviceCode code,
                         EmitModule(nest, Target::Of(target)));
  return c_like::TextOf(code);
}

StatusOr<std::string> KernelOf(const char* text) {
  EMBER_ASSIGN_OR_RETURN(const tensor::Dispatch dispatch, tensor::Parse(text));
  vm::KernelRequest request;
  request.dispatch = &dispatch;
  // No row of the table of back ends serves WebGPU yet, and schedules of
  // another GPU are schedules for it.
  request.target = "vulkan1.1+subgroup32+shared16384+invocations256";
  request.tier = 2;
  EMBER_ASSIGN_OR_RETURN(const loops::LoopNest nest,
                         BuildNest(request, {}, nullptr));
  return TextOf(nest, kTarget);
}

StatusOr<std::string> OfNest(const char* text, const char* target = kTarget) {
  EMBER_ASSIGN_OR_RETURN(const loops::LoopNest nest, loops::Parse(text));
  return TextOf(nest, target);
}

TEST(Target, ReadsLimits) {
  const Target target = Target::Of("webgpu+f16+shared32768+invocations512");
  EXPECT_EQ(target.shared_bytes, 32768);
  EXPECT_EQ(target.invocations, 512);
  EXPECT_EQ(target.storage_buffers, 8);
  EXPECT_EQ(Target::Of("webgpu").invocations, 256);
}

TEST(Wgsl, PrintsTilesOfAProduct) {
  const StatusOr<std::string> module = KernelOf(R"(
  dispatch @product(%a: f32[128, 64], %b: f32[64, 128]) -> (%y: f32[128, 128]) {
    %y[i, j] = sum(k < 64) %a[i, k] * %b[k, j]
  })");
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_THAT(
      *module,
      AllOf(StartsWith("// phase0: read read write\n"),
            HasSubstr("struct Parameters { p0: vec2<i32> }\n"),
            HasSubstr("var<storage, read> r0_f32: array<f32>;\n"),
            HasSubstr("var<storage, read_write> w2_f32: array<f32>;\n"),
            HasSubstr("\nvar<workgroup> b"), HasSubstr("@workgroup_size("),
            HasSubstr("workgroupBarrier();"), HasSubstr("let v")));
}

// Elements of less than a word are packed into words, and what several
// invocations may change in one word is changed atomically.
TEST(Wgsl, PacksShortElements) {
  const StatusOr<std::string> module = OfNest(R"(
  loops @narrow(%x: input i8[64], %y: output i8[64]) {
    phase i < 64 { %y[i] = %x[i] + %x[i] }
  })");
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_THAT(
      *module,
      AllOf(HasSubstr("var<storage, read> r0_words: array<u32>;\n"),
            HasSubstr("var<storage, read_write> w1_words: "
                      "array<atomic<u32>>;\n"),
            HasSubstr("fn load_r0_i8(position: u32) -> i32 {\n"),
            HasSubstr("atomicAnd(&w1_words[position / 4u], ~(255u << shift))"),
            HasSubstr("store_w1_i8(u32(i0_i), ")));
}

TEST(Wgsl, RecordsFailedChecks) {
  const StatusOr<std::string> module = OfNest(R"(
  loops @take(%x: input f32[64], %k: input i32[64], %y: output f32[64]) {
    phase i < 64 {
      check %x.0 i64(%k[i]) < 64
      %y[i] = %x[i64(%k[i])]
    }
  })");
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_THAT(*module, AllOf(StartsWith("// phase0: read read write record\n"),
                             HasSubstr("fn record_failure("),
                             HasSubstr("record_failure(0, 0, ")));
}

// An i64 that fits 32 bits is held in them; its memory has both halves.
TEST(Wgsl, HoldsShortIntegersOf64Bits) {
  const StatusOr<std::string> module = OfNest(R"(
  loops @numbers(%y: output i64[64]) {
    phase i < 64 { %y[i] = i * 3 }
  })");
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_THAT(*module, HasSubstr("w0_i64[u32(i0_i)] = vec2<i32>("));
}

// A literal that is no finite number would be an error, and so would an
// expression of literals that overflows.
TEST(Wgsl, ComputesNoLiterals) {
  const StatusOr<std::string> module = OfNest(R"(
  loops @most(%y: output f32[64], %z: output i32[64]) {
    phase i < 64 {
      %y[i] = inf
      %z[i] = 2147483647 + 1
    }
  })");
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_THAT(*module, AllOf(HasSubstr("bitcast<f32>(no_bits | 2139095040u)"),
                             Not(HasSubstr("i32(2147483647) + i32(1)"))));
}

TEST(Wgsl, DeclinesByName) {
  struct Case {
    const char* nest;
    const char* reason;
  };
  constexpr Case kCases[] = {
      {"loops @f(%x: input f64[4], %y: output f64[4]) {\n"
       "  phase i < 4 { %y[i] = %x[i] }\n}",
       "device-type: the device does not have the type: f64"},
      {"loops @f(%x: input i64[4], %y: output i64[4]) {\n"
       "  phase i < 4 { %y[i] = %x[i] }\n}",
       "device-type: the device does not have the type: i64"},
      {"loops @f(%x: input u64[4], %y: output u64[4]) {\n"
       "  phase i < 4 { %y[i] = %x[i] }\n}",
       "device-type: the device does not have the type: u64"},
      {"loops @f(%a: input f32[4], %b: input f32[4], %y: output f32[4]) {\n"
       "  phase i < 4 { %y[i] = %a[i] + %b[i] }\n}",
       "3 storage buffers, where an entry point has 2"},
  };
  for (const Case& c : kCases) {
    const StatusOr<std::string> module =
        OfNest(c.nest, "webgpu+shared16384+invocations256+buffers2");
    ASSERT_FALSE(module.ok()) << *module;
    EXPECT_EQ(module.status().code(), StatusCode::kUnimplemented);
    EXPECT_THAT(module.status().ToString(), HasSubstr(c.reason));
  }
}

}  // namespace
}  // namespace ember::jit::wgsl

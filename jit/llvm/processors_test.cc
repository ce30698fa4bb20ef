// Tests the rows of jit/target/testing/processors.cc: that schedules and LLVM
// use the same features of each processor, and that jit/llvm/processors.bzl
// lists each processor.
#include "jit/target/testing/processors.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "jit/llvm/all_targets.h"
#include "jit/llvm/passes/host.h"
#include "jit/target/compile_target.h"
#include "jit/target/cpu_model.h"

namespace ember::jit::llvm_ir {
namespace {

StatusOr<Host> HostOf(const Processor& processor) {
  UseAllTargets();
  return DetectHost(std::string(processor.llvm));
}

TEST(ProcessorsTest, EachHasTests) {
  std::istringstream tested(std::getenv("EMBER_PROCESSORS"));
  const std::vector<std::string> expected(
      std::istream_iterator<std::string>(tested), {});
  std::vector<std::string> found;
  for (const Processor& processor : Processors())
    found.emplace_back(processor.name);
  EXPECT_EQ(found, expected) << "the list in jit/llvm/processors.bzl";
}

// Expects that schedules for the target use exactly the features that LLVM
// makes code for. For dot products of small bytes and of 16-bit integers,
// schedules may use less.
void ExpectSame(std::string_view target, const StatusOr<Host>& host) {
  ASSERT_TRUE(host.ok()) << host.status().ToString();
  const TargetTraits& traits = host->traits;
  const CpuModel cpu = CpuModel::Of(target);
  const int bits = 8 * cpu.vector_bytes;
  EXPECT_EQ(cpu.has_fma, traits.has_fma);
  EXPECT_EQ(cpu.has_byte_dots, traits.dot_product_bits >= bits);
  EXPECT_EQ(cpu.has_bfloat_dots, traits.bfloat_product_bits >= bits);
  EXPECT_EQ(bits == 512, host->has_512_bits);
  EXPECT_EQ(bits > 128 && traits.is_neon, traits.sve_bits > 0);
  EXPECT_LE(cpu.has_short_dots, traits.pair_product_bits >= bits);
  EXPECT_LE(cpu.has_small_byte_dots, traits.small_product_bits >= bits);
}

TEST(ProcessorsTest, TargetsSayWhatLlvmKnows) {
  for (const Processor& processor : Processors()) {
    SCOPED_TRACE(processor.name);
    ExpectSame(processor.target, HostOf(processor));
  }
}

TEST(ProcessorsTest, CompileTargetsSayWhatLlvmKnows) {
  UseAllTargets();
  for (const char* name :
       {"host", "x86-64-v2", "x86-64-v3", "x86-64-v3+vnni", "x86-64-v4",
        "x86-64-v4+vnni", "x86-64-v4+bf16", "aarch64", "aarch64+dotprod",
        "aarch64+i8mm", "aarch64+sve", "aarch64+dotprod+i8mm+sve", "armv7+neon",
        "armv7+neon+vfp4", "wasm32+simd128"}) {
    SCOPED_TRACE(name);
    const auto target = FindCompileTarget(name);
    ASSERT_TRUE(target.ok()) << target.status().ToString();
    ExpectSame(target->target, DetectHost(target->llvm));
  }
}

TEST(ProcessorsTest, WhatThisMachineLacks) {
  const auto missing = [](const char* cpu) {
    const StatusOr<Host> host = DetectHost(cpu);
    EXPECT_TRUE(host.ok()) << host.status().ToString();
    const StatusOr<std::string> text =
        host.ok() ? MissingHere(*host) : StatusOr<std::string>(host.status());
    return text.ok() ? *text : text.status().ToString();
  };
  EXPECT_EQ(missing(""), "");
#if defined(__x86_64__)
  EXPECT_EQ(missing("aarch64-linux-gnu:cortex-a72"), "aarch64");
  EXPECT_EQ(missing("x86-64-v2"), "");
  // No machine has both fma4 (AMD) and avx512vp2intersect, so this machine
  // lacks at least one of them.
  EXPECT_NE(missing("x86-64-v2+fma4+avx512vp2intersect"), "");
#endif
}

}  // namespace
}  // namespace ember::jit::llvm_ir

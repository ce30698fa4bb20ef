#include "jit/target/cpu_model.h"

#include <gtest/gtest.h>

#include "jit/target/testing/processors.h"

namespace ember::jit {
namespace {

TEST(CpuModelTest, AllIsInTheTarget) {
  const CpuModel cpu =
      CpuModel::Of("x86_64-linux+avx2+fma+l1=48K+l2=2048K+l3=33554432+cores=7");
  EXPECT_EQ(cpu.vector_bytes, 32);
  EXPECT_TRUE(cpu.has_fma);
  EXPECT_FALSE(cpu.has_masks);
  EXPECT_EQ(cpu.l1_bytes, 48 << 10);
  EXPECT_EQ(cpu.l2_bytes, 2 << 20);
  EXPECT_EQ(cpu.l3_bytes, 32 << 20);
  EXPECT_EQ(cpu.cores, 7);
  EXPECT_EQ(cpu.Lanes(DType::kF32), 8);
}

TEST(CpuModelTest, WhatIsMissingOrNoNumberIsTheDefault) {
  for (const char* target :
       {"x86_64-linux", "x86_64-linux+l1+cores=", "x86_64-linux+l1=x+cores=0",
        "x86_64-linux+l1=-3K+cores=99999999999999999999"}) {
    const CpuModel cpu = CpuModel::Of(target);
    EXPECT_EQ(cpu.l1_bytes, CpuModel().l1_bytes) << target;
    EXPECT_EQ(cpu.cores, CpuModel().cores) << target;
  }
  // A longer name that begins with the name of a feature is another feature:
  // fma4 is not fma.
  EXPECT_FALSE(CpuModel::Of("x86_64-linux+fma4").has_fma);
}

TEST(CpuModelTest, Processors) {
  const auto cpu_of = [](const char* name) {
    const Processor* const processor = FindProcessor(name);
    EXPECT_NE(processor, nullptr) << name;
    return processor == nullptr ? CpuModel() : CpuModel::Of(processor->target);
  };
  EXPECT_EQ(FindProcessor("x86-64"), nullptr);
  EXPECT_EQ(cpu_of("x86-64-v2").vector_bytes, 16);
  EXPECT_FALSE(cpu_of("x86-64-v2").has_fma);
  EXPECT_EQ(cpu_of("x86-64-v4").vector_bytes, 64);
  EXPECT_FALSE(cpu_of("x86-64-v4").has_byte_dots);
  EXPECT_TRUE(cpu_of("x86-64-v4-vnni").has_byte_dots);
  EXPECT_TRUE(cpu_of("x86-64-v4-bf16").has_bfloat_dots);
  EXPECT_FALSE(cpu_of("aarch64-neon").has_byte_dots);
  EXPECT_TRUE(cpu_of("aarch64-dotprod").has_byte_dots);
  EXPECT_EQ(cpu_of("aarch64-sve256").vector_bytes, 32);
  EXPECT_TRUE(cpu_of("aarch64-sve256").has_masks);
  EXPECT_EQ(cpu_of("armv7-neon").vector_bytes, 16);
  EXPECT_FALSE(cpu_of("armv7-neon").has_fma);
  EXPECT_TRUE(cpu_of("armv7-neon-vfp4").has_fma);
}

TEST(CpuModel, LanesForNeighbours) {
  const CpuModel wide = CpuModel::Of("x86_64-linux+avx2+fma+avx512f");
  const CpuModel middle = CpuModel::Of("x86_64-linux+avx2+fma");
  const CpuModel narrow = CpuModel::Of("aarch64-linux+neon");
  // LanesFor returns at most the lanes of the machine's widest vector, and at
  // least four if it uses vectors at all.
  EXPECT_EQ(wide.LanesFor(4, 1000), 16);
  EXPECT_EQ(wide.LanesFor(4, 9), 16);
  EXPECT_EQ(wide.LanesFor(4, 8), 8);
  EXPECT_EQ(wide.LanesFor(4, 5), 8);
  for (const CpuModel& cpu : {wide, middle, narrow}) {
    EXPECT_EQ(cpu.LanesFor(4, 4), 4);
    EXPECT_EQ(cpu.LanesFor(4, 2), 4);
    EXPECT_EQ(cpu.LanesFor(4, 1), 1);
  }
  EXPECT_EQ(middle.LanesFor(4, 100), 8);
  EXPECT_EQ(middle.LanesFor(1, 100), 32);
  EXPECT_EQ(middle.LanesFor(1, 12), 16);
  EXPECT_EQ(narrow.LanesFor(8, 100), 2);
  EXPECT_EQ(narrow.LanesFor(8, 1), 1);
  EXPECT_EQ(narrow.LanesFor(16, 100), 1);
}

}  // namespace
}  // namespace ember::jit

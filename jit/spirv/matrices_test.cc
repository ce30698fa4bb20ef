// Matrix loops on a device that has cooperative matrices, against the evaluator
// of nests; and what is declined where it has not. ./dev lavapipe runs what the
// lavapipe of Debian 12 skips.
//
//   EMBER_SEEDS=1000 ./dev lavapipe -- bazel-bin/jit/spirv/matrices_test
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/loops/evaluator.h"
#include "jit/loops/random_nest.h"
#include "jit/loops/text.h"
#include "jit/loops/text_template.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/gpu/gpu_schedule.h"
#include "jit/schedule/lowering/lowering.h"
#include "jit/spirv/emitter.h"
#include "jit/spirv/target.h"
#include "jit/spirv/testing.h"
#include "jit/spirv/tools.h"
#include "jit/target/gpu_model.h"
#include "tensor/text.h"

namespace ember::jit::spirv {
namespace {

using loops::MatrixType;
using loops::Replaced;
using ::testing::HasSubstr;

constexpr char kTarget[] =
    "vulkan1.3+f16+int8+storage8+storage16+matrix+vulkan_memory_model+"
    "matrix16x16x16:f16:f16:f32+matrix16x16x32:u8:u8:i32+"
    "matrix16x16x32:i8:i8:i32+subgroup32+shared32768+invocations1024";

// For the sizes and types; factors cast as the sum wants it.
std::string Of(const MatrixType& type, std::string_view text) {
  const std::string sum(DTypeName(type.sum));
  const bool casts = type.sum != DType::kF16;
  return Replaced(std::string(text), {{"CAST", casts ? sum : ""},
                                      {"SUM", sum},
                                      {"TA", std::string(DTypeName(type.a))},
                                      {"TB", std::string(DTypeName(type.b))},
                                      {"2M", std::to_string(2 * type.rows)},
                                      {"2N", std::to_string(2 * type.columns)},
                                      {"3K", std::to_string(3 * type.depth)},
                                      {"M", std::to_string(type.rows)},
                                      {"N", std::to_string(type.columns)},
                                      {"K", std::to_string(type.depth)}});
}

// Two subgroups of two tiles each, from device memory and back.
constexpr char kFromDeviceMemory[] = R"(
loops @product(%a: input TA[5, 2M, 3K], %b: input TB[3K, 2N],
               %y: output SUM[5, 2M, 2N]) {
  register %s: SUM[2, 2, M, N]
  phase t < 5 {
    subgroup g < 2 {
      unroll j < 2 { matrix m < M { matrix n < N { %s[g, j, m, n] = 3:SUM } } }
      for k0 < 3 {
        unroll j < 2 {
          matrix m < M { matrix n < N { matrix k < K {
            %s[g, j, m, n] += CAST(%a[t, g * M + m, k0 * K + k]) *
                              CAST(%b[k0 * K + k, j * N + n])
          } } }
        }
      }
      unroll j < 2 {
        matrix m < M { matrix n < N {
          %y[t, g * M + m, j * N + n] = %s[g, j, m, n]
        } }
      }
    }
  }
})";

// All by columns.
constexpr char kByColumns[] = R"(
loops @product(%a: input TA[3K, 2M], %b: input TB[2N, 3K],
               %y: output SUM[2N, 2M]) {
  register %s: SUM[2, M, N]
  phase t < 2 {
    subgroup g < 2 {
      matrix m < M { matrix n < N { %s[g, m, n] = 0:SUM } }
      for k0 < 3 {
        matrix m < M { matrix n < N { matrix k < K {
          %s[g, m, n] += CAST(%b[t * N + n, k0 * K + k]) *
                         CAST(%a[k0 * K + k, g * M + m])
        } } }
      }
      matrix m < M { matrix n < N { %y[t * N + n, g * M + m] = %s[g, m, n] } }
    }
  }
})";

// Slices that all invocations load, more of them than the subgroups have; a
// condition around a product; results that invocations change in memory of the
// workgroup.
constexpr char kFromWorkgroup[] = R"(
loops @product(%a: input TA[2M, 3K], %b: input TB[3K, 2N],
               %y: output SUM[2M, 2N]) {
  task %ta: TA[2, 2M, K]
  task %tb: TB[2, K, N]
  task %ty: SUM[2M, N]
  register %s: SUM[2, M, N]
  phase t < 2 {
    subgroup g < 2 { matrix m < M { matrix n < N { %s[g, m, n] = 1:SUM } } }
    for k0 < 3 {
      invocation i < K {
        for m < 2M { %ta[mod(k0, 2), m, i] = %a[m, k0 * K + i] }
      }
      invocation i < N {
        for k < K { %tb[mod(k0, 2), k, i] = %b[k0 * K + k, t * N + i] }
      }
      subgroup g < 2 {
        if g + k0 != 2 {
          matrix m < M { matrix n < N { matrix k < K {
            %s[g, m, n] += CAST(%ta[mod(k0, 2), g * M + m, k]) *
                           CAST(%tb[mod(k0, 2), k, n])
          } } }
        }
      }
    }
    subgroup g < 2 {
      matrix m < M { matrix n < N { %ty[g * M + m, n] = %s[g, m, n] } }
    }
    invocation i < 2M { for n < N { %y[i, t * N + n] = %ty[i, n] + SUM(1) } }
  }
})";

// Fewer subgroups than the workgroup has; bytes that lie in words.
constexpr char kBytesInWords[] = R"(
loops @product(%a: input TA[M, 3K], %b: input TB[N, 3K],
               %y: output SUM[M, N]) {
  task %ta: TA[M, K]
  register %s: SUM[1, M, N]
  phase t < 1 {
    subgroup g < 1 { matrix m < M { matrix n < N { %s[g, m, n] = 0:SUM } } }
    for k0 < 3 {
      invocation i < 40 {
        if i < M {
          for k < K / 4 {
            vector l < 4 { %ta[i, k * 4 + l] = %a[i, k0 * K + k * 4 + l] }
          }
        }
      }
      subgroup g < 1 {
        matrix m < M { matrix n < N { matrix k < K {
          %s[g, m, n] += CAST(%ta[m, k]) * CAST(%b[n, k0 * K + k])
        } } }
      }
    }
    subgroup g < 1 {
      matrix m < M { matrix n < N { %y[m, n] = %s[g, m, n] } }
    }
  }
})";

class MatricesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string why = WhyNoMatrices();
    if (why.empty()) return;
    // ./dev ci says so where there have to be some.
    ASSERT_EQ(std::getenv("EMBER_TEST_MATRICES"), nullptr) << why;
    GTEST_SKIP() << why;
  }
  // On each product that the device lists.
  void ExpectOfAll(std::string_view text) {
    for (const MatrixType& type : Target::Of(TestTarget()).matrices) {
      SCOPED_TRACE(ToText(type));
      ExpectAsEvaluated(Of(type, text));
    }
  }
};

TEST_F(MatricesTest, FromDeviceMemory) { ExpectOfAll(kFromDeviceMemory); }
TEST_F(MatricesTest, ByColumns) { ExpectOfAll(kByColumns); }
TEST_F(MatricesTest, FromMemoryOfTheWorkgroup) { ExpectOfAll(kFromWorkgroup); }
TEST_F(MatricesTest, BytesInWords) { ExpectOfAll(kBytesInWords); }

// Sums of i32 wrap: 255 * 255 of u8 and -128 * -128 of i8, added to large
// numbers.
TEST_F(MatricesTest, SumsOfIntegersWrap) {
  for (const MatrixType& type : Target::Of(TestTarget()).matrices) {
    if (type.sum != DType::kI32) continue;
    ExpectAsEvaluated(Of(type, R"(
loops @product(%a: input TA[M, K], %b: input TB[K, N], %y: output i32[M, N]) {
  task %ta: TA[M, K]
  register %s: i32[1, M, N]
  phase t < 1 {
    invocation i < M { for k < K { %ta[i, k] = TA(128) } }
    subgroup g < 1 {
      matrix m < M { matrix n < N { %s[g, m, n] = 2147483647:i32 } }
      matrix m < M { matrix n < N { matrix k < K {
        %s[g, m, n] += i32(%ta[m, k]) * i32(%b[k, n])
      } } }
      matrix m < M { matrix n < N { %y[m, n] = %s[g, m, n] } }
    }
  }
})"));
  }
}

// On devices whose workgroups are whole subgroups then.
TEST_F(MatricesTest, OtherPhasesOfTheModule) {
  ExpectOfAll(R"(
loops @phases(%x: input SUM[2M, 2N], %y: output SUM[2M, 2N],
              %z: output SUM[5], %w: output SUM[2M, 2N]) {
  register %s: SUM[1, M, N]
  task %t: SUM[1000]
  phase t < M { invocation i < 11 { if i < N { %w[t, i] = %x[t, i] } } }
  phase t < 5 {
    for i < 1000 { %t[i] = %x[0, mod(i, N)] }
    %z[t] = %t[t + 9]
  }
  phase t < 2 {
    subgroup g < 1 {
      matrix m < M { matrix n < N { %s[g, m, n] = 5:SUM } }
      matrix m < M { matrix n < N { %y[t * M + m, n] = %s[g, m, n] } }
    }
  }
})");
}

// What the default schedules of GPUs make of products, if the device were one.
void ExpectScheduled(std::string_view text) {
  SCOPED_TRACE(text);
  const auto dispatch = tensor::Parse(text);
  ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  GpuModel gpu = GpuModel::Of(TestTarget());
  gpu.is_cpu_like = false;
  gpu.max_invocations = 64;
  gpu.workgroup_size = 32;
  gpu.busy_invocations = 128;
  schedule::Schedule chosen(schedule::Disassemble(*dispatch, {}));
  const Status status = schedule::ScheduleForGpu(gpu, chosen);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_THAT(chosen.ToText(), HasSubstr("multiply_matrices"));
  const auto nest = schedule::Lower(chosen);
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  ExpectAsEvaluated(loops::ToText(*nest));
}

TEST_F(MatricesTest, DefaultSchedules) {
  // Whole matrices; and rows, columns and steps that none fill.
  ExpectScheduled(R"(
    dispatch @product(%a: f16[64, 128], %b: f16[128, 64]) -> (%y: f32[64, 64]) {
      %y[i, j] = sum(k < 128) f32(%a[i, k]) * f32(%b[k, j])
    })");
  ExpectScheduled(R"(
    dispatch @product(%a: f16[37, 100], %b: f16[100, 21], %c: f16[21])
        -> (%y: f16[37, 21]) {
      temp %sum: f32[37, 21]
      %sum[i, j] = sum(k < 100) f32(%a[i, k]) * f32(%b[k, j])
      %y[i, j] = max(f16(%sum[i, j]) + %c[j], 0.0)
    })");
  ExpectScheduled(R"(
    dispatch @bytes(%a: i8[64, 128], %b: i8[64, 128]) -> (%y: i32[64, 64]) {
      %y[i, j] = sum(k < 128) i32(%a[i, k]) * i32(%b[j, k])
    })");
}

TEST_F(MatricesTest, RandomNests) {
  const std::vector<MatrixType> types = Target::Of(TestTarget()).matrices;
  // Few: lavapipe takes seconds for a module.
  const tensor::SeedRange seeds = tensor::Seeds(10);
  int with_matrices = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("replay: EMBER_SEED=" + std::to_string(seed) +
                 " ./dev lavapipe -- bazel-bin/jit/spirv/matrices_test");
    const loops::RandomNest random =
        loops::MakeRandomNest(seed, {.maximum_phases = 2,
                                     .maximum_depth = 1,
                                     .float_remainders = false,
                                     .bits_as_floats = KeepsSubnormals(),
                                     .matrices = types});
    const bool has_matrices =
        loops::ToText(random.nest).find("matrix") != std::string::npos;
    // Others are those of random_test.
    if (!has_matrices && seeds.end - seeds.begin > 1) continue;
    with_matrices += has_matrices;
    Bytes expected = random.MakeBuffers(), actual = random.MakeBuffers();
    const Status wanted = loops::Evaluate(random.nest, random.parameters,
                                          tensor::Pointers(expected));
    const Status status = RunOnDevice(random.nest, random.parameters, actual);
    ASSERT_EQ(wanted.ok(), status.ok())
        << wanted.ToString() << " / " << status.ToString() << "\n"
        << loops::ToText(random.nest);
    if (!wanted.ok()) continue;
    ASSERT_EQ(loops::FirstDifference(random, expected, actual), "")
        << loops::ToText(random.nest);
  }
  if (seeds.end - seeds.begin >= 10) {
    EXPECT_GE(with_matrices, 3);
  }
  std::printf("seeds %llu..%llu: %d with matrices\n",
              static_cast<unsigned long long>(seeds.begin),
              static_cast<unsigned long long>(seeds.end - 1), with_matrices);
}

// --- what needs no device

StatusOr<ModuleCode> EmitFor(const char* target, const MatrixType& type,
                             std::string_view text) {
  return EmitModule(ParseOrDie(Of(type, text)), Target::Of(target));
}

constexpr MatrixType kHalves = {16,          16,          16,
                                DType::kF16, DType::kF16, DType::kF32};
constexpr MatrixType kBytes = {16, 16, 32, DType::kU8, DType::kU8, DType::kI32};

TEST(MatricesPlanTest, WorkgroupsAreWholeSubgroups) {
  const auto code = EmitFor(kTarget, kHalves, kFromWorkgroup);
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  EXPECT_EQ(code->phases[0].invocations, 64);
  // Elements of f16 take two bytes each.
  EXPECT_EQ(code->phases[0].shared_bytes,
            2 * (2 * 32 * 16 + 2 * 16 * 16) + 4 * 32 * 16);
  // An eighth of each accumulator.
  EXPECT_EQ(code->phases[0].register_bytes, 16 * 16 * 4 / 32);
  const auto words = EmitFor(kTarget, kBytes, kBytesInWords);
  ASSERT_TRUE(words.ok()) << words.status().ToString();
  EXPECT_EQ(words->phases[0].invocations, 64);
  EXPECT_EQ(words->phases[0].shared_bytes, 16 * 32);
}

// Vulkan wants it of all entry points of a module.
TEST(MatricesPlanTest, SoAreThoseOfOtherPhases) {
  const auto code = EmitFor(kTarget, kHalves, R"(
loops @phases(%x: input f32[M, N], %y: output f32[M, N],
              %z: output f32[4]) {
  register %s: f32[1, M, N]
  task %t: f32[4, 1000]
  phase t < 4 { invocation i < 11 { %y[t, i] = %x[t, i] } }
  phase t < 4 { for i < 1000 { %t[t, i] = %x[0, 0] } %z[t] = %t[t, 9] }
  phase t < 1 {
    subgroup g < 1 {
      matrix m < M { matrix n < N { %s[g, m, n] = 0.0 } }
      matrix m < M { matrix n < N { %y[m, n] = %s[g, m, n] } }
    }
  }
})");
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  for (const gpu::PhaseCode& phase : code->phases)
    EXPECT_EQ(phase.invocations % 32, 0) << phase.entry_point;
}

TEST(MatricesPlanTest, DeclinesWhatTheTargetDoesNotList) {
  const auto why = [](const char* target, const MatrixType& type) {
    const auto code = EmitFor(target, type, kFromDeviceMemory);
    return code.ok() ? "" : code.status().ToString();
  };
  EXPECT_EQ(why(kTarget, kBytes), "");
  MatrixType other = kHalves;
  other.depth = 8;
  EXPECT_THAT(why(kTarget, other), HasSubstr("16x16x8:f16:f16:f32"));
  EXPECT_THAT(why("vulkan1.3+matrix16x16x16:f16:f16:f32", kHalves),
              HasSubstr("device-matrix"));
  EXPECT_THAT(why("vulkan1.3+vulkan_memory_model+storage16+"
                  "matrix16x16x16:f16:f16:f32+subgroup32",
                  kHalves),
              HasSubstr("arithmetic of f16"));
}

// With SPIRV-Tools that know it, and with those that do not.
TEST(MatricesPlanTest, ModulesCanBeRead) {
  const auto code = EmitFor(kTarget, kBytes, kFromDeviceMemory);
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  const std::string text = DisassembleModule(code->words);
  for (const char* what :
       {"OpCapability CooperativeMatrixKHR",
        "OpExtension \"SPV_KHR_cooperative_matrix\"",
        "OpTypeCooperativeMatrixKHR %", "OpCooperativeMatrixLoadKHR %",
        "OpCooperativeMatrixStoreKHR %", "OpCooperativeMatrixMulAddKHR %",
        "OpMemoryModel Logical Vulkan"}) {
    EXPECT_THAT(text, HasSubstr(what));
  }
  const Status valid = Validate(code->words);
  if (valid.code() == StatusCode::kUnimplemented)
    GTEST_SKIP() << valid.message();
  EXPECT_TRUE(valid.ok()) << valid.ToString() << text;
}

}  // namespace
}  // namespace ember::jit::spirv

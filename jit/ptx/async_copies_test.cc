// Nests on the emulated grid against the evaluator of nests: each kernel's own
// LLVM IR is run, thread by thread, and its accesses are checked.
//
//   EMBER_SEEDS=1000 bazel run //jit/ptx:nest_test
#include <cstdio>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "hal/cuda/emulated/grid.h"
#include "jit/gpu/testing.h"
#include "jit/loops/evaluator.h"
#include "jit/loops/random_nest.h"
#include "jit/loops/text.h"
#include "jit/loops/text_template.h"
#include "jit/ptx/assembler_testing.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/device_testing.h"
#include "jit/ptx/target.h"
#include "jit/target/matrix_instructions.h"
#include "tensor/random_values.h"

namespace ember::jit::ptx {
namespace {

using gpu::Bytes;

// Makes PTX, too, and assembles that where it can if it is asked to.
Status RunOnGrid(const loops::LoopNest& nest,
                 const std::vector<int64_t>& parameters, Bytes& buffers,
                 bool assembles = true) {
  const std::shared_ptr<hal::Device> device = TestDevice();
  const Target target = Target::Of(device->target());
  CodeTexts texts;
  EMBER_ASSIGN_OR_RETURN(gpu::DeviceCode code,
                         CompileNest(nest, target, &texts));
  if (assembles && HasAssembler()) {
    const std::string wrong = Assemble(texts.ptx, target.processor);
    if (!wrong.empty()) return InternalError(wrong);
  }
  return gpu::RunNest(device, nest, std::move(code), parameters, buffers);
}

void ExpectAsEvaluated(const std::string& text,
                       const std::vector<int64_t>& parameters = {}) {
  SCOPED_TRACE(text);
  const loops::LoopNest nest = gpu::ParseOrDie(text);
  Bytes expected = gpu::SmallContents(nest, parameters);
  Bytes actual = expected;
  const Status wanted =
      loops::Evaluate(nest, parameters, tensor::Pointers(expected));
  const Status status = RunOnGrid(nest, parameters, actual);
  ASSERT_EQ(wanted.ok(), status.ok())
      << wanted.ToString() << " / " << status.ToString();
  if (!wanted.ok()) {
    EXPECT_EQ(status.code(), wanted.code()) << status.ToString();
    return;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(tensor::FirstDifferentElement(nest.buffers[i].type, expected[i],
                                            actual[i], 0, 0),
              "")
        << "%" << nest.buffers[i].name;
  }
}

TEST(PtxNestTest, TasksEach) {
  ExpectAsEvaluated(R"(
    loops @scale<N>(%x: input f32[N, 12], %s: input f32[N],
                    %y: output f32[N, 12]) {
      phase i < N {
        for j < 3 {
          vector l < 4 { %y[i, j * 4 + l] = %x[i, j * 4 + l] * %s[i] }
        }
      }
    })",
                    {100});
}

TEST(PtxNestTest, SharedTilesAndBarriers) {
  ExpectAsEvaluated(R"(
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
    })");
}

TEST(PtxNestTest, CombinesInvocations) {
  for (const char* type : {"f32", "f16", "bf16", "f64", "i64", "i8", "u16"}) {
    std::string text = R"(
      loops @sums(%x: input T[3, 100], %y: output T[3], %z: output T[3]) {
        register %part: T[100]
        phase t < 3 {
          invocation i < 100 { %part[i] = %x[t, i] }
          %y[t] = 0:T
          %z[t] = %x[t, 0]
          invocation i < 100 { %y[t] += %part[i] }
          invocation i < 100 { %z[t] max= %part[i] }
        }
      })";
    for (size_t at = text.find(" T"); at != std::string::npos;
         at = text.find(" T"))
      text.replace(at + 1, 1, type);
    for (size_t at = text.find(":T"); at != std::string::npos;
         at = text.find(":T"))
      text.replace(at + 1, 1, type);
    ExpectAsEvaluated(text);
  }
}

// More than a block's memory holds.
TEST(PtxNestTest, SlicesOfDeviceMemory) {
  ExpectAsEvaluated(R"(
    loops @slices(%x: input f32[3, 64], %y: output f32[3, 64]) {
      task %large: f32[50000]
      phase t < 3 {
        invocation i < 64 { %large[i * 700] = %x[t, i] * 2.0 }
        invocation i < 64 { %y[t, i] = %large[44100 - i * 700] }
      }
    })");
}

TEST(PtxNestTest, PackedConstantsAndPads) {
  ExpectAsEvaluated(R"(
    loops @packed(%w: input f32[6, 10], %x: input f32[10], %y: output f32[8]) {
      packed %p: f32[10, 6]
      prologue k < 10 { for i < 6 { %p[k, i] = %w[i, k] } }
      phase i < 8 {
        %y[i] = 0.0
        for k < 12 { %y[i] += pad(%p[k - 1, i - 1], 0.5) * pad(%x[k], 0.0) }
      }
    })");
}

TEST(PtxNestTest, FailedChecks) {
  ExpectAsEvaluated(R"(
    loops @gather(%x: input f32[10], %k: input i32[64], %y: output f32[64]) {
      phase t < 1 {
        invocation i < 64 {
          check %x.0 i64(%k[i]) < 10
          %y[i] = %x[i64(%k[i])]
        }
      }
    })");
}

// For the sizes and types of a product; factors cast as the sum wants it.
std::string Of(const loops::MatrixType& type, std::string_view text) {
  const std::string sum(DTypeName(type.sum));
  const bool casts = type.sum != DType::kF16;
  return loops::Replaced(std::string(text),
                         {{"CAST", casts ? sum : ""},
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

// Two warps of two tiles each, from device memory and back.
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

// All by columns, from device memory and, where it is copied first, from shared
// memory.
constexpr char kByColumns[] = R"(
loops @product(%a: input TA[3K, 2M], %b: input TB[2N, 3K],
               %y: output SUM[2N, 2M]) {
  task %tb: TB[2N, 3K]
  task %ta: TA[3K, 2M]
  register %s: SUM[2, M, N]
  phase t < 2 {
    invocation i < 2N { for k < 3K { %tb[i, k] = %b[i, k] } }
    invocation i < 2M { for k < 3K { %ta[k, i] = %a[k, i] } }
    subgroup g < 2 {
      matrix m < M { matrix n < N { %s[g, m, n] = 0:SUM } }
      for k0 < 3 {
        matrix m < M { matrix n < N { matrix k < K {
          %s[g, m, n] += CAST(%b[t * N + n, k0 * K + k]) *
                         CAST(%a[k0 * K + k, g * M + m])
        } } }
        matrix m < M { matrix n < N { matrix k < K {
          %s[g, m, n] += CAST(%tb[t * N + n, k0 * K + k]) *
                         CAST(%ta[k0 * K + k, g * M + m])
        } } }
      }
      matrix m < M { matrix n < N { %y[t * N + n, g * M + m] = %s[g, m, n] } }
    }
  }
})";

// Slices in shared memory that more threads load than multiply; a condition
// around a product; results that threads change in shared memory.
constexpr char kFromShared[] = R"(
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

// Every row of the table of instructions, in each layout.
TEST(PtxNestTest, MatrixInstructions) {
  ASSERT_FALSE(MatrixInstructions().empty());
  for (const MatrixInstruction& row : MatrixInstructions()) {
    SCOPED_TRACE(row.name);
    for (const char* text : {kFromDeviceMemory, kByColumns, kFromShared})
      ExpectAsEvaluated(Of(row.type, text));
  }
}

// A ring of slots. value: what is copied, of turn `k` and element `i * 4 + l`.
std::string Ring(const std::string& type, int slots, const std::string& value,
                 int row = 256) {
  const std::string ahead = std::to_string(slots - 1);
  const std::string copy =
      "invocation i < 8 { vector l < 4 { async %tile[mod("
      "TURN, " +
      std::to_string(slots) + "), i * 4 + l] = " + value + " } } ";
  const std::string await = " await " + std::to_string(slots - 2) + " ";
  const auto at = [&](const std::string& turn) {
    std::string text = copy;
    for (size_t found = 0;
         (found = text.find("TURN", found)) != std::string::npos;) {
      text.replace(found, 4, turn);
    }
    return text;
  };
  std::string text =
      "loops @ring(%x: input " + type + "[5, " + std::to_string(row) +
      "], %y: output " + type + "[5, 32]) { task %tile: " + type + "[" +
      std::to_string(slots) + ", 32] register %sum: " + type +
      "[32] phase t < 5 { invocation i < 32 { %sum[i] = 0:" + type + " } ";
  for (int turn = 0; turn + 1 < slots; ++turn)
    text += (turn > 0 ? await : "") + at(std::to_string(turn));
  text += "for k < 7 {" + await + "if k + " + ahead + " < 7 { " +
          at("(k + " + ahead + ")") +
          "} invocation i < 32 { for j < 32 { %sum[i] += %tile[mod(k, " +
          std::to_string(slots) +
          "), j] } } } invocation i < 32 { %y[t, i] = %sum[i] } } }";
  return text;
}

// How many copies threads made that nobody waited for; nothing on a GPU, which
// does not count them.
std::optional<uint64_t> AsyncCopiesOf(const std::string& text) {
  const hal::cuda::GridStatistics before = hal::cuda::TotalStatistics();
  ExpectAsEvaluated(text);
  if (!Target::Of(TestDevice()->target()).is_emulated) return std::nullopt;
  return hal::cuda::TotalStatistics().async_copies - before.async_copies;
}

TEST(PtxNestTest, AsyncCopies) {
  for (const int slots : {2, 3, 4, 5}) {
    const auto copies =
        AsyncCopiesOf(Ring("f32", slots, "%x[t, TURN * 32 + i * 4 + l]"));
    EXPECT_EQ(copies.value_or(5u * 7 * 8), 5u * 7 * 8);
  }
  // Rows of 250 are not aligned to what is copied at once.
  AsyncCopiesOf(Ring("f16", 3, "%x[t, TURN * 32 + i * 4 + l]", 250));
  AsyncCopiesOf(Ring("i8", 3, "%x[t, TURN * 32 + i * 4 + l]", 250));
}

TEST(PtxNestTest, AsyncCopiesOfWhatIsOutside) {
  const auto copies =
      AsyncCopiesOf(Ring("f32", 3, "pad(%x[t + TURN - 3, i * 4 + l], 0.0)"));
  EXPECT_EQ(copies.value_or(5u * 7 * 8), 5u * 7 * 8);
  // Of another value, and where lanes differ: by loads and stores.
  const auto others =
      AsyncCopiesOf(Ring("f32", 3, "pad(%x[t + TURN - 3, i * 4 + l], 1.0)"));
  EXPECT_EQ(others.value_or(0u), 0u);
  AsyncCopiesOf(Ring("f32", 3, "pad(%x[t, TURN * 40 + i * 4 + l], 0.0)"));
}

TEST(PtxNestTest, RandomNests) {
  const tensor::SeedRange seeds = tensor::Seeds(24);
  const int architecture = Target::Of(TestDevice()->target()).architecture;
  int failed_checks = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("replay: EMBER_SEED=" + std::to_string(seed) +
                 " bazel run //jit/ptx:nest_test");
    const loops::RandomNest random =
        loops::MakeRandomNest(seed, {.float_remainders = false,
                                     .simplify = seed % 2 == 0,
                                     .matrices = MatrixTypesOf(architecture)});
    Bytes expected = random.MakeBuffers(), actual = random.MakeBuffers();
    const Status wanted = loops::Evaluate(random.nest, random.parameters,
                                          tensor::Pointers(expected));
    const Status status =
        RunOnGrid(random.nest, random.parameters, actual, seed % 8 == 0);
    ASSERT_EQ(wanted.ok(), status.ok())
        << wanted.ToString() << " / " << status.ToString() << "\n"
        << loops::ToText(random.nest);
    failed_checks += !wanted.ok();
    if (!wanted.ok()) {
      ASSERT_EQ(status.code(), wanted.code()) << status.ToString();
      continue;
    }
    ASSERT_EQ(loops::FirstDifference(random, expected, actual), "")
        << loops::ToText(random.nest);
  }
  std::printf("seeds %llu..%llu: %d with a failed check\n",
              static_cast<unsigned long long>(seeds.begin),
              static_cast<unsigned long long>(seeds.end - 1), failed_checks);
}

}  // namespace
}  // namespace ember::jit::ptx

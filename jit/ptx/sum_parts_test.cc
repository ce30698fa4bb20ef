// Tests matrix products whose sums are split into parts that workgroups compute
// concurrently (split-K and stream-K; jit/schedule/gpu/sum_parts.h), on an
// emulated sm_80 and sm_90a: the results, and the phases of the code.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/testing/seeds.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/command_list.h"
#include "hal/device.h"
#include "jit/gpu/testing/run_nest.h"
#include "jit/loops/text/text.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/target.h"
#include "jit/ptx/testing/device.h"
#include "jit/ptx/testing/products.h"
#include "jit/target/gpu_model.h"
#include "tensor/testing/random_values.h"
#include "vm/runtime/kernels/device_kernel.h"

namespace ember::jit::ptx {
namespace {

using ::testing::HasSubstr;

class SumParts : public ::testing::Test {
 protected:
  // Chooses the emulated architecture before any test opens the device, unless
  // the environment has chosen another.
  static void SetUpTestSuite() {
    setenv("EMBER_CUDA_EMULATE", "sm_90a", /*replace=*/0);
  }
  static bool IsWide() { return TestDevice()->target().starts_with("sm_90a"); }
  // Runs the dispatch on a GPU of 8 processors, and expects a second phase,
  // which adds up the parts. Returns the PTX.
  static std::string ExpectParts(std::string_view text,
                                 GridExpectations expectations = {}) {
    expectations.processors = 8;
    std::string ptx;
    ExpectOnGrid(text, &ptx, expectations);
    EXPECT_THAT(ptx, HasSubstr(".entry phase1("));
    return ptx;
  }
};

TEST_F(SumParts, OfMatrices) {
  const std::string ptx = ExpectParts(R"(
    dispatch @layer(%a: f16[64, 1024], %b: f16[1024, 64], %c: f32[64])
        -> (%y: f16[64, 64]) {
      temp %s: f32[64, 64]
      %s[i, j] = sum(k < 1024) f32(%a[i, k]) * f32(%b[k, j])
      %y[i, j] = f16(max(%s[i, j] + %c[j], 0.0))
    })");
  EXPECT_THAT(ptx, HasSubstr(IsWide() ? "wgmma.mma_async" : "mma.sync"));
  EXPECT_THAT(ptx, HasSubstr("cp.async"));
  EXPECT_THAT(ptx, HasSubstr("ld.global.v4.f32"));
  EXPECT_THAT(ptx, HasSubstr("st.global.v4"));
}

TEST_F(SumParts, OfBytes) {
  const std::string ptx = ExpectParts(R"(
    dispatch @bytes(%a: u8[64, 2048], %b: i8[64, 2048]) -> (%y: i32[64, 64]) {
      %y[i, j] = sum(k < 2048) i32(%a[i, k]) * i32(%b[j, k])
    })");
  EXPECT_THAT(ptx, HasSubstr(IsWide() ? "wgmma.mma_async" : "mma.sync"));
  EXPECT_THAT(ptx, HasSubstr("ld.global.v4.u32"));
}

TEST_F(SumParts, WithoutMatrices) {
  const std::string ptx = ExpectParts(R"(
    dispatch @product(%a: f32[16, 1024], %b: f32[1024, 64]) -> (%y: f32[16, 64]) {
      %y[i, j] = sum(k < 1024) %a[i, k] * %b[k, j]
    })",
                                      {.has_matrices = false});
  EXPECT_THAT(ptx, HasSubstr("cp.async"));
  EXPECT_THAT(ptx, HasSubstr("ld.global.v4.f32"));
}

// Tests convolutions of small images, also grouped ones: they have few tiles,
// but long sums over channels and windows.
TEST_F(SumParts, OfConvolutions) {
  ExpectParts(R"(
    dispatch @conv(%x: f16[1, 7, 7, 64], %w: f16[3, 3, 64, 64], %c: f32[64])
        -> (%y: f16[1, 7, 7, 64]) {
      temp %s: f32[1, 7, 7, 64]
      %s[n, h, w, o] = sum(dh < 3, dw < 3, c < 64)
          f32(pad(%x[n, h + dh - 1, w + dw - 1, c], 0.0)) * f32(%w[dh, dw, c, o])
      %y[n, h, w, o] = f16(max(%s[n, h, w, o] + %c[o], 0.0))
    })");
  ExpectParts(R"(
    dispatch @groups(%x: f16[1, 2, 8, 2, 128], %w: f16[3, 3, 2, 128, 16])
        -> (%y: f32[1, 2, 8, 2, 16]) {
      %y[n, h, w, g, o] = sum(dh < 3, dw < 3, c < 128)
          f32(pad(%x[n, h + dh - 1, w + dw - 1, g, c], 0.0)) *
          f32(%w[dh, dw, g, c, o])
    })");
}

// A command list that records the kinds of commands, D for a dispatch and | for
// a barrier, and runs nothing.
class CountingList final : public hal::CommandList {
 public:
  Status Copy(const hal::BufferRange&, const hal::BufferRange&) override {
    return OkStatus();
  }
  Status Fill(const hal::BufferRange&, uint8_t) override { return OkStatus(); }
  Status Dispatch(const hal::Executable&,
                  const hal::DispatchArguments&) override {
    commands += "D";
    return OkStatus();
  }
  Status Barrier() override {
    commands += "|";
    return OkStatus();
  }
  std::string commands;
};

// Shows that tiles that occupy all processors keep their sums whole, and that
// only the sums of the remaining tiles are split. The phases for both run
// concurrently, without a barrier between them; after a barrier, a last phase
// adds up the parts.
TEST_F(SumParts, BesideWholeTiles) {
  constexpr std::string_view kText = R"(
    dispatch @layer(%a: f16[144, 512], %b: f16[512, 16], %c: f32[16])
        -> (%y: f16[144, 16]) {
      temp %s: f32[144, 16]
      %s[i, j] = sum(k < 512) f32(%a[i, k]) * f32(%b[k, j])
      %y[i, j] = f16(max(%s[i, j] + %c[j], 0.0))
    })";
  std::string ptx;
  ExpectOnGrid(kText, &ptx, {.processors = 2});
  EXPECT_THAT(ptx, HasSubstr(".entry phase2("));

  const std::string target(TestDevice()->target());
  GpuModel gpu = SmallGpu(target);
  gpu.processors = 2;
  gpu.busy_invocations = 512;
  gpu.latency_clocks = 0;
  const auto nest = NestByDefault(kText, gpu);
  ASSERT_TRUE(nest.has_value());
  auto code = CompileNest(*nest, Target::Of(target), nullptr);
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  vm::DeviceKernelDefinition definition;
  definition.image = gpu::ImageOfNest(*nest, *std::move(code));
  definition.device = TestDevice();
  definition.constants.resize(4);
  const auto kernel = vm::DeviceKernel::Create(std::move(definition));
  ASSERT_TRUE(kernel.ok()) << kernel.status().ToString();
  const auto memory =
      TestDevice()->Allocate(int64_t{1} << 20, hal::MemoryKind::kHostVisible);
  ASSERT_TRUE(memory.ok());
  std::vector<hal::BufferRange> ranges;
  for (int64_t i = 0; i < 4; ++i) {
    ranges.push_back({memory->get(), i << 18, int64_t{1} << 18});
  }
  CountingList list;
  const auto recorded = (*kernel)->Record({{}, ranges, list});
  ASSERT_TRUE(recorded.ok()) << recorded.status().ToString();
  EXPECT_EQ(list.commands, "DD|D");
}

// Tests stream-K: the steps of the sums of all tiles, in one sequence, are
// divided into equal ranges, one for each workgroup that fits on the device. A
// range may begin and end in the middle of a tile's sum.
TEST_F(SumParts, InRanges) {
  const struct {
    const char* rows;
    const char* columns;
    const char* steps;
    int64_t processors;
    // Extents of the buffer %s.parts: pieces of a range, ranges, rows and
    // columns of a tile.
    const char* parts;
  } products[] = {
      {"96", "32", "1088", 11, "[2, 11, 32, 32]"},
      // The number of the result's rows is no multiple of the tile's.
      {"90", "32", "1088", 11, "[2, 11, 32, 32]"},
  };
  for (const auto& product : products) {
    const std::string m = product.rows, n = product.columns, k = product.steps;
    const std::string text =
        "dispatch @layer(%a: f16[" + m + ", " + k + "], %b: f16[" + k + ", " +
        n + "], %c: f32[" + n + "]) -> (%y: f16[" + m + ", " + n +
        "]) { temp %s: f32[" + m + ", " + n + "] %s[i, j] = sum(k < " + k +
        ") f32(%a[i, k]) * f32(%b[k, j]) "
        "%y[i, j] = f16(max(%s[i, j] + %c[j], 0.0)) }";
    ExpectOnGrid(text, nullptr, {.processors = product.processors});
    GpuModel gpu = SmallGpu(TestDevice()->target());
    gpu.processors = product.processors;
    gpu.busy_invocations *= product.processors;
    gpu.latency_clocks = 0;
    const auto nest = NestByDefault(text, gpu);
    ASSERT_TRUE(nest.has_value());
    EXPECT_THAT(loops::ToText(*nest),
                HasSubstr("%s.parts: f32" + std::string(product.parts)));
  }
}

// Returns a stream-K schedule for sm_90a, with tiles of 64 x 64 results. It has
// a task for each piece of a range, so that in a persistent kernel one
// workgroup computes both pieces of its range.
std::string WideRanges(int ranges) {
  const std::string count = std::to_string(ranges);
  std::string text = "stream %y k/64 " + count + R"( i/64 j/64 -> parts
    split %parts i 64 -> i_count i_round
    split %parts i_round 16 -> i_subgroup i_matrix
    split %parts j 64 -> j_subgroup j_part
    split %parts j_part 64 -> j_count j_matrix
    split %parts k 16 -> k_step k_matrix
    reorder %parts piece range k_slices j_subgroup i_subgroup k_step i_count j_count i_matrix j_matrix k_matrix
    fuse %parts piece range -> tasks
    fuse %parts j_subgroup i_subgroup -> subgroups
    unroll %parts k_step
    unroll %parts i_count
    unroll %parts j_count
)";
  for (const char* factor : {"a", "b"}) {
    const std::string copy = "%" + std::string(factor) + ".slice";
    text += "cache_read %parts %" + std::string(factor) + " -> " + factor +
            ".slice\ncompute_at " + copy + " %parts k_slices\nsplit " + copy +
            " c1 8 -> c1_vector c1_lane\nfuse " + copy +
            " c0 c1_vector -> all\nsplit " + copy +
            " all 128 -> all_round all_item\nreorder " + copy +
            " all_item all_round c1_lane\nbind " + copy +
            " all_item\nvectorize " + copy + " c1_lane\nunroll " + copy +
            " all_round\ndouble_buffer " + copy + " async 4 late spare\n";
  }
  return text +
         "multiply_matrices %parts subgroups i_matrix j_matrix k_matrix\n"
         "parallel %parts tasks\nparallel %y i\nbind %y j\n";
}

TEST_F(SumParts, InRangesOfWideProducts) {
  if (!IsWide())
    GTEST_SKIP() << "a device without wgmma: " << TestDevice()->target();
  const SeedRange seeds = TestSeeds(4, 0);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("EMBER_SEED=" + std::to_string(seed));
    tensor::RandomChoices choices(seed);
    const std::string m = std::to_string(choices.Pick<int>({72, 100}));
    const std::string n = std::to_string(choices.Pick<int>({64, 72}));
    const std::string k = std::to_string(64 * (5 + choices.Below(3)));
    // The device has one processor, which holds three workgroups, so three
    // ranges make the kernel persistent.
    const int ranges = choices.Pick<int>({2, 3, 3, 3, 4});
    const std::string schedule = WideRanges(ranges);
    SCOPED_TRACE(m + " x " + n + " x " + k + " in " + std::to_string(ranges));
    std::string ptx;
    ExpectOnGrid("dispatch @p(%a: f16[" + m + ", " + k + "], %b: f16[" + k +
                     ", " + n + "]) -> (%y: f32[" + m + ", " + n +
                     "]) { %y[i, j] = sum(k < " + k +
                     ") f32(%a[i, k]) * f32(%b[k, j]) }",
                 &ptx,
                 {.schedule = schedule,
                  .without = "processors132",
                  .instead = "processors1"});
    EXPECT_THAT(ptx, HasSubstr("wgmma.mma_async"));
    EXPECT_THAT(ptx, HasSubstr("cp.async.bulk.tensor"));
    // In a persistent kernel each workgroup computes the first piece of its
    // range and then the second.
    if (ranges == 3) {
      EXPECT_THAT(ptx, HasSubstr("%nctaid.y"));
    }
    if (HasFailure()) return;
  }
}

// Tests random products with few rows and long sums, of all layouts and types.
// Some sizes are no multiples of vectors.
TEST_F(SumParts, OfRandomProducts) {
  const SeedRange seeds = TestSeeds(12, 0);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("EMBER_SEED=" + std::to_string(seed));
    tensor::RandomChoices choices(seed);
    const auto pick = [&](const std::vector<int>& sizes) {
      return std::to_string(choices.Pick(sizes));
    };
    const std::string l = pick({1, 1, 2}), m = pick({1, 5, 16, 33, 64}),
                      n = pick({8, 24, 50, 64, 72}),
                      k = pick({256, 300, 384, 500, 512});
    const bool has_bytes = choices.Chance(3);
    const std::string type = has_bytes           ? "i8"
                             : choices.Chance(4) ? "f32"
                                                 : "f16";
    const std::string sum = has_bytes ? "i32" : "f32";
    const std::string cast = type == "f32" ? "" : sum;
    const bool a_by_rows = choices.Chance(2), b_by_rows = choices.Chance(2);
    const std::string dims = "[" + l + ", " + m + ", " + n + "]";
    const std::string product = "sum(k < " + k + ") " + cast + "(%a[" +
                                (a_by_rows ? "l, i, k" : "l, k, i") + "]) * " +
                                cast + "(%b[" +
                                (b_by_rows ? "l, k, j" : "l, j, k") + "])";
    std::string text =
        "dispatch @any(%a: " + type + "[" + l + ", " +
        (a_by_rows ? m + ", " + k : k + ", " + m) + "], %b: " + type + "[" + l +
        ", " + (b_by_rows ? k + ", " + n : n + ", " + k) + "]) -> (%y: ";
    if (choices.Chance(2)) {
      text += sum + dims + ") { %y[l, i, j] = " + product + " }";
    } else {
      text += type + dims + ") { temp %s: " + sum + dims +
              " %s[l, i, j] = " + product + " %y[l, i, j] = " + type +
              "(max(%s[l, i, j], " + (has_bytes ? "0" : "0.0") + ")) }";
    }
    ExpectOnGrid(text, nullptr,
                 {.within = 0, .has_matrices = false, .processors = 8});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace ember::jit::ptx

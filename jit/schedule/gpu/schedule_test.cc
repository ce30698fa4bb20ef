// Tests random dispatches under the default schedules of GPUs: lowering gives a
// legal nest that computes the dispatch's results without races.
//
//   EMBER_SEEDS=10000 bazel run -c opt //jit/schedule/gpu:schedule_test
#include "jit/schedule/gpu/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/testing/seeds.h"
#include "jit/loops/analysis/iterations.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/testing/random_pair.h"
#include "tensor/text/text.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;

// Targets that get different schedules: GPUs with much and with little shared
// memory, a device that is a CPU, a GPU with matrices of subgroups, and one
// with asynchronous copies.
constexpr std::string_view kTargets[] = {
    "vulkan1.3+dot+fast_dot+subgroup32+shared49152+invocations1024",
    "vulkan1.3+subgroup4+shared1024+invocations64+gpu",
    "vulkan1.3+dot+fast_dot+subgroup8+shared32768+invocations1024",
    ("vulkan1.3+subgroup4+shared4096+invocations64+matrix4x4x4:f16:f16:f32+"
     "matrix4x2x8:u8:i8:i32+matrix2x4x4:i8:i8:i32+matrix4x4x4:u8:u8:i32+gpu"),
    "sm_80+subgroup32+shared8192+invocations64+gpu"};

jit::GpuModel ModelOf(std::string_view target) {
  jit::GpuModel gpu = jit::GpuModel::Of(target);
  // The model is that of a small device, so that dispatches which are small
  // enough for the evaluator already have several workgroups.
  if (target.ends_with("gpu")) {
    gpu.is_cpu_like = false;
    gpu.workgroup_size = 16;
    gpu.busy_invocations = 64;
    gpu.registers = 24;
    // The latency is 0: otherwise a second phase would cost more than splitting
    // any sum of these tests saves.
    gpu.latency_clocks = 0;
  }
  return gpu;
}

// Schedules and lowers the pair for the target and compares results. Returns a
// description of an error; "" if there is none.
std::string Check(const RandomPair& pair, std::string_view target,
                  uint64_t seed, std::string& text, int& unproved) {
  Schedule schedule(pair.computation);
  const Status chosen = ScheduleForGpu(ModelOf(target), schedule);
  text = schedule.ToText();
  if (!chosen.ok()) return chosen.ToString();
  auto nest = Lower(schedule);
  if (!nest.ok()) return nest.status().ToString();
  text += loops::ToText(*nest);
  const Status verified = loops::Verify(*nest);
  if (!verified.ok()) {
    // A missing proof of bounds is counted, not reported, if the dispatch has
    // parameters: some indices of open extents cannot be proved yet.
    const bool is_unproved =
        verified.message().find("expected a proof of") != std::string::npos;
    if (!is_unproved || pair.parameters.empty()) return verified.ToString();
    text += "// " + verified.ToString() + "\n";
    ++unproved;
  }
  return pair.Compare([&](std::span<void* const> buffers) {
    return loops::Evaluate(
        *nest, pair.parameters, buffers,
        {.seed = seed, .backwards = seed % 3 == 0, .refuse_races = true});
  });
}

TEST(GpuSchedules, ComputeWhatTheDispatchSays) {
  const SeedRange seeds = TestSeeds(120);
  int wrong = 0, unproved = 0, matrices = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomPair pair = MakeRandomPair(seed);
    for (const std::string_view target : kTargets) {
      std::string text;
      const std::string found = Check(pair, target, seed, text, unproved);
      matrices += text.find("multiply_matrices") != std::string::npos;
      if (seeds.is_replay)
        std::printf("%s%s", pair.ToText().c_str(), text.c_str());
      if (found.empty()) continue;
      std::printf("wrong: EMBER_SEED=%llu %s: %s\n",
                  static_cast<unsigned long long>(seed), target.data(),
                  found.c_str());
      // The first failure is described. For the others only the seeds are
      // printed.
      if (wrong++ == 0) {
        ADD_FAILURE() << "replay with EMBER_SEED=" << seed << ": " << target
                      << ": " << found << "\n"
                      << pair.ToText() << text;
      }
    }
  }
  std::printf(
      "seeds %llu..%llu: %d wrong, %d equal without a proof of bounds, %d with "
      "matrices\n",
      static_cast<unsigned long long>(seeds.begin),
      static_cast<unsigned long long>(seeds.end - 1), wrong, unproved,
      matrices);
  if (!seeds.is_replay) {
    EXPECT_GT(matrices, 0);
  }
  // At most one nest in twelve may lack a proof of bounds; for 120 pairs, 27
  // nests of all targets did. A third of the model-like dispatches have extents
  // that are products of parameters. The indices of loops over several such
  // extents are quotients of quotients, which no proof handles yet.
  EXPECT_LE(unproved * 12,
            static_cast<int>((seeds.end - seeds.begin) * std::size(kTargets)));
}

// Returns the lowered default schedule for the device, by default a GPU with
// subgroups of 32.
loops::LoopNest NestFor(std::string_view text,
                        const jit::GpuModel& gpu = ModelOf(kTargets[0])) {
  const auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  Schedule schedule(Disassemble(*dispatch, {}));
  const Status chosen = ScheduleForGpu(gpu, schedule);
  EXPECT_TRUE(chosen.ok()) << chosen.ToString();
  auto nest = Lower(schedule);
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  const Status verified = loops::Verify(*nest);
  EXPECT_TRUE(verified.ok()) << verified.ToString();
  return *std::move(nest);
}

int64_t MostIterations(const loops::LoopNest& nest) {
  int64_t most = 0;
  for (const loops::Phase& phase : nest.phases)
    most = std::max(most, loops::MostIterations(nest, phase.body, {}));
  return most;
}

// Evaluates the nest on values that are the same in each call, and returns the
// buffers with the results.
std::vector<std::vector<uint8_t>> Evaluated(const tensor::Dispatch& dispatch,
                                            const loops::LoopNest& nest) {
  std::vector<std::vector<uint8_t>> buffers;
  std::vector<void*> pointers;
  for (size_t i = 0; i < dispatch.buffers.size(); ++i) {
    const loops::Buffer& buffer = nest.buffers[i];
    if (buffer.scope != loops::MemoryScope::kInput &&
        buffer.scope != loops::MemoryScope::kOutput)
      break;
    int64_t bytes = DTypeByteSize(buffer.type);
    for (tensor::NodeId extent : buffer.extents)
      bytes *= *nest.pool.IntegerConstant(extent);
    std::vector<uint8_t>& contents = buffers.emplace_back();
    for (int64_t b = 0; b < bytes; ++b)
      contents.push_back(static_cast<uint8_t>((b + 7) * 2654435761u >> 13));
  }
  for (auto& buffer : buffers) pointers.push_back(buffer.data());
  const Status status =
      loops::Evaluate(nest, {}, pointers, {.refuse_races = true});
  EXPECT_TRUE(status.ok()) << status.ToString();
  return buffers;
}

// In products of bytes, four neighbours along the sum are a word, which is
// loaded, copied to shared memory and multiplied as one.
TEST(GpuSchedules, ProductsOfBytesAreDotLoops) {
  const struct {
    const char* text;
    std::vector<std::string> has;
  } rows[] = {
      {R"(dispatch @plain(%x: u8[48, 64], %w: i8[64, 64]) -> (%y: i32[48, 64]) {
            %y[i, j] = sum(k < 64) i32(%x[i, k]) * i32(%w[k, j])
          })",
       {"dot ", "%w.words: i8[16, 64, 4]", "task %w.words.slice: i8[",
        "task %x.slice: u8["}},
      // The sum has 37 elements. Zeros extend it to 40, a multiple of 4.
      {R"(dispatch @odd(%x: i8[19, 37], %w: i8[21, 37]) -> (%y: i32[19, 21]) {
            %y[i, j] = sum(k < 37) i32(%x[i, k]) * i32(%w[j, k])
          })",
       {"dot ", "%w.words: i8[10, 21, 4]", "%x.words: i8[19, 10, 4]"}},
      // The bytes of %x and %w are contiguous along the sum already, so neither
      // factor is copied.
      {R"(dispatch @rows(%x: u8[32, 64], %w: i8[64, 64]) -> (%y: i32[32, 64]) {
            %y[i, j] = sum(k < 64) i32(%x[i, k]) * i32(%w[j, k])
          })",
       {"dot ", "%x.slice: u8[", "%w.slice: i8["}},
      {R"(dispatch @batch(%x: u8[3, 16, 32], %w: u8[3, 32, 24]) -> (%y: i32[3, 16, 24]) {
            %y[b, i, j] = sum(k < 32) i32(%x[b, i, k]) * i32(%w[b, k, j])
          })",
       {"dot ", "%w.words: u8[3, 8, 24, 4]"}},
      {R"(dispatch @conv(%x: u8[1, 10, 10, 3], %w: i8[3, 3, 3, 20], %c: i32[20]) -> (%y: u8[1, 8, 8, 20]) {
            temp %s: i32[1, 8, 8, 20]
            %s[n, h, v, o] = sum(r < 3, q < 3, c < 3) i32(%x[n, h + r, v + q, c]) * i32(%w[r, q, c, o])
            %y[n, h, v, o] = u8(max(%s[n, h, v, o] + %c[o], 0))
          })",
       {"dot ", "%x.words: u8[1, 10, 10, 1, 4]",
        "%w.words: i8[3, 3, 1, 20, 4]"}}};
  // The modelled device is busy with little work, so that sums are not split.
  jit::GpuModel gpu = ModelOf(kTargets[0]);
  gpu.busy_invocations = 64;
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    const auto dispatch = tensor::Parse(row.text);
    ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
    const loops::LoopNest nest = NestFor(row.text, gpu);
    const std::string text = loops::ToText(nest);
    for (const std::string& has : row.has) EXPECT_THAT(text, HasSubstr(has));
    const auto plain = Lower(Schedule(Disassemble(*dispatch, {})));
    ASSERT_TRUE(plain.ok());
    EXPECT_EQ(Evaluated(*dispatch, nest), Evaluated(*dispatch, *plain));
    // Devices without fast dot instructions get no dot loops, because their
    // drivers split words into bytes.
    Schedule slow(Disassemble(*dispatch, {}));
    EXPECT_TRUE(
        ScheduleForGpu(ModelOf("vulkan1.3+dot+subgroup32+shared49152"), slow)
            .ok());
    EXPECT_EQ(slow.ToText().find("tensorize"), std::string::npos);
  }
}

// The stage that stores a product is computed on the product's tiles only if it
// has the same axes. If it stores the product transposed, the product's results
// go through memory.
TEST(GpuSchedules, ProductsThatAreStoredTransposed) {
  const auto text_of = [](const std::string& stored, const std::string& index) {
    auto dispatch = tensor::Parse(R"(
      dispatch @p(%x: f32[64, 64], %w: f32[64, 64]) -> (%y: f32[64, 64]) {
        temp %p: f32[64, 64]
        %p[i, j] = sum(k < 64) %x[i, k] * %w[k, j]
        %y[)" + stored + "] = max(%p[" +
                                  index + R"(], 0.0)
      })");
    EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
    Schedule schedule(Disassemble(*dispatch, {}));
    EXPECT_TRUE(ScheduleForGpu(ModelOf(kTargets[0]), schedule).ok());
    return schedule.ToText();
  };
  EXPECT_THAT(text_of("m, n", "m, n"), HasSubstr("compute_at %p %y"));
  EXPECT_THAT(text_of("n, m", "m, n"),
              ::testing::Not(HasSubstr("compute_at %p %y")));
}

// A softmax has a single phase, in which a subgroup keeps a row in registers.
TEST(GpuSchedules, RowsAreOnePhase) {
  const loops::LoopNest nest = NestFor(R"(
    dispatch @softmax(%x: f32[1536, 128]) -> (%y: f32[1536, 128]) {
      temp %max: f32[1536]
      temp %e: f32[1536, 128]
      temp %sum: f32[1536]
      %max[i] = maximum(k < 128) %x[i, k]
      %e[i, j] = exp(%x[i, j] - %max[i])
      %sum[i] = sum(k < 128) %e[i, k]
      %y[i, j] = %e[i, j] / %sum[i]
    })");
  EXPECT_EQ(nest.phases.size(), 1u);
  EXPECT_EQ(MostIterations(nest), 0);
  const std::string text = loops::ToText(nest);
  EXPECT_THAT(text, HasSubstr("register %e: f32[32, 4]"));
  EXPECT_THAT(text, HasSubstr("%max[0] max= "));
  EXPECT_THAT(text, HasSubstr("%sum[0] += "));
}

TEST(GpuSchedules, ShortRowsAreOfAnInvocationEach) {
  const loops::LoopNest nest = NestFor(R"(
    dispatch @normalize(%x: f32[50000, 10]) -> (%y: f32[50000, 10]) {
      temp %sum: f32[50000]
      %sum[i] = sum(k < 10) %x[i, k]
      %y[i, j] = %x[i, j] / %sum[i]
    })");
  EXPECT_EQ(nest.phases.size(), 1u);
  EXPECT_THAT(loops::ToText(nest), HasSubstr("invocation rows_item < 128"));
}

// A long sum is split into parts for all processors, so that no invocation has
// more than 64 iterations.
TEST(GpuSchedules, LongSumsAreSplit) {
  const loops::LoopNest nest = NestFor(R"(
    dispatch @sum(%x: f32[1048576]) -> (%y: f32[]) {
      %y[] = sum(k < 1048576) %x[k]
    })");
  EXPECT_EQ(nest.phases.size(), 2u);
  EXPECT_LE(MostIterations(nest), 64);
  // An elementwise stage that reads a long minimum is computed after it. If it
  // joined the reduction, each of its points would repeat it.
  EXPECT_LE(MostIterations(NestFor(R"(
    dispatch @range(%x: f32[172, 309]) -> (%y: f32[1, 1]) {
      temp %least: f32[1]
      %least[n] = minimum(i < 172, k < 309) %x[i, k]
      %y[a, b] = %least[a] + 1.0
    })")),
            512);
}

// A convolution with few results and many steps is split. Its parts are
// computed in tiles like other products, and the stage that adds the bias adds
// them up.
TEST(GpuSchedules, PartsOfProductsAreProducts) {
  const jit::GpuModel gpu = jit::GpuModel::Of(
      "sm_90+subgroup32+shared232448+invocations1024+processors132");
  const loops::LoopNest nest = NestFor(R"(
    dispatch @conv(%x: f32[1, 7, 7, 512], %w: f32[3, 3, 512, 512],
                   %bias: f32[512]) -> (%y: f32[1, 7, 7, 512]) {
      temp %sum: f32[1, 7, 7, 512]
      %sum[n, h, w, o] = sum(dh < 3, dw < 3, c < 512)
          pad(%x[n, h + dh - 1, w + dw - 1, c], 0.0) * %w[dh, dw, c, o]
      %y[n, h, w, o] = max(%sum[n, h, w, o] + %bias[o], 0.0)
    })",
                                       gpu);
  ASSERT_EQ(nest.phases.size(), 2u);
  const std::string text = loops::ToText(nest);
  EXPECT_THAT(text, HasSubstr("call %sum.parts: f32[64, 1, 7, 7, 512]"));
  EXPECT_THAT(text, HasSubstr("async %w.slice["));
  EXPECT_THAT(text, HasSubstr("await 2"));
  // Each invocation runs one step for each of 16 channels in each of nine
  // window positions, from slices that are loaded ahead.
  EXPECT_LE(MostIterations(nest), 9 * 16);
  // In a row times a matrix, neighbouring results read neighbouring elements of
  // the matrix. The long sum is split, too.
  const loops::LoopNest row = NestFor(R"(
    dispatch @row(%x: f32[1, 3072], %w: f32[3072, 768]) -> (%y: f32[1, 768]) {
      %y[i, j] = sum(k < 3072) %x[i, k] * %w[k, j]
    })",
                                      gpu);
  ASSERT_EQ(row.phases.size(), 2u);
  EXPECT_LE(MostIterations(row), 64);
  // A product with short sums is not split.
  EXPECT_EQ(NestFor(R"(
    dispatch @scores(%q: f32[12, 128, 64], %k: f32[12, 128, 64])
        -> (%y: f32[12, 128, 128]) {
      %y[b, i, j] = sum(d < 64) %q[b, i, d] * %k[b, j, d]
    })",
                    gpu)
                .phases.size(),
            1u);
}

// Lowers the dispatch's default schedule, checks that the nest computes the
// dispatch's results, and returns the nest's text.
std::string CheckedText(const std::string& text, std::string_view target) {
  const auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  const loops::LoopNest nest = NestFor(text, ModelOf(target));
  const auto plain = Lower(Schedule(Disassemble(*dispatch, {})));
  EXPECT_TRUE(plain.ok()) << plain.status().ToString();
  EXPECT_EQ(Evaluated(*dispatch, nest), Evaluated(*dispatch, *plain));
  return loops::ToText(nest);
}

// All stages that are computed for an invocation's points are vectors, except
// %scale, which has one value for all points of a vector.
TEST(GpuSchedules, PointsOfSeveralStagesAreVectors) {
  const std::string points = CheckedText(R"(
    dispatch @points(%x: u16[64, 64], %s: u16[64], %r: u16[64]) -> (%y: u16[64, 64]) {
      temp %scale: i32[64]
      temp %t: i32[64, 64]
      %scale[i] = i32(%r[i]) + 3
      %t[i, j] = i32(%x[i, j]) + i32(%s[j]) * %scale[i]
      %y[i, j] = u16(%t[i, j] * (%t[i, j] + 1))
    })",
                                         kTargets[4]);
  EXPECT_THAT(points, HasSubstr("register %t: i32[16, 4]"));
  EXPECT_THAT(points, HasSubstr("call %scale: i32[64]"));
  const size_t first = points.find("vector ");
  EXPECT_NE(points.find("vector ", first + 1), std::string::npos) << points;
  // Rows have 63 elements, so most rows do not begin at an aligned vector, and
  // there are no vectors.
  const std::string odd = CheckedText(R"(
    dispatch @odd(%x: u16[64, 63]) -> (%y: u16[64, 63]) {
      temp %t: i32[64, 63]
      %t[i, j] = i32(%x[i, j])
      %y[i, j] = u16(%t[i, j] * (%t[i, j] + 1))
    })",
                                      kTargets[4]);
  EXPECT_EQ(odd.find("vector "), std::string::npos) << odd;
}

// Transposes go through the workgroup's memory, for sizes that tiles divide or
// not, with one stage or several, and with a second operand that is not
// transposed.
TEST(GpuSchedules, TransposesGoThroughMemoryOfWorkgroups) {
  for (const std::string_view type : {"u8", "u16", "f32"}) {
    for (const std::string_view sizes : {"16, 8", "9, 7", "31, 20"}) {
      const std::string rows(sizes.substr(0, sizes.find(','))),
          columns(sizes.substr(sizes.find(' ') + 1)), t(type);
      const std::string text =
          CheckedText("dispatch @transpose(%x: " + t + "[5, " + columns + ", " +
                          rows + "], %b: " + t + "[" + columns +
                          "]) -> (%y: " + t + "[5, " + rows + ", " + columns +
                          "]) {\n%y[n, i, j] = %x[n, j, i] + %b[j]\n}",
                      kTargets[1]);
      const bool is_large = rows != "9" || type != "u8";
      EXPECT_EQ(text.find("task %x.slice: ") != std::string::npos, is_large)
          << text;
    }
  }
  const std::string several = CheckedText(R"(
    dispatch @several(%x: u16[24, 5, 16], %z: u16[24, 5, 16], %w: u16[16, 5, 24])
        -> (%y: u16[16, 5, 24]) {
      temp %t: i32[16, 5, 24]
      %t[i, n, j] = i32(%x[j, n, i]) + i32(%w[i, n, j])
      %y[i, n, j] = u16(%t[i, n, j] * (%t[i, n, j] + i32(%z[j, n, i])))
    })",
                                          kTargets[1]);
  EXPECT_THAT(several, HasSubstr("task %x.slice: "));
  EXPECT_THAT(several, HasSubstr("task %z.slice: "));
  EXPECT_THAT(several, HasSubstr("register %t: i32[32, 2]"));
}

// The two stores together cover %t completely, so no phase fills it with zeros
// first.
TEST(GpuSchedules, PartsOfAConcatenationNeedNoZeros) {
  const loops::LoopNest nest = NestFor(R"(
    dispatch @concat(%a: f32[500, 6], %b: f32[500, 2]) -> (%y: f32[500, 8]) {
      temp %t: f32[500, 8]
      for (i < 500, j < 6) %t[i, j] = %a[i, j]
      for (i < 500, j < 2) %t[i, j + 6] = %b[i, j]
      %y[i, j] = exp(%t[i, j])
    })");
  EXPECT_EQ(loops::ToText(nest).find("zero"), std::string::npos);
}

}  // namespace
}  // namespace ember::schedule

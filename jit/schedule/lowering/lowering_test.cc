// Compares lowered schedules with the definition of the dispatch, on the
// evaluator of loop nests: random schedules, and those that the model of a CPU
// chooses. tests/cases/lowering has schedules as texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing/seeds.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/cpu/default_schedule.h"
#include "jit/schedule/primitives/replay.h"
#include "jit/schedule/testing/random_pair.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/testing/random_dispatch.h"
#include "tensor/text/text.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;

tensor::Dispatch ParseDispatch(std::string_view text) {
  auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  return *std::move(dispatch);
}

TEST(Lowering, RandomDispatchesAsTheyAreWritten) {
  const SeedRange seeds = TestSeeds(100);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const tensor::RandomCase random = tensor::MakeRandomCase(seed, {});
    for (const bool specialised : {false, true}) {
      SCOPED_TRACE("replay with EMBER_SEED=" + std::to_string(seed));
      Schedule schedule(
          Disassemble(random.dispatch, specialised ? random.parameters
                                                   : std::vector<int64_t>()));
      auto nest = Lower(schedule);
      ASSERT_TRUE(nest.ok()) << nest.status().ToString();
      auto expected = random.MakeBuffers(), actual = random.MakeBuffers();
      const Status wanted = tensor::Evaluate(random.dispatch, random.parameters,
                                             tensor::Pointers(expected), {});
      const auto parameters = specialised && !random.parameters.empty()
                                  ? std::vector<int64_t>()
                                  : random.parameters;
      const Status status =
          loops::Evaluate(*nest, parameters, tensor::Pointers(actual));
      ASSERT_EQ(wanted.ok(), status.ok())
          << wanted.ToString() << " / " << status.ToString() << "\n"
          << tensor::Print(random.dispatch) << loops::ToText(*nest);
      if (!wanted.ok()) continue;
      ASSERT_EQ(tensor::FirstDifference(random, expected, actual), "")
          << tensor::Print(random.dispatch) << loops::ToText(*nest);
    }
  }
}

TEST(Lowering, RandomDispatchesByTheModel) {
  const SeedRange seeds = TestSeeds(120);
  int scheduled = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    // Lowers the default schedules of CPUs, and compares results. Where a
    // result may overwrite an operand, the two share memory.
    RandomPair pair = MakeRandomPair(seed);
    for (const char* target :
         {"x86_64-linux+avx2+fma", "x86_64-linux+avx512f+fma"}) {
      SCOPED_TRACE("replay with EMBER_SEED=" + std::to_string(seed));
      Schedule schedule(pair.computation);
      const Status chosen =
          ScheduleByModel(jit::CpuModel::Of(target), schedule);
      pair.schedule = schedule;
      ASSERT_TRUE(chosen.ok()) << chosen.ToString() << pair.ToText();
      scheduled += schedule.ToText().find("vectorize") != std::string::npos;
      auto nest = Lower(schedule);
      ASSERT_TRUE(nest.ok()) << nest.status().ToString() << pair.ToText();
      ASSERT_EQ(pair.Compare([&](std::span<void* const> buffers) {
        return loops::Evaluate(
            *nest, pair.parameters, buffers,
            {.seed = seed, .backwards = seed % 3 == 0, .refuse_races = true});
      }),
                "")
          << pair.ToText() << loops::ToText(*nest);
    }
  }
  EXPECT_GT(scheduled, seeds.is_replay ? -1 : 80);
}

// The test computes %y in the memory of %x, which %y reads, so no element of %y
// may be computed twice. %y is computed in a loop of %z, and each iteration
// must compute only its own part of %y.
TEST(Lowering, ResultsInPlaceRunOnce) {
  const tensor::Dispatch dispatch = ParseDispatch(R"(
dispatch @chain<A, B, C>(%x: f32[A * 2, B * 2, C]) -> (%y: f32[A * 2, B * 2, C], %z: f32[A * 2, B * 2, C]) {
  %y[i, j, k] = %x[i, j, k] * 3.0
  %z[i, j, k] = %y[i, j, k] + 1.0
})");
  Schedule schedule(Disassemble(dispatch, {}));
  const Status chosen =
      ScheduleByModel(jit::CpuModel::Of("x86_64-linux+avx2+fma"), schedule);
  ASSERT_TRUE(chosen.ok()) << chosen.ToString();
  EXPECT_NE(schedule.ToText().find("compute_at %y %z"), std::string::npos)
      << schedule.ToText();
  auto nest = Lower(schedule);
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  EXPECT_TRUE(loops::Verify(*nest).ok()) << loops::ToText(*nest);
  std::vector<float> x(6 * 10 * 7), z(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  void* const buffers[] = {x.data(), x.data(), z.data()};
  const int64_t parameters[] = {3, 5, 7};
  ASSERT_TRUE(loops::Evaluate(*nest, parameters, buffers).ok());
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(x[i], 3.0f * static_cast<float>(i)) << loops::ToText(*nest);
    ASSERT_EQ(z[i], x[i] + 1.0f);
  }
}

// If a packed constant is large, its next panel is prefetched while the current
// one is used. A small constant is not prefetched.
TEST(Lowering, PrefetchesLargeConstants) {
  for (const int columns : {48, 480}) {
    const std::string n = std::to_string(columns);
    Computation computation = Disassemble(
        ParseDispatch("dispatch @product(%x: f32[64, 512], %w: f32[512, " + n +
                      "]) -> (%y: f32[64, " + n + "]) {\n" +
                      "  %y[i, j] = sum(k < 512) %x[i, k] * %w[k, j]\n}"),
        {});
    computation.buffers[1].is_constant = true;
    Schedule schedule(std::move(computation));
    ASSERT_TRUE(
        ScheduleByModel(jit::CpuModel::Of("x86_64-linux+avx512f+fma"), schedule)
            .ok());
    auto nest = Lower(schedule);
    ASSERT_TRUE(nest.ok()) << nest.status().ToString();
    const std::string text = loops::ToText(*nest);
    const bool prefetches =
        text.find("prefetch %w.packed") != std::string::npos;
    EXPECT_EQ(prefetches, columns == 480) << text;
  }
}

// If N is 1, the bound loop has two values but the axis one point. Both
// invocations would update the same element, so lowering refuses the schedule.
TEST(Lowering, RefusesUpdatesOfOneElementAtOnce) {
  const int64_t parameters[] = {1};
  Schedule schedule(Disassemble(
      ParseDispatch("dispatch @clip<N>(%x: f32[N]) -> (%y: f32[N]) {\n"
                    "  %y[i] = %x[i]\n  for (i < N) %y[N - i - 1] max= 2.0\n}"),
      parameters));
  const Status replayed =
      Replay("split %y.1 i 2 -> i0 i1\nbind %y.1 i1", schedule);
  ASSERT_TRUE(replayed.ok()) << replayed.ToString();
  const auto nest = Lower(schedule);
  ASSERT_FALSE(nest.ok()) << loops::ToText(*nest);
  EXPECT_EQ(nest.status().message(),
            "%y.1: expected results that move with loop 'i1', whose values run "
            "at once, found an update of one element");
}

// If the operand is loaded along one axis and the result stored along another,
// tiles of the operand are copied. No tiles are used if the result may
// overwrite the operand.
TEST(Lowering, TransposesByTiles) {
  struct Case {
    const char* dispatch;
    bool is_tiled;
  };
  for (const Case& c :
       {Case{"dispatch @t(%x: f32[3, 40, 20]) -> (%y: f32[3, 20, 40]) { "
             "%y[i, j, k] = max(%x[i, k, j], 0.0) }",
             true},
        Case{"dispatch @t<N>(%x: i8[N, 20]) -> (%y: i8[20, N]) { "
             "%y[i, j] = %x[j, i] }",
             true},
        Case{"dispatch @t(%x: f64[7, 7, 20]) -> (%y: f64[20, 7, 7]) { "
             "%y[i, j, k] = %x[j, k, i] }",
             true},
        Case{"dispatch @t(%x: f32[40, 20]) -> (%y: f32[40, 20]) { "
             "%y[i, j] = %x[i, j] + 1.0 }",
             false}}) {
    tensor::RandomCase random;
    random.seed = 5;
    random.dispatch = ParseDispatch(c.dispatch);
    random.parameters.assign(random.dispatch.parameters.size(), 45);
    Schedule schedule(Disassemble(random.dispatch, {}));
    ASSERT_TRUE(
        ScheduleByModel(jit::CpuModel::Of("x86_64-linux+avx2+fma"), schedule)
            .ok());
    const bool is_tiled =
        schedule.ToText().find("-> y.tile") != std::string::npos;
    EXPECT_EQ(is_tiled, c.is_tiled) << schedule.ToText();
    auto nest = Lower(schedule);
    ASSERT_TRUE(nest.ok()) << nest.status().ToString();
    EXPECT_TRUE(loops::Verify(*nest).ok()) << loops::ToText(*nest);
    auto expected = random.MakeBuffers(), actual = random.MakeBuffers();
    ASSERT_TRUE(tensor::Evaluate(random.dispatch, random.parameters,
                                 tensor::Pointers(expected), {})
                    .ok());
    ASSERT_TRUE(
        loops::Evaluate(*nest, random.parameters, tensor::Pointers(actual))
            .ok());
    EXPECT_EQ(tensor::FirstDifference(random, expected, actual), "")
        << loops::ToText(*nest);
  }
}

TEST(Lowering, LongSoftmaxInBlocks) {
  tensor::RandomCase random;
  random.seed = 3;
  random.dispatch = ParseDispatch(R"(
    dispatch @attention(%q: f32[1, 7, 8], %k: f32[1, 2048, 8], %v: f32[1, 2048, 12]) -> (%y: f32[1, 7, 12]) {
      temp %s: f32[1, 7, 2048]
      temp %most: f32[1, 7]
      temp %power: f32[1, 7, 2048]
      temp %total: f32[1, 7]
      temp %p: f32[1, 7, 2048]
      %s[b, i, j] = sum(k < 8) %q[b, i, k] * %k[b, j, k]
      %most[b, i] = maximum(k < 2048) %s[b, i, k]
      %power[b, i, j] = exp(%s[b, i, j] - %most[b, i])
      %total[b, i] = sum(k < 2048) %power[b, i, k]
      %p[b, i, j] = %power[b, i, j] / %total[b, i]
      %y[b, i, j] = sum(k < 2048) %p[b, i, k] * %v[b, k, j]
    })");
  for (const bool is_small : {false, true}) {
    for (const bool exact : {false, true}) {
      jit::CpuModel cpu = jit::CpuModel::Of("x86_64-linux+avx2+fma");
      if (is_small) cpu.l2_bytes = cpu.l3_bytes = 16 << 10;
      Schedule schedule(Disassemble(random.dispatch, {}));
      ASSERT_TRUE(ScheduleByModel(cpu, schedule, {.exact = exact}).ok());
      const std::string text = schedule.ToText();
      EXPECT_EQ(text.find("online_softmax %y 1024 ->") != std::string::npos,
                is_small && !exact)
          << text;
      if (!is_small || exact) continue;
      auto nest = Lower(schedule);
      ASSERT_TRUE(nest.ok()) << nest.status().ToString() << text;
      ASSERT_TRUE(loops::Verify(*nest).ok()) << loops::ToText(*nest);
      // All stages are in one phase, so that no buffer holds all rows; only
      // packed copies of operands are made before.
      for (const loops::Buffer& buffer : nest->buffers) {
        EXPECT_TRUE(buffer.scope != loops::MemoryScope::kCall ||
                    buffer.name.find(".packed") != std::string::npos)
            << buffer.name << text;
      }
      auto expected = random.MakeBuffers(), actual = random.MakeBuffers();
      ASSERT_TRUE(
          tensor::Evaluate(random.dispatch, {}, tensor::Pointers(expected), {})
              .ok());
      ASSERT_TRUE(loops::Evaluate(*nest, {}, tensor::Pointers(actual)).ok());
      EXPECT_EQ(tensor::FirstDifference(random, expected, actual, 1e-4, 1e-5),
                "")
          << text;
    }
  }
}

// The blocks of a row's keys are divided into parts, each of which is folded by
// itself. A second fold combines the parts.
TEST(Lowering, PartsOfSoftmax) {
  tensor::RandomCase random;
  random.seed = 5;
  random.dispatch = ParseDispatch(R"(
    dispatch @attention(%x: f32[3, 96], %v: f32[96, 5]) -> (%y: f32[3, 5]) {
      temp %most: f32[3]
      temp %power: f32[3, 96]
      temp %total: f32[3]
      temp %p: f32[3, 96]
      %most[i] = maximum(k < 96) %x[i, k]
      %power[i, j] = exp(%x[i, j] - %most[i])
      %total[i] = sum(k < 96) %power[i, k]
      %p[i, j] = %power[i, j] / %total[i]
      %y[i, j] = sum(k < 96) %p[i, k] * %v[k, j]
    })");
  Schedule schedule(Disassemble(random.dispatch, {}));
  ASSERT_TRUE(Apply("online_softmax %y 8 -> sum whole", schedule).ok());
  const auto refusal_of = [&](std::string_view line) {
    return std::string(Apply(line, schedule).message());
  };
  // The fold combines 12 blocks. Parts of 5 blocks do not divide it evenly, so
  // the rfactor is refused.
  EXPECT_THAT(refusal_of("rfactor %sum k_part/5 -> parts"),
              HasSubstr("parts of a fold that have as many elements each"));
  EXPECT_THAT(refusal_of("rfactor %sum k_part -> parts"),
              HasSubstr("parts of a fold that have as many elements each"));
  EXPECT_THAT(refusal_of("rfactor %sum k_part/2%4 -> parts"),
              HasSubstr("parts of a fold that have as many elements each"));
  ASSERT_TRUE(Apply("rfactor %sum k_part/4 -> parts", schedule).ok());
  EXPECT_THAT(refusal_of("rfactor %sum k_part%3 -> parts"),
              HasSubstr("expected a new name"));
  const Status replayed = Replay(
      "reorder %parts k_part_part i k_part j\n"
      "parallel %parts k_part_part\n",
      schedule);
  ASSERT_TRUE(replayed.ok()) << replayed.ToString();
  const auto nest = Lower(schedule);
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  ASSERT_TRUE(loops::Verify(*nest).ok()) << loops::ToText(*nest);
  // The fold's state has three values, one of them the maximum. Each has a
  // buffer of the parts' values, which the second fold reads.
  for (const char* const buffer : {"%parts[", "%parts.1[", "%parts.2["})
    EXPECT_THAT(loops::ToText(*nest), HasSubstr(buffer));
  auto expected = random.MakeBuffers(), actual = random.MakeBuffers();
  ASSERT_TRUE(
      tensor::Evaluate(random.dispatch, {}, tensor::Pointers(expected), {})
          .ok());
  ASSERT_TRUE(loops::Evaluate(*nest, {}, tensor::Pointers(actual)).ok());
  EXPECT_EQ(tensor::FirstDifference(random, expected, actual, 1e-4, 1e-5), "");
}

}  // namespace
}  // namespace ember::schedule

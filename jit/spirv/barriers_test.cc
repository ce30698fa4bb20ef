// Tests the barriers that jit/gpu inserts: that there are no more than needed,
// and that no invocation reads an element before another invocation's store is
// visible. The evaluator of nests records each invocation's accesses since the
// last barrier, so it notices if the test removes a barrier that is needed.
//
//   EMBER_SEEDS=1000 bazel run //jit/spirv:barriers_test
#include "jit/gpu/barriers.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/concat.h"
#include "base/testing/seeds.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/gpu/device_passes.h"
#include "jit/gpu/testing/barriers.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/gpu/schedule.h"
#include "jit/schedule/testing/random_pair.h"
#include "jit/spirv/target.h"
#include "jit/spirv/testing/run_nest.h"
#include "jit/target/gpu_model.h"

namespace ember::jit::spirv {
namespace {

using ::testing::HasSubstr;

constexpr char kTarget[] =
    "vulkan1.2+f64+int64+storage8+storage16+shared16384+invocations1024";

// Returns the nest as a device nest, with the barriers that the passes insert.
StatusOr<loops::LoopNest> DeviceNestOf(const loops::LoopNest& nest) {
  loops::LoopNest result = nest;
  EMBER_RETURN_IF_ERROR(gpu::MakeDeviceNest(Target::Of(kTarget), result));
  return result;
}

Status Evaluate(const loops::LoopNest& nest) {
  Bytes buffers = SmallContents(nest, {});
  return loops::Evaluate(nest, {}, tensor::Pointers(buffers),
                         {.refuse_races = true, .is_device = true});
}

// Expects that the passes insert `count` barriers, and that the evaluator finds
// a race if any one of them is removed.
void ExpectBarriers(const std::string& text, size_t count) {
  const StatusOr<loops::LoopNest> nest = DeviceNestOf(ParseOrDie(text));
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  EXPECT_EQ(gpu::CountBarriers(*nest), count) << text;
  const Status with_all = Evaluate(*nest);
  EXPECT_TRUE(with_all.ok()) << with_all.ToString() << text;
  for (size_t i = 0; i < gpu::CountBarriers(*nest); ++i) {
    const Status status = Evaluate(gpu::WithoutBarrier(*nest, i));
    EXPECT_EQ(status.code(), StatusCode::kInternal);
    EXPECT_THAT(status.message(),
                HasSubstr("invocations that have not synchronised"));
  }
}

// Returns a nest that adds up elements of a tile with two slots. `first`:
// statements before the loop, which may fill slot 0. `body`: the body of the
// loop over k.
std::string Product(const std::string& first, const std::string& body) {
  return R"(
    loops @product(%x: input f32[4, 32], %y: output f32[4, 8]) {
      task %tile: f32[2, 8]
      task %other: f32[8]
      register %ahead: f32[8]
      register %sum: f32[8]
      phase t < 4 {
        invocation i < 8 { %sum[i] = 0.0 }
        )" +
         first + "for k < 4 {" + body + R"(}
        invocation i < 8 { %y[t, i] = %sum[i] }
      }
    })";
}

constexpr char kFirst[] = "invocation i < 8 { %tile[0, i] = %x[t, i] }";
constexpr char kSum[] =
    "invocation i < 8 { for s < 8 { %sum[i] += %tile[mod(k, 2), s] } }";

TEST(Barriers, OneTile) {
  ExpectBarriers(Product("", R"(
    invocation i < 8 { %tile[0, i] = %x[t, k * 8 + i] }
    invocation i < 8 { for s < 8 { %sum[i] += %tile[0, s] } })"),
                 2);
}

TEST(Barriers, TwoHalves) {
  ExpectBarriers(Product(kFirst, std::string(kSum) + R"(
    if k + 1 < 4 {
      invocation i < 8 { %tile[mod(k + 1, 2), i] = %x[t, k * 8 + 8 + i] }
    })"),
                 1);
}

TEST(Barriers, TwoHalvesByRegisters) {
  ExpectBarriers(Product(kFirst, R"(
    if k + 1 < 4 { invocation i < 8 { %ahead[i] = %x[t, k * 8 + 8 + i] } })" +
                                     std::string(kSum) + R"(
    if k + 1 < 4 {
      invocation i < 8 { %tile[mod(k + 1, 2), i] = %ahead[i] }
    })"),
                 1);
}

// The slot that an iteration stores to is also the one that it reads, since (k
// + 2) mod 2 equals k mod 2. A barrier between store and read is needed in each
// iteration, and it suffices.
TEST(Barriers, TheSameHalf) {
  ExpectBarriers(Product("", R"(
    invocation i < 8 { %tile[mod(k + 2, 2), i] = %x[t, k * 8 + i] }
    invocation i < 8 { for s < 8 { %sum[i] += %tile[mod(k, 2), s] } })"),
                 1);
}

// The read slots follow an inner loop, and the stored ones the outer loop. The
// passes do not prove which slots differ, so they insert two barriers.
TEST(Barriers, HalvesOfAnotherLoop) {
  const loops::LoopNest nest = ParseOrDie(Product(kFirst, R"(
    for h < 2 {
      invocation i < 8 { for s < 8 { %sum[i] += %tile[h, s] } }
      invocation i < 8 { %tile[mod(k + 1, 2), i] = %x[t, k * 8 + i] }
    })"));
  const StatusOr<loops::LoopNest> with_barriers = DeviceNestOf(nest);
  ASSERT_TRUE(with_barriers.ok());
  EXPECT_EQ(gpu::CountBarriers(*with_barriers), 2u);
  EXPECT_TRUE(Evaluate(*with_barriers).ok());
}

// The inner loop alternates between the slots and needs one barrier. Each
// iteration of the outer loop stores to slot 0 again, which the inner loop may
// have read last, so one more barrier is needed there.
TEST(Barriers, LoopsAround) {
  ExpectBarriers(Product("", R"(
    invocation i < 8 { %tile[0, i] = %x[t, i] }
    for j < 3 {
      invocation i < 8 { for s < 8 { %sum[i] += %tile[mod(j, 2), s] } }
      if j + 1 < 3 {
        invocation i < 8 { %tile[mod(j + 1, 2), i] = %x[t, k * 8 + i] }
      }
    })"),
                 2);
}

// Shows that a ring of slots that is filled by asynchronous stores needs only
// one barrier per iteration.
TEST(Barriers, AsyncStores) {
  for (const int slots : {2, 3, 4}) {
    const std::string count = std::to_string(slots);
    const std::string await = " await " + std::to_string(slots - 2) + " ";
    std::string before;
    for (int iteration = 0; iteration + 1 < slots; ++iteration) {
      before += (iteration > 0 ? await : "") +
                "invocation i < 8 { async %tile[" + std::to_string(iteration) +
                ", i] = %x[t, " + std::to_string(8 * iteration) + " + i] } ";
    }
    const std::string next = "k + " + std::to_string(slots - 1);
    std::string text =
        Product(before, await + "if " + next +
                            " < 4 { invocation i < 8 { async %tile[mod(" +
                            next + ", " + count + "), i] = %x[t, (" + next +
                            ") * 8 + i] } } invocation i < 8 { for s < 8 { "
                            "%sum[i] += %tile[mod(k, " +
                            count + "), s] } }");
    const std::string halves = "%tile: f32[2, 8]";
    const size_t at = text.find(halves);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, halves.size(), "%tile: f32[" + count + ", 8]");
    ExpectBarriers(text, 1);
  }
}

// Asynchronous stores begin before the barrier in the middle of the body, and
// the await is after that barrier. So the stores are visible only after one
// more barrier, behind the await.
TEST(Barriers, AsyncStoresBeforeTheirAwait) {
  ExpectBarriers(Product("invocation i < 8 { async %tile[0, i] = %x[t, i] } "
                         "await 0 ",
                         R"(
    invocation i < 8 { for s < 8 { %sum[i] += %tile[mod(k, 2), s] } }
    if k + 1 < 4 {
      invocation i < 8 { async %tile[mod(k + 1, 2), i] = %x[t, k * 8 + 8 + i] }
    }
    invocation i < 8 { %other[i] = %sum[i] }
    invocation i < 8 { %sum[i] += %other[7 - i] }
    await 0)"),
                 2);
}

// %other is stored before the loop and only read in it. The one barrier is put
// before the loop instead of into each iteration, even though the reading
// statement is not the first of the body.
TEST(Barriers, OnceBeforeALoop) {
  const std::string text = Product(R"(
    invocation i < 8 { %other[i] = %x[t, i] })",
                                   R"(
    invocation i < 8 { %sum[i] += %x[t, k * 8 + i] }
    invocation i < 8 { for s < 8 { %sum[i] += %other[s] } })");
  ExpectBarriers(text, 1);
  const StatusOr<loops::LoopNest> nest = DeviceNestOf(ParseOrDie(text));
  ASSERT_TRUE(nest.ok());
  const loops::Block& body = nest->phases[0].body;
  const auto loop =
      std::ranges::find_if(body, [](const loops::Statement& statement) {
        return statement.kind == loops::Statement::Kind::kFor &&
               statement.loop == loops::LoopKind::kSerial;
      });
  ASSERT_TRUE(loop != body.begin() && loop != body.end());
  EXPECT_EQ((loop - 1)->kind, loops::Statement::Kind::kBarrier);
  // If each iteration needs a barrier before the reading statement anyway, no
  // further barrier is put before the loop.
  ExpectBarriers(Product(R"(
    invocation i < 8 { %other[i] = %x[t, i] })",
                         R"(
    invocation i < 8 { %tile[0, i] = %x[t, k * 8 + i] }
    invocation i < 8 { for s < 8 { %sum[i] += %other[s] * %tile[0, s] } })"),
                 2);
}

// The planner of barriers plans a loop once on trial and once in earnest. If it
// did so for loops within a trial, too, the time for eighteen nested loops
// would be exponential.
TEST(Barriers, DeepNests) {
  std::string text = "invocation i < 8 { %tile[0, i] = %x[t, i] }";
  std::string end;
  for (int loop = 0; loop < 18; ++loop) {
    text += "for a" + std::to_string(loop) + " < 1 {";
    end += "}";
  }
  text +=
      "invocation i < 8 { %other[i] = %tile[0, 7 - i] }"
      "invocation i < 8 { %tile[0, i] = %other[7 - i] }";
  const loops::LoopNest nest = ParseOrDie(Product("", text + end));
  const StatusOr<loops::LoopNest> with_barriers = DeviceNestOf(nest);
  ASSERT_TRUE(with_barriers.ok()) << with_barriers.status().ToString();
  EXPECT_TRUE(Evaluate(*with_barriers).ok());
}

// Returns the model of a GPU that is so small that a dispatch of a size that
// the evaluator can run has several workgroups, each with several steps of its
// sum.
GpuModel SmallGpu() {
  GpuModel gpu =
      GpuModel::Of("vulkan1.3+subgroup4+shared4096+invocations64+gpu");
  gpu.is_cpu_like = false;
  gpu.workgroup_size = 16;
  gpu.busy_invocations = 64;
  gpu.registers = 24;
  return gpu;
}

// Checks the barriers of random dispatches under random schedules and under the
// default schedules of a GPU.
TEST(Barriers, OfRandomSchedules) {
  const SeedRange seeds = TestSeeds(60);
  int compared = 0, with_barriers = 0;
  size_t barriers = 0, caught = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    schedule::RandomPair pair = schedule::MakeRandomPair(seed);
    if (seed % 3 != 0) {
      pair.schedule = schedule::Schedule(pair.computation);
      const Status chosen = schedule::ScheduleForGpu(SmallGpu(), pair.schedule);
      ASSERT_TRUE(chosen.ok()) << chosen.ToString();
    }
    const auto nest = schedule::Lower(pair.schedule);
    if (!nest.ok() || !loops::Verify(*nest).ok()) continue;
    const StatusOr<loops::LoopNest> found = DeviceNestOf(*nest);
    // The passes decline the nest if a phase needs more invocations than the
    // device has.
    if (!found.ok()) continue;
    const std::string text = loops::ToText(*found);
    const std::string what =
        Concat({"replay with EMBER_SEED=", seed, "\n", pair.ToText(), text});
    const Status verified = loops::Verify(*found);
    ASSERT_TRUE(verified.ok()) << verified.ToString() << "\n" << what;
    const auto parsed = loops::Parse(text);
    ASSERT_TRUE(parsed.ok() && loops::ToText(*parsed) == text) << what;
    const size_t count = gpu::CountBarriers(*found);
    barriers += count;
    with_barriers += count > 0;
    ++compared;
    const auto compare = [&](const loops::LoopNest& evaluated) {
      return pair.Compare([&](std::span<void* const> buffers) {
        return loops::Evaluate(evaluated, pair.parameters, buffers,
                               {.seed = seed, .is_device = true});
      });
    };
    ASSERT_EQ(compare(*found), "") << what;
    for (size_t i = 0; i < count; ++i) {
      const std::string wrong = compare(gpu::WithoutBarrier(*found, i));
      caught += wrong.find("have not synchronised") != std::string::npos;
    }
  }
  std::printf(
      "seeds %llu..%llu: %d nests, %d with %zu barriers, of which %zu were "
      "missed when they were removed\n",
      static_cast<unsigned long long>(seeds.begin),
      static_cast<unsigned long long>(seeds.end - 1), compared, with_barriers,
      barriers, caught);
  if (seeds.is_replay) return;
  EXPECT_GT(compared * 10, static_cast<int>(seeds.end - seeds.begin) * 7);
  EXPECT_GT(with_barriers * 10, compared);
  EXPECT_GT(caught * 3, barriers);
}

}  // namespace
}  // namespace ember::jit::spirv

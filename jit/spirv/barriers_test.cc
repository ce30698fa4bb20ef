// Where invocations meet: how often, and that nobody reads before what another
// one stores is there. The evaluator of nests knows who accessed what since the
// invocations met last, so it finds a barrier that is missing.
//
//   PAIRS=1000 bazel run //jit/spirv:barriers_test
#include "jit/gpu/barriers.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/gpu/phase_plan.h"
#include "jit/loops/evaluator.h"
#include "jit/loops/text.h"
#include "jit/loops/verifier.h"
#include "jit/schedule/gpu/gpu_schedule.h"
#include "jit/schedule/lowering/lowering.h"
#include "jit/schedule/testing/random_pair.h"
#include "jit/spirv/target.h"
#include "jit/spirv/testing.h"
#include "jit/target/gpu_model.h"

namespace ember::jit::spirv {
namespace {

using ::testing::HasSubstr;
using Meetings = std::unordered_set<const loops::Statement*>;

constexpr char kTarget[] =
    "vulkan1.2+f64+int64+storage8+storage16+shared16384+invocations1024";

StatusOr<Meetings> MeetingsOf(const loops::LoopNest& nest) {
  Meetings all;
  for (const auto* phases : {&nest.prologue, &nest.phases}) {
    for (const loops::Phase& phase : *phases) {
      EMBER_ASSIGN_OR_RETURN(const gpu::PhasePlan plan,
                             gpu::PlanPhase(nest, phase, Target::Of(kTarget)));
      all.insert(plan.barriers.begin(), plan.barriers.end());
    }
  }
  return all;
}

Status Evaluate(const loops::LoopNest& nest, const Meetings& meetings) {
  Bytes buffers = SmallContents(nest, {});
  return loops::Evaluate(
      nest, {}, tensor::Pointers(buffers),
      {.seed = 0, .refuse_races = true, .meetings = &meetings});
}

// A nest needs so many barriers, and each of them.
void ExpectBarriers(const std::string& text, size_t count) {
  const loops::LoopNest nest = ParseOrDie(text);
  const StatusOr<Meetings> meetings = MeetingsOf(nest);
  ASSERT_TRUE(meetings.ok()) << meetings.status().ToString();
  EXPECT_EQ(meetings->size(), count) << text;
  const Status with_all = Evaluate(nest, *meetings);
  EXPECT_TRUE(with_all.ok()) << with_all.ToString() << text;
  for (const loops::Statement* statement : *meetings) {
    Meetings fewer = *meetings;
    fewer.erase(statement);
    const Status status = Evaluate(nest, fewer);
    EXPECT_EQ(status.code(), StatusCode::kInternal);
    EXPECT_THAT(status.message(), HasSubstr("invocations that have not met"));
  }
}

// first: what fills the tile before the loop; body: of the loop.
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

// Read in the turn in which it is stored: not what double_buffer makes.
TEST(Barriers, TheSameHalf) {
  ExpectBarriers(Product("", R"(
    invocation i < 8 { %tile[mod(k + 2, 2), i] = %x[t, k * 8 + i] }
    invocation i < 8 { for s < 8 { %sum[i] += %tile[mod(k, 2), s] } })"),
                 1);
}

// Of another loop's turns: nothing is known, so they meet twice.
TEST(Barriers, HalvesOfAnotherLoop) {
  const loops::LoopNest nest = ParseOrDie(Product(kFirst, R"(
    for h < 2 {
      invocation i < 8 { for s < 8 { %sum[i] += %tile[h, s] } }
      invocation i < 8 { %tile[mod(k + 1, 2), i] = %x[t, k * 8 + i] }
    })"));
  const StatusOr<Meetings> meetings = MeetingsOf(nest);
  ASSERT_TRUE(meetings.ok());
  EXPECT_EQ(meetings->size(), 2u);
  EXPECT_TRUE(Evaluate(nest, *meetings).ok());
}

// The loop around begins with the first half again, whichever was read last.
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

// Rings of slots that are loaded asynchronously: one barrier in a turn.
TEST(Barriers, AsyncStores) {
  for (const int slots : {2, 3, 4}) {
    const std::string count = std::to_string(slots);
    const std::string await = " await " + std::to_string(slots - 2) + " ";
    std::string before;
    for (int turn = 0; turn + 1 < slots; ++turn) {
      before += (turn > 0 ? await : "") + "invocation i < 8 { async %tile[" +
                std::to_string(turn) + ", i] = %x[t, " +
                std::to_string(8 * turn) + " + i] } ";
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

// What is begun before the await of its turn is there behind that, and not
// before: that others met in between does not count.
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

// What was stored before a loop, and is never stored to in it: they meet before
// the loop, not in each turn, also where no turn begins with what reads it.
TEST(Barriers, OnceBeforeALoop) {
  const std::string text = Product(R"(
    invocation i < 8 { %other[i] = %x[t, i] })",
                                   R"(
    invocation i < 8 { %sum[i] += %x[t, k * 8 + i] }
    invocation i < 8 { for s < 8 { %sum[i] += %other[s] } })");
  ExpectBarriers(text, 1);
  const loops::LoopNest nest = ParseOrDie(text);
  const StatusOr<Meetings> meetings = MeetingsOf(nest);
  ASSERT_TRUE(meetings.ok());
  const loops::Block& body = nest.phases[0].body;
  const auto loop = std::ranges::find(body, loops::LoopKind::kSerial,
                                      &loops::Statement::loop);
  ASSERT_NE(loop, body.end());
  EXPECT_TRUE(meetings->contains(&*loop));
  // Where turns have a barrier at that place anyway, there is no other one.
  ExpectBarriers(Product(R"(
    invocation i < 8 { %other[i] = %x[t, i] })",
                         R"(
    invocation i < 8 { %tile[0, i] = %x[t, k * 8 + i] }
    invocation i < 8 { for s < 8 { %sum[i] += %other[s] * %tile[0, s] } })"),
                 2);
}

// The planner looks into a loop before it plans the loop, but in that look not
// into loops within: in as many steps as there are ways through eighteen loops,
// it would not come to an end.
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
  const StatusOr<Meetings> meetings = MeetingsOf(nest);
  ASSERT_TRUE(meetings.ok()) << meetings.status().ToString();
  EXPECT_TRUE(Evaluate(nest, *meetings).ok());
}

// A GPU that is so small that dispatches which can be evaluated have several
// workgroups and slices.
GpuModel SmallGpu() {
  GpuModel gpu =
      GpuModel::Of("vulkan1.3+subgroup4+shared4096+invocations64+gpu");
  gpu.is_cpu_like = false;
  gpu.workgroup_size = 16;
  gpu.busy_invocations = 64;
  gpu.registers = 24;
  return gpu;
}

// Random dispatches under random schedules, and under those of a GPU.
TEST(Barriers, OfRandomSchedules) {
  const schedule::PairSeeds seeds = schedule::SeedsOfPairs(60);
  int compared = 0, meeting = 0;
  size_t barriers = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    schedule::RandomPair pair = schedule::MakeRandomPair(seed);
    if (seed % 3 != 0) {
      pair.schedule = schedule::Schedule(pair.computation);
      const Status chosen = schedule::ScheduleForGpu(SmallGpu(), pair.schedule);
      ASSERT_TRUE(chosen.ok()) << chosen.ToString();
    }
    const auto nest = schedule::Lower(pair.schedule);
    if (!nest.ok() || !loops::Verify(*nest).ok()) continue;
    const StatusOr<Meetings> meetings = MeetingsOf(*nest);
    if (!meetings.ok()) continue;  // more invocations than the device has
    barriers += meetings->size();
    meeting += !meetings->empty();
    ++compared;
    const std::string wrong = pair.Compare([&](std::span<void* const> buffers) {
      return loops::Evaluate(*nest, pair.parameters, buffers,
                             {.seed = seed, .meetings = &*meetings});
    });
    ASSERT_EQ(wrong, "") << "replay with SEED=" << seed << "\n"
                         << pair.ToText() << loops::ToText(*nest);
  }
  std::printf("seeds %llu..%llu: %d nests, %d with %zu barriers\n",
              static_cast<unsigned long long>(seeds.begin),
              static_cast<unsigned long long>(seeds.end - 1), compared, meeting,
              barriers);
  if (seeds.is_replay) return;
  EXPECT_GT(compared * 10, static_cast<int>(seeds.end - seeds.begin) * 7);
  EXPECT_GT(meeting * 10, compared);
}

}  // namespace
}  // namespace ember::jit::spirv

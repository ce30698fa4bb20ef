// Lowered schedules against the definition of the dispatch, through the
// evaluator of loop nests.
#include "jit/schedule/lowering/lowering.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "jit/loops/evaluator.h"
#include "jit/loops/text.h"
#include "jit/loops/verifier.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/cpu/default_schedule.h"
#include "jit/schedule/primitives/replay.h"
#include "jit/schedule/testing/random_pair.h"
#include "tensor/evaluator.h"
#include "tensor/random_dispatch.h"
#include "tensor/text.h"

namespace ember::schedule {
namespace {

tensor::Dispatch ParseDispatch(std::string_view text) {
  auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  return *std::move(dispatch);
}

TEST(Lowering, RandomDispatchesAsTheyAreWritten) {
  const char* const given = std::getenv("SEED");
  const uint64_t first = given ? std::strtoull(given, nullptr, 0) : 1;
  const uint64_t count = given ? 1 : 100;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const tensor::RandomCase random = tensor::MakeRandomCase(seed, {});
    for (const bool specialised : {false, true}) {
      SCOPED_TRACE("replay with SEED=" + std::to_string(seed));
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
  const PairSeeds seeds = SeedsOfPairs(120);
  int scheduled = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    // Results overwrite operands where they may.
    RandomPair pair = MakeRandomPair(seed);
    for (const char* target :
         {"x86_64-linux+avx2+fma", "x86_64-linux+avx512f+fma"}) {
      SCOPED_TRACE("replay with SEED=" + std::to_string(seed));
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

// Tasks are rows of open dims, each of which computes its own row of a result
// that overwrites an operand.
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

// A window that moves by two in whole tiles, of rows that exist: it reads what
// exists without being asked.
TEST(Lowering, WholeTilesReadWithoutBounds) {
  Schedule schedule(Disassemble(ParseDispatch(R"(
dispatch @rows(%x: f32[25, 8]) -> (%y: f32[11, 8]) {
  temp %sum: f32[11, 8]
  %sum[i, j] = sum(k < 5) %x[i * 2 + k, j]
  %y[i, j] = max(%sum[i, j], 0.0)
})"),
                                {}));
  const Status status = Replay(R"(
split %y i 4 -> tile row
peel %y tile
unroll %y row
compute_at %sum %y tile
reorder %sum k i j
unroll %sum i)",
                               schedule);
  ASSERT_TRUE(status.ok()) << status.ToString();
  auto nest = Lower(schedule);
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  EXPECT_TRUE(loops::Verify(*nest).ok());
  const std::string text = loops::ToText(*nest);
  const size_t whole = text.find("if tile * 4 + 3 < 11");
  const size_t part = text.find("if 11 <= tile * 4 + 3");
  ASSERT_NE(whole, std::string::npos) << text;
  ASSERT_LT(whole, part) << text;
  EXPECT_EQ(text.substr(whole, part - whole).find("min("), std::string::npos)
      << text;
  EXPECT_NE(text.find("min(", part), std::string::npos) << text;
}

// Large packed constants are fetched panel by panel while others are used;
// small ones are not.
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

// Of an axis with one point, a bound loop over two is one that updates the same
// element in both.
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

// What is loaded along one axis and stored along another goes through tiles; a
// result that may be in the operand's place is transposed without.
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

// The schedule's nest computes what the dispatch says, for the parameters open
// and as constants.
void ExpectSame(std::string_view dispatch_text,
                const std::vector<int64_t>& parameters,
                std::string_view schedule_text) {
  tensor::RandomCase random;
  random.seed = 7;
  random.dispatch = ParseDispatch(dispatch_text);
  random.parameters = parameters;
  for (const bool specialised : {false, true}) {
    if (specialised && parameters.empty()) continue;
    Schedule schedule(Disassemble(
        random.dispatch, specialised ? parameters : std::vector<int64_t>()));
    const Status replayed = Replay(schedule_text, schedule);
    ASSERT_TRUE(replayed.ok()) << replayed.ToString();
    auto nest = Lower(schedule);
    ASSERT_TRUE(nest.ok()) << nest.status().ToString();
    auto expected = random.MakeBuffers(), actual = random.MakeBuffers();
    ASSERT_TRUE(tensor::Evaluate(random.dispatch, parameters,
                                 tensor::Pointers(expected), {})
                    .ok());
    const Status status = loops::Evaluate(
        *nest, specialised ? std::vector<int64_t>() : parameters,
        tensor::Pointers(actual));
    ASSERT_TRUE(status.ok()) << status.ToString() << loops::ToText(*nest);
    ASSERT_EQ(tensor::FirstDifference(random, expected, actual, 1e-5, 1e-5), "")
        << loops::ToText(*nest);
  }
}

constexpr std::string_view kScale = R"(
  dispatch @scale<N>(%x: f32[N, 50], %s: f32[N]) -> (%y: f32[N, 50]) {
    %y[i, j] = %x[i, j] * %s[i]
  })";

TEST(Lowering, SplitThatDoesNotDivide) {
  ExpectSame(kScale, {5}, R"(
    split %y j 16 -> j0 j1
    vectorize %y j1
    parallel %y i)");
  ExpectSame(kScale, {5}, R"(
    tile %y i j 4 16 -> i0 j0 i1 j1
    peel %y i0
    peel %y j0
    unroll %y i1
    vectorize %y j1)");
  ExpectSame(kScale, {5}, R"(
    fuse %y i j -> ij
    split %y ij 16 -> outer inner
    vectorize %y inner
    parallel %y outer)");
}

constexpr std::string_view kGemm = R"(
  dispatch @gemm<M>(%a: f32[M, 37], %b: f32[37, 40], %c: f32[40]) -> (%y: f32[M, 40]) {
    temp %acc: f32[M, 40]
    %acc[i, j] = sum(k < 37) %a[i, k] * %b[k, j]
    %y[i, j] = max(%acc[i, j] + %c[j], 0.0)
  })";

TEST(Lowering, ProductInRegisters) {
  ExpectSame(kGemm, {9}, R"(
    tile %y i j 4 32 -> i0 j0 i1 j1
    split %y j1 16 -> j2 j3)");
}

TEST(Lowering, ProductWithPackedOperandAndEpilogue) {
  for (const int64_t rows : {1, 4, 9, 16}) {
    ExpectSame(kGemm, {rows}, R"(
      pack %acc %b 1/32 0 1%32 -> packed
      tile %y i j 4 32 -> i0 j0 i1 j1
      split %y j1 16 -> j2 j3
      peel %y i0
      compute_at %acc %y j0
      split %acc j 16 -> j0 j1
      reorder %acc k i j0 j1
      unroll %acc i
      unroll %acc j0
      vectorize %acc j1
      unroll %y i1
      unroll %y j2
      vectorize %y j3
      parallel %y i0)");
  }
}

TEST(Lowering, ReductionInLanes) {
  ExpectSame(R"(
    dispatch @sums<N>(%x: f32[N, 50]) -> (%y: f32[N], %z: f32[N]) {
      %y[i] = sum(k < 50) %x[i, k]
      %z[i] = maximum(k < 50) %x[i, k]
    })",
             {5}, R"(
      split %y k 16 -> k0 k1
      vectorize %y k1
      parallel %y i
      split %z k 16 -> k0 k1
      vectorize %z k1)");
}

TEST(Lowering, SoftmaxRowByRow) {
  ExpectSame(R"(
    dispatch @softmax<N, M>(%x: f32[N, M]) -> (%y: f32[N, M]) {
      temp %most: f32[N]
      temp %powers: f32[N, M]
      temp %total: f32[N]
      %most[i] = maximum(k < M) %x[i, k]
      %powers[i, j] = %x[i, j] - %most[i]
      %total[i] = sum(k < M) %powers[i, k]
      %y[i, j] = %powers[i, j] / %total[i]
    })",
             {5, 21}, R"(
      compute_at %total %y i
      compute_at %powers %y i
      compute_at %most %y i
      split %most k 8 -> k0 k1
      vectorize %most k1
      split %powers j 8 -> j0 j1
      vectorize %powers j1
      split %y j 8 -> j0 j1
      vectorize %y j1
      parallel %y i)");
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
      // One phase, but for copies of operands: nothing is kept for all rows.
      for (const loops::Buffer& buffer : nest->buffers) {
        EXPECT_TRUE(buffer.scope != loops::Scope::kCall ||
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

// The last tile of 12 rows has 2 of 26: of its register tiles of 6 the second
// has none, and is left out, though the sums of the first need no guard.
TEST(Lowering, TilesBeyondTheEndAreLeftOut) {
  constexpr std::string_view kDispatch = R"(
    dispatch @normal(%a: f32[26, 8], %b: f32[8, 16]) -> (%y: f32[26, 16]) {
      temp %s: f32[26, 16]
      temp %most: f32[26]
      %s[i, j] = sum(k < 8) %a[i, k] * %b[k, j]
      %most[i] = maximum(k < 16) %s[i, k]
      %y[i, j] = %s[i, j] - %most[i]
    })";
  constexpr std::string_view kSchedule = R"(
    split %y i 12 -> i_tile i_row
    peel %y i_tile
    compute_at %most %y i_tile
    compute_at %s %y i_tile
    split %s i 6 -> i_part i_row
    reorder %s i_part k i_row j
    unroll %s i_row)";
  ExpectSame(kDispatch, {}, kSchedule);
  Schedule schedule(Disassemble(ParseDispatch(kDispatch), {}));
  ASSERT_TRUE(Replay(kSchedule, schedule).ok());
  auto nest = Lower(schedule);
  ASSERT_TRUE(nest.ok());
  const std::string text = loops::ToText(*nest);
  // Once: tiles of which all is there do not ask.
  const std::string guard = "if i_tile * 12 + i_part_1 * 6 < 26 {";
  const size_t first = text.find(guard);
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("if i_tile * 12 + i_part * 6 < 26 {"), std::string::npos)
      << text;
}

TEST(Lowering, ConvolutionOfPaddedRows) {
  ExpectSame(R"(
    dispatch @conv<N>(%x: f32[N, 9, 11, 3], %w: f32[3, 3, 3, 20]) -> (%y: f32[N, 9, 11, 20]) {
      temp %conv: f32[N, 9, 11, 20]
      %conv[n, h, w, o] = sum(a < 3, b < 3, c < 3) pad(%x[n, h + a - 1, w + b - 1, c], 0.0) * %w[a, b, c, o]
      %y[n, h, w, o] = max(%conv[n, h, w, o], 0.0)
    })",
             {2}, R"(
      cache_read %conv %x -> xp
      pack %conv %w 3/16 0 1 2 3%16 -> wp
      split %y h 4 -> h0 h1
      split %y w 5 -> w0 w1
      split %y o 16 -> o0 o1
      reorder %y n h0 o0 h1 w0 w1 o1
      fuse %y n h0 -> nh
      parallel %y nh
      compute_at %conv %y w0
      reorder %conv n h a b c w o
      compute_at %xp %y nh
      unroll %conv w
      vectorize %conv o
      unroll %y w1
      vectorize %y o1)");
}

// Constants of products are one, else each product by itself has twice as many
// and the last of these more than any machine.
TEST(Lowering, ProductsThatDouble) {
  std::string text =
      "dispatch @powers(%x: u32[4]) -> (%y: u32[4]) { for (i < 4) {\n"
      "let %p0 = %x[i] * 3\n";
  for (int i = 1; i <= 20; ++i) {
    const std::string last = "%p" + std::to_string(i - 1);
    text += "let %p" + std::to_string(i) + " = " + last + " * " + last + "\n";
  }
  ExpectSame(text + "%y[i] = %p20\n}}", {}, "split %y i 2 -> i0 i1");
}

// What never runs has no lanes.
TEST(Lowering, LanesOfNothing) {
  ExpectSame(R"(
    dispatch @nothing<N>(%x: f32[N, 4]) -> (%y: f32[N, 4]) {
      %y[i, j] = %x[i, j]
    })",
             {0}, R"(
      split %y j 4 -> j0 j1
      vectorize %y j1)");
  tensor::Dispatch dispatch = ParseDispatch(
      "dispatch @nothing(%x: f32[0]) -> (%y: f32[0]) { %y[i] = %x[i] }");
  Schedule schedule(Disassemble(dispatch, {}));
  ASSERT_TRUE(Apply("vectorize %y i", schedule).ok());
  auto nest = Lower(schedule);
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  EXPECT_TRUE(loops::Verify(*nest).ok()) << loops::Verify(*nest).ToString();
}

// Elements in progress whose index is always 0, in a loop, are no registers
// (seed 2068 of random_schedule_test).
TEST(Lowering, AccumulatorsOfNothing) {
  tensor::Dispatch dispatch = ParseDispatch(R"(
    dispatch @nothing(%x: f32[0, 3]) -> (%y: f32[0]) {
      %y[i] = sum(k < 3) %x[i, k]
    })");
  Schedule schedule(Disassemble(dispatch, {}));
  ASSERT_TRUE(Apply("reorder %y k i", schedule).ok());
  auto nest = Lower(schedule);
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  EXPECT_TRUE(loops::Verify(*nest).ok()) << loops::Verify(*nest).ToString();
}

}  // namespace
}  // namespace ember::schedule

// Tests which axes become one axis, and that the computation gives the same
// results, also after axes are reordered (order_axes.h) and dims are split
// (split_dims.h).
#include "jit/schedule/core/collapse_axes.h"

#include <gtest/gtest.h>

#include <string>

#include "base/testing/seeds.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/core/invariant_axes.h"
#include "jit/schedule/core/order_axes.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/core/split_dims.h"
#include "jit/schedule/testing/random_model_dispatch.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/text/text.h"

namespace ember::schedule {
namespace {

// Returns the text of the dispatch's nest after CollapseAxes, without other
// scheduling.
std::string Collapsed(std::string_view text) {
  auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  Computation computation = Disassemble(*dispatch, {});
  CollapseAxes(computation);
  auto nest = Lower(Schedule(std::move(computation)));
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  return loops::ToText(*nest);
}

TEST(CollapseAxes, RowsOfAProduct) {
  EXPECT_EQ(
      Collapsed(R"(
dispatch @rows(%x: f32[6, 7, 8], %w: f32[8, 4], %r: f32[6, 7, 4]) -> (%y: f32[6, 7, 4]) {
  temp %p: f32[6, 7, 4]
  %p[i, j, o] = sum(c < 8) %x[i, j, c] * %w[c, o]
  %y[i, j, o] = max(%p[i, j, o] + %r[i, j, o], 0.0)
}
)"),
      R"(loops @rows(%x: input f32[42, 8], %w: input f32[8, 4], %r: input f32[42, 4], %y: output f32[42, 4]) {
  call %p: f32[42, 4]
  register %p.part.5: f32[]
  phase task_3 < 1 {
    for ij < 42 {
      for o < 4 {
        %p.part.5[] = 0.0
        for c < 8 {
          %p.part.5[] += %x[ij, c] * %w[c, o]
        }
        %p[ij, o] = %p.part.5[]
      }
    }
  }
  phase task_6 < 1 {
    for ij_1 < 42 {
      for o_1 < 4 {
        %y[ij_1, o_1] = max(%p[ij_1, o_1] + %r[ij_1, o_1], 0.0)
      }
    }
  }
}
)");
}

// Two axes are not collapsed if an access uses them separately, in another
// order or with other extents.
TEST(CollapseAxes, KeepsWhatIsUsedApart) {
  for (const char* text :
       {// A window.
        R"(dispatch @a(%x: f32[6, 7, 64]) -> (%y: f32[4, 7, 64]) {
  %y[i, j, o] = sum(k < 3) %x[i + k, j, o]
})",
        // j also indexes %s alone.
        R"(dispatch @b(%x: f32[6, 7, 8], %s: f32[7]) -> (%y: f32[6, 7, 8]) {
  %y[i, j, o] = %x[i, j, o] * %s[j]
})",
        // %x is read transposed: its dims are indexed by j, i.
        R"(dispatch @c(%x: f32[7, 6, 8]) -> (%y: f32[6, 7, 8]) {
  %y[i, j, o] = %x[j, i, o]
})",
        // Only a part of dim 1 of %x is read, so elements along i and j are not
        // contiguous.
        R"(dispatch @d(%x: f32[6, 9, 8]) -> (%y: f32[6, 7, 8]) {
  %y[i, j, o] = %x[i, j, o]
})",
        // j indexes the innermost dim of every buffer, along which vectors run.
        R"(dispatch @e(%x: f32[7, 64]) -> (%y: f32[7, 64]) {
  %y[i, j] = neg(%x[i, j])
})"}) {
    auto dispatch = tensor::Parse(text);
    ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
    Computation computation = Disassemble(*dispatch, {});
    const size_t before = computation.stages[0].axes.size();
    CollapseAxes(computation);
    EXPECT_EQ(computation.stages[0].axes.size(), before) << text;
  }
}

// Rows of 56 elements are not a multiple of a vector's length. After j and o
// are collapsed, vectors cross from one row into the next and none is partial.
TEST(CollapseAxes, RowsThatAreNoWholeVectors) {
  EXPECT_NE(Collapsed(R"(
dispatch @pad(%x: f32[6, 7, 56]) -> (%y: f32[8, 7, 56]) {
  %y[i, j, o] = pad(%x[i - 1, j, o], 0.0)
}
)")
                .find("pad(%x[i - 1, jo], 0.0)"),
            std::string::npos);
}

// If the check of the loaded index %n[i] fails, the message names dim 0 of %x.
// So this dim and those before it are not collapsed; the dims after it are.
TEST(CollapseAxes, DimsAfterOneThatDataIndex) {
  const std::string rows = Collapsed(R"(
dispatch @rows(%n: i64[5], %x: f32[9, 6, 7]) -> (%y: f32[5, 6, 7]) {
  %y[i, j, o] = %x[%n[i], j, o]
}
)");
  EXPECT_NE(rows.find("%y[i, jo] = %x[%n[i], jo]"), std::string::npos) << rows;
  const std::string columns = Collapsed(R"(
dispatch @columns(%n: i64[7], %x: f32[5, 6, 9]) -> (%y: f32[5, 6, 7]) {
  %y[i, j, o] = %x[i, j, %n[o]]
}
)");
  EXPECT_NE(columns.find("%y[i, j, o] = %x[i, j, %n[o]]"), std::string::npos)
      << columns;
}

TEST(CollapseAxes, RandomDispatchesComputeTheSame) {
  const SeedRange seeds = TestSeeds(400);
  int collapsed = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("replay with EMBER_SEED=" + std::to_string(seed));
    const tensor::RandomCase random = seed % 2 == 0
                                          ? tensor::MakeRandomCase(seed, {})
                                          : MakeRandomModelDispatch(seed);
    Computation computation = Disassemble(random.dispatch, random.parameters);
    const uint64_t before = computation.axis_count;
    for (ComputationBuffer& buffer : computation.buffers)
      buffer.is_constant = buffer.role == BufferRole::kInput;
    DropInvariantAxes(computation);
    OrderAxes(computation);
    SplitDims(computation);
    CollapseAxes(computation);
    collapsed += computation.axis_count != before;
    auto nest = Lower(Schedule(std::move(computation)));
    ASSERT_TRUE(nest.ok()) << nest.status().ToString();
    auto expected = random.MakeBuffers(), actual = random.MakeBuffers();
    const Status wanted = tensor::Evaluate(random.dispatch, random.parameters,
                                           tensor::Pointers(expected), {});
    const Status status = loops::Evaluate(*nest, {}, tensor::Pointers(actual));
    ASSERT_EQ(wanted.ok(), status.ok())
        << wanted.ToString() << " / " << status.ToString();
    if (!wanted.ok()) continue;
    // In the nest exp is a polynomial, which may differ from the dispatch's exp
    // by one ULP.
    ASSERT_EQ(tensor::FirstDifference(random, expected, actual, 1e-6, 1e-6), "")
        << tensor::Print(random.dispatch) << loops::ToText(*nest);
  }
  EXPECT_GT(collapsed, seeds.is_replay ? -1 : 10);
}

}  // namespace
}  // namespace ember::schedule

// What primitives refuse, with the reason, and wrong lines of schedules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "jit/schedule/core/schedule.h"
#include "jit/schedule/lowering/lowering.h"
#include "jit/schedule/primitives/primitives.h"
#include "jit/schedule/primitives/replay.h"
#include "jit/schedule/testing/primitives_testing.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;

TEST(ScheduleText, Replays) {
  Schedule schedule = ScheduleOf(kProduct);
  const Status status = Replay(R"(schedule @product {
    // A tile of results.
    tile   %y i j 2 3 -> i0 j0 i1 j1   // white space is free
    compute_at %acc %y j0
    unroll %y i1
  })",
                               schedule);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const std::string text =
      "schedule @product {\n"
      "  tile %y i j 2 3 -> i0 j0 i1 j1\n"
      "  compute_at %acc %y j0\n"
      "  unroll %y i1\n"
      "}\n";
  EXPECT_EQ(schedule.ToText(), text);
  Schedule again = ScheduleOf(kProduct);
  ASSERT_TRUE(Replay(text, again).ok());
  EXPECT_EQ(again.ToText(), text);
}

void ExpectWrong(const std::string& line, const std::string& message) {
  SCOPED_TRACE(line);
  Schedule schedule = ScheduleOf(kAdd);
  const Status status = Apply(line, schedule);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), line + ": " + message);
  EXPECT_EQ(schedule.ToText(), "schedule @add {\n}\n");
}

TEST(ScheduleText, Usage) {
  for (const PrimitiveInfo& info : Primitives()) {
    const std::string name(info.name);
    ExpectWrong(name,
                "expected '" + name + " " + std::string(info.usage) + "'");
  }
}

TEST(ScheduleText, Errors) {
  ExpectWrong(" ", "expected a primitive");
  ExpectWrong("cut %y i",
              "expected a primitive (split, fuse, ...), found 'cut'");
  ExpectWrong("fuse %y i j -> -> ij",
              "expected 'fuse %stage outer inner -> loop'");
  ExpectWrong("unroll %z i", "expected a stage, found '%z'");
  ExpectWrong("unroll y i", "expected a stage, found 'y'");
  ExpectWrong("unroll %y k", "expected a loop of %y, found 'k'");
  ExpectWrong("cache_read %y %z -> c", "expected a buffer, found '%z'");
  for (const char* factor : {"0", "-1", "j", "4x", "99999999999999999999"}) {
    ExpectWrong(
        "split %y j " + std::string(factor) + " -> j0 j1",
        "expected a factor of 1 or more, found '" + std::string(factor) + "'");
  }
  ExpectWrong("split %y j 2 -> 0j j1", "expected a name, found '0j'");
  ExpectWrong("split %y j 2 -> i j1", "the stage already has a loop 'i'");
  ExpectWrong("split %y j 2 -> j0 j0", "the stage already has a loop 'j0'");
  ExpectWrong("reorder %y i i", "expected each loop once");
  ExpectWrong("cache_read %y %x wide -> c", "expected a type, found 'wide'");
  ExpectWrong("cache_read %y %x -> y",
              "expected a new name for the copy, found 'y'");
  ExpectWrong("pack %y %x 0 2 -> c",
              "expected d, d/n or d%n with d in 0..1, found '2'");
  ExpectWrong("pack %y %x 0 1/0 -> c",
              "expected d, d/n or d%n with d in 0..1, found '1/0'");
  ExpectWrong("pack %y %x 0 1 0 -> c",
              "expected each part of a dim once, found '0' again");
  ExpectWrong("rfactor %y j%4 -> parts",
              "expected k, k/n or k%n with a reduction k of %y, found 'j%4'");
  ExpectWrong("cache_write %y -> x",
              "expected a new name for the results in progress, found 'x'");
  ExpectWrong("pack %y %x 0 1/4 1%2 -> c",
              "expected dim 1 whole, or as d/n and d%n with one n");
}

// --- refusals ---

TEST(Refusals, LoopsOfOneStage) {
  ExpectRefused(kProduct, "compute_at %acc %y i", "split %y i 2 -> i0 i1",
                "%acc is computed at this loop");
  ExpectRefused(kAdd, "unroll %y j", "split %y j 2 -> j0 j1",
                "loop 'j' is marked already: mark loops last");
  ExpectRefused(kAdd, "", "tile %y j i 2 2 -> a b c d",
                "the loops are not neighbours in this order");
  ExpectRefused(kAdd, "", "fuse %y j i -> ji",
                "the loops are not neighbours in this order");
  ExpectRefused(kProduct, "", "fuse %acc j k -> jk",
                "one of the loops runs over points of the result, the other "
                "over what is combined");
  ExpectRefused(kAdd, "split %y j 2 -> j0 j1", "peel %y j1",
                "loop 'j1' is not the outer one of a split");
}

TEST(Refusals, Folds) {
  const std::string order =
      "a fold combines its elements in the order of its axes: ";
  ExpectRefused(kArgmax, "", "reorder %y k j",
                order + "loop 'j' has to stay outside loop 'k'");
  // Loops of one axis, too, however they were made.
  ExpectRefused(kArgmax, "split %y j 2 -> j0 j1\n split %y j0 2 -> j2 j3",
                "reorder %y j1 j2 j3",
                order + "loop 'j2' has to stay outside loop 'j1'");
  Schedule schedule = ScheduleOf(kArgmax);
  EXPECT_TRUE(Replay("fuse %y j k -> jk\n split %y jk 7 -> a b\n"
                     "split %y a 2 -> c d\n reorder %y c i d b",
                     schedule)
                  .ok());
  ExpectRefused(kArgmax, "", "vectorize %y k",
                "a fold combines its elements one after another");
}

TEST(Refusals, Parallel) {
  ExpectRefused(kProduct, "", "parallel %acc k",
                "loop 'k' combines elements into one");
  ExpectRefused(kAdd, "", "parallel %y j",
                "parallel loop 'j' is not the outermost one");
  ExpectRefused(kAdd, "parallel %y i", "reorder %y j i",
                "parallel loop 'i' is not the outermost one");
  ExpectRefused(kProduct, "compute_at %acc %y i", "parallel %acc i",
                "the stage is computed inside another one's loop");
  ExpectRefused(kProduct, "parallel %acc i", "compute_at %acc %y i",
                "the stage is computed inside another one's loop");
  ExpectRefused(kGather, "", "parallel %y.1 i",
                "points of the stage may store to one element");
}

TEST(Refusals, Tensorize) {
  const std::string split = "split %y k 4 -> k0 k1";
  ExpectRefused(kBytes, split, "tensorize %y j",
                "loop 'j' is not the innermost one");
  ExpectRefused(kBytes, split + "\n reorder %y k0 k1 i j", "tensorize %y j",
                "loop 'j' combines nothing");
  ExpectRefused(kBytes, "", "tensorize %y k",
                "loop 'k' is not 2 or 4 neighbours of an axis: split it");
  ExpectRefused(kBytes, split, "tensorize %y k1",
                "%b does not lie along the loop: pack it with that innermost");
  ExpectRefused(kBytes, "pack %y %b i16 1 0 -> w\n" + split, "tensorize %y k1",
                "there are no sums of 4 products of u8 and i16 in i32");
  ExpectRefused(kProduct, "split %acc k 4 -> k0 k1", "tensorize %acc k1",
                "a factor is not a load that is widened");
  ExpectRefused(kArgmax, "split %y k 2 -> k0 k1", "tensorize %y k1",
                "the stage is no sum of products");
  // Later changes have to leave it as it is.
  const std::string marked =
      "pack %y %b 1 0 -> w\n" + split + "\n tensorize %y k1";
  ExpectRefused(kBytes, marked, "reorder %y k1 j",
                "loop 'k1' is not the innermost one");
  ExpectRefused(kBytes, marked, "pack %y %a i64 0 1 -> x",
                "there are no sums of 4 products of i64 and i8 in i32");
  ExpectRefused(kBytes, marked, "unroll %y k1",
                "loop 'k1' is marked already: mark loops last");
}

TEST(Refusals, Pad) {
  ExpectRefused(kBytes, "", "pad %y j 4", "loop 'j' combines nothing");
  ExpectRefused(kBytes, "split %y k 4 -> k0 k1", "pad %y k0 4",
                "the stage's loops have been changed already: pad it first");
  ExpectRefused(kArgmax, "", "pad %y k 4", "the stage is no sum of products");
  ExpectRefused(R"(
    dispatch @window(%x: f32[10], %w: f32[3]) -> (%y: f32[8]) {
      %y[i] = sum(k < 3) %x[i + k] * %w[k]
    })",
                "", "pad %y k 4",
                "beyond the end of 'k' products are not 0: that needs a dim of "
                "its extent that it is the index of");
}

TEST(Refusals, CacheWrite) {
  ExpectRefused(
      kProduct, "unroll %acc i", "cache_write %acc -> t",
      "the stage's loops have been changed already: cache_write it first");
  ExpectRefused(kProduct, "cache_read %acc %a -> c\n compute_at %c %acc i",
                "cache_write %acc -> t",
                "%c is computed in a loop of the stage");
  ExpectRefused(R"(
    dispatch @two(%x: f32[8]) -> (%y: f32[8], %z: f32[8]) {
      for (i < 8) {
        let %v = %x[i] * 2.0
        %y[i] = %v
        %z[i] = %v + 1.0
      }
    })",
                "", "cache_write %y -> t", "the stage stores several values");
}

TEST(Refusals, Rfactor) {
  ExpectRefused(kArgmax, "", "rfactor %y k%4 -> parts",
                "a fold combines its elements one after another");
  ExpectRefused(
      kProduct, "split %acc i 2 -> i0 i1", "rfactor %acc k%4 -> parts",
      "the stage's loops have been changed already: rfactor it first");
  ExpectRefused(
      kProduct, "compute_at %acc %y i", "rfactor %acc k%4 -> parts",
      "the stage's loops have been changed already: rfactor it first");
  ExpectRefused(kProduct, "cache_read %acc %a -> c\n compute_at %c %acc i",
                "rfactor %acc k -> parts",
                "%c is computed in a loop of the stage");
  ExpectRefused(R"(
    dispatch @narrow(%x: f16[8]) -> (%y: f16[]) {
      %y[] = sum(k < 8) %x[k]
    })",
                "", "rfactor %y k%4 -> parts",
                "sums of narrow floats are rounded once, at the end");
}

TEST(Refusals, Bind) {
  ExpectRefused(kArgmax, "", "bind %y k",
                "a fold combines its elements one after another");
  ExpectRefused(kProduct, "split %acc k 2 -> k0 k1\n vectorize %acc k1",
                "bind %acc k0",
                "elements are combined by lanes of loop 'k1' and invocations "
                "of loop 'k0'");
  ExpectRefused(kGather, "", "bind %y.1 i",
                "points of the stage may store to one element");
  ExpectRefused(kAdd, "bind %y i", "bind %y j",
                "loop 'j' inside bound loop 'i' is bound, too");
  ExpectRefused(kAdd, "vectorize %y i", "bind %y j",
                "bound loop 'j' is inside vector loop 'i'");
  ExpectRefused(kProduct,
                "reorder %acc i k j\n vectorize %acc k\n reorder %acc i j k\n"
                "bind %acc j",
                "reorder %acc k j", "bound loop 'j' is inside vector loop 'k'");
  ExpectRefused(kProduct, "compute_at %acc %y j\n bind %y i", "bind %acc j",
                "%acc, which has bound loop 'j', is computed inside bound loop "
                "'i'");
  ExpectRefused(kProduct, "bind %acc i\n bind %y j", "compute_at %acc %y j",
                "%acc, which has bound loop 'i', is computed inside bound loop "
                "'j'");
  ExpectRefused(kAdd, "bind %y j", "split %y j 2 -> j0 j1",
                "loop 'j' is marked already: mark loops last");
}

TEST(Refusals, Vectorize) {
  ExpectRefused(kGather, "", "vectorize %y.1 i",
                "points of the stage may store to one element");
  ExpectRefused(kAdd, "vectorize %y j", "vectorize %y i",
                "loop 'j' inside vector loop 'i' is a vector loop, too");
  ExpectRefused(kProduct, "unroll %acc k", "vectorize %acc j",
                "loop 'k' inside vector loop 'j' combines elements into one");
  ExpectRefused(kProduct, "compute_at %acc %y j", "vectorize %y j",
                "%acc is computed inside vector loop 'j'");
  ExpectRefused(kProduct, "reorder %acc i k j\n vectorize %acc j",
                "reorder %acc j k",
                "loop 'k' inside vector loop 'j' combines elements into one");
}

TEST(Refusals, ComputeAt) {
  ExpectRefused(kProduct, "compute_at %acc %y i", "compute_at %acc %y j",
                "the producer is computed in a loop already");
  ExpectRefused(kProduct, "", "compute_at %y %acc i",
                "the producer does not come before %acc");
  constexpr std::string_view kThree = R"(
    dispatch @three(%x: f32[6], %p: f32[4]) -> (%y: f32[6], %z: f32[6]) {
      temp %t: f32[6]
      temp %u: f32[6]
      for (i < 6) %u[5 - i] = %x[i]
      %t[i] = %x[i] + 1.0
      for (i < 4) %t[i] += %p[i]
      %y[i] = %t[i] + %u[i]
      %z[i] = %y[i] * %y[5 - i]
    })";
  ExpectRefused(kThree, "", "compute_at %u %y i",
                "the producer does not store whole buffers by assignment");
  ExpectRefused(kThree, "", "compute_at %t %y i",
                "%t.1 stores to the same buffer");
  ExpectRefused(kThree, "", "compute_at %t.1 %z i",
                "the producer does not store whole buffers by assignment");
  ExpectRefused(kThree, "", "compute_at %y %z i",
                "parts of %y would be computed more than once, and it is a "
                "result");
  constexpr std::string_view kTwice = R"(
    dispatch @twice(%x: f32[6]) -> (%y: f32[6], %z: f32[6]) {
      temp %t: f32[6]
      %t[i] = %x[i] + 1.0
      %y[i] = %t[i] * 2.0
      %z[i] = %t[i] * 3.0
    })";
  ExpectRefused(kTwice, "", "compute_at %t %y i", "%z reads %t too, elsewhere");
  ExpectRefused(kTwice, "", "compute_at %y %z i", "%z does not read it");
}

TEST(Refusals, ComputeAtAfterChanges) {
  // %t would see the new %u.
  constexpr std::string_view kChanges = R"(
    dispatch @changes(%x: i32[6], %p: i32[3]) -> (%y: i32[6], %z: i32[6]) {
      temp %u: i32[6]
      temp %t: i32[6]
      %u[i] = %x[i] * 3
      %t[i] = %u[i] + 1
      for (i < 3) %u[i] += %p[i]
      %y[i] = %t[i]
      %z[i] = %u[i]
    })";
  ExpectRefused(kChanges, "", "compute_at %t %y i",
                "%t reads %u, which %u.1 changes before it would be computed");
}

// What a loop needs has to be known exactly: a part that is not bounded would
// be all of the stage, in each iteration.
TEST(Refusals, ComputeAtOfUnknownParts) {
  constexpr std::string_view kResult = R"(
    dispatch @result<N, M>(%x: f32[N * 2, M * 2, 5]) -> (%y: f32[N * 2, M * 2, 5], %z: f32[N * 2, M * 2, 5]) {
      %y[i, j, k] = %x[i, j, k] * 3.0
      %z[i, j, k] = %y[i, j, k] + 1.0
    })";
  const std::string reason =
      "parts of %y would be computed more than once, and it is a result";
  // Parts of four rows begin anywhere in i and j.
  ExpectRefused(kResult, "fuse %z i j -> ij\n split %z ij 4 -> rows row",
                "compute_at %y %z rows", reason);
  constexpr std::string_view kInput = R"(
    dispatch @input<N, M>(%x: f32[N, M]) -> (%y: f32[N, M]) {
      temp %t: f32[N, M]
      %t[i, j] = %x[i, j] * 3.0
      %y[i, j] = %t[i, j] + 1.0
    })";
  ExpectRefused(
      kInput, "fuse %y i j -> ij\n split %y ij 4 -> parts part",
      "compute_at %t %y parts",
      "%t reads an input that a result may overwrite in an earlier iteration");
}

TEST(Refusals, ComputeAtBesideOverwrittenInput) {
  // %y may be %x's memory: row j of %x is needed after %y's row j is stored.
  constexpr std::string_view kTransposed = R"(
    dispatch @transposed(%x: f32[6, 6]) -> (%y: f32[6, 6]) {
      temp %t: f32[6, 6]
      %t[i, j] = %x[i, j] + 1.0
      %y[i, j] = %t[j, i]
    })";
  const std::string reason =
      "%t reads an input that a result may overwrite in an earlier iteration";
  ExpectRefused(kTransposed, "", "compute_at %t %y j", reason);
  constexpr std::string_view kRows = R"(
    dispatch @rows(%x: f32[6, 6]) -> (%y: f32[6, 6]) {
      temp %t: f32[6, 6]
      %t[i, j] = %x[i, j] + 1.0
      %y[i, j] = %t[i, j] * 2.0
    })";
  // Parts of four overlap in the loops of a split by three.
  const std::string lines = "split %y j 4 -> j0 j1\n split %y j1 3 -> j2 j3\n";
  ExpectRefused(kRows, lines, "compute_at %t %y j0", reason);
  ExpectRefused(kRows, "split %y j 4 -> j0 j1\n compute_at %t %y j0",
                "split %y j1 3 -> j2 j3", reason);
  Schedule schedule = ScheduleOf(kRows);
  EXPECT_TRUE(Replay("split %y j 4 -> j0 j1\n split %y j1 2 -> j2 j3\n"
                     "compute_at %t %y j0",
                     schedule)
                  .ok());
}

TEST(Refusals, Copies) {
  ExpectRefused(kBytes, "", "cache_read %y %b u16 -> w",
                "u16 does not hold all values of i8");
  ExpectRefused(kBytes, "", "pack %y %b -64..64 0 1 -> w",
                "the elements of %b are not known to be in -64..64");
  ExpectRefused(kBytes, "", "pack %y %b u16 0 1 -> w",
                "u16 does not hold all values of i8");
  ExpectRefused(kBytes, "pad %y k 5", "pack %y %b 1 0 -> w",
                "the stage pads the buffer: cache_read it");
  ExpectRefused(kAdd, "", "cache_read %y %y -> c",
                "the stage stores to the buffer");
  ExpectRefused(kProduct, "", "cache_read %y %a -> c",
                "the stage does not read the buffer");
  ExpectRefused(kProduct, "compute_at %acc %y i", "cache_read %y %acc -> c",
                "%acc is computed in a loop: copy it before");
  ExpectRefused(kGather, "", "cache_read %y.1 %x -> c",
                "an index is checked when the program runs, against this "
                "buffer");
  constexpr std::string_view kPads = R"(
    dispatch @pads(%x: f32[6], %s: f32[6]) -> (%y: f32[6], %z: f32[6], %w: f32[6]) {
      %y[i] = pad(%x[i - 1], 0.0) + pad(%x[i + 1], 1.0)
      %z[i] = pad(%x[i - 1], %s[i])
      %w[i] = pad(%x[mod(i, 4) - 1], 0.0)
    })";
  ExpectRefused(kPads, "", "cache_read %y %x -> c",
                "the stage pads the buffer in different ways");
  ExpectRefused(kPads, "", "cache_read %z %x -> c",
                "what the buffer is padded with varies");
  ExpectRefused(kPads, "", "cache_read %w %x -> c",
                "index 0 of a padded load is not a sum of axes");
  ExpectRefused(kPads, "", "pack %y %x 0 -> c",
                "the stage pads the buffer: cache_read it");
}

TEST(Refusals, Lower) {
  const auto message = [](std::string_view dispatch, std::string_view line) {
    Schedule schedule = ScheduleOf(dispatch);
    EXPECT_TRUE(Replay(line, schedule).ok());
    auto nest = Lower(schedule);
    EXPECT_EQ(nest.status().code(), StatusCode::kFailedPrecondition);
    return std::string(nest.status().message());
  };
  EXPECT_EQ(message(R"(
    dispatch @open<N>(%x: f32[N]) -> (%y: f32[N]) { %y[i] = %x[i] })",
                    "unroll %y i"),
            "%y: loop 'i': expected a constant extent of at most 4096, found "
            "an open one");
  EXPECT_EQ(message(R"(
    dispatch @long(%x: f32[65]) -> (%y: f32[65]) { %y[i] = %x[i] })",
                    "vectorize %y i"),
            "%y: loop 'i': expected a constant extent of at most 64, found 65");
}

}  // namespace
}  // namespace ember::schedule

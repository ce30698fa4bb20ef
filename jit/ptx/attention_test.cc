// Tests attention that the default schedules of CUDA's devices compute in one
// phase: results on the emulated grid must equal those of the evaluator of
// nests, and ptxas must not spill registers.
//
// EMBER_SEEDS=100 draws more random shapes, EMBER_SEED=N one again.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/testing/seeds.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cuda/emulated/grid.h"
#include "jit/gpu/testing/run_nest.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/pipeline/lower.h"
#include "jit/ptx/testing/assembler.h"
#include "jit/ptx/testing/device.h"
#include "jit/ptx/testing/products.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/gpu/schedule.h"
#include "jit/schedule/primitives/replay.h"
#include "jit/target/gpu_model.h"
#include "tensor/testing/random_values.h"
#include "tensor/text/text.h"

namespace ember::jit::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kTarget =
    "sm_90a+subgroup32+shared232448+invocations1024+processors132";

constexpr std::string_view kAmpere =
    "sm_80+subgroup32+shared166912+invocations1024+processors108";

struct AttentionSizes {
  int heads = 1;
  int group = 1;  // number of query heads that share a head of keys and values
  std::string rows = "1";
  std::string keys = "1";
  int depth = 1;
  std::string type = "f16";
  // True if the dims of tensors are [rows, heads, depth], the order in which
  // projections of models yield them; false: [heads, rows, depth].
  bool is_rows_first = false;
  // True if the results are the f32 sums, without a cast to `type`.
  bool is_wide = false;
  // If not 0, keys and values are in a cache of 9 blocks of `block` rows each,
  // as in paged attention, and %table has the numbers of the blocks.
  // `is_checked`: the dispatch checks these numbers; otherwise they are taken
  // modulo 9.
  int block = 0;
  bool is_checked = false;
  int processors = 1;  // number of processors in the GPU
};

// Returns the text of a dispatch that computes attention. `score`: the
// expression of a score, of %raw[h, i, j] and possibly %mask[j].
std::string Attention(const AttentionSizes& sizes, const std::string& score) {
  const auto dims = [&](int heads, const std::string& rows) {
    const std::string h = std::to_string(heads);
    return "[" + (sizes.is_rows_first ? rows + ", " + h : h + ", " + rows) +
           ", " + std::to_string(sizes.depth) + "]";
  };
  const auto at = [&](const std::string& head, const std::string& row) {
    return "[" + (sizes.is_rows_first ? row + ", " + head : head + ", " + row) +
           ", d]";
  };
  const std::string type = sizes.type, d = std::to_string(sizes.depth);
  const std::string head =
      sizes.group == 1 ? "h"
                       : "floordiv(h, " + std::to_string(sizes.group) + ")";
  const std::string q = dims(sizes.heads, sizes.rows),
                    kv = dims(sizes.heads / sizes.group, sizes.keys);
  const std::string rows =
      "[" + std::to_string(sizes.heads) + ", " + sizes.rows;
  const std::string all = rows + ", " + sizes.keys + "]",
                    sums = rows + ", " + d + "]", row = rows + "]";
  const std::string keys = "(j < " + sizes.keys + ") ";
  const std::string block = std::to_string(sizes.block);
  const std::string key = sizes.block == 0
                              ? at(head, "j")
                              : "[floordiv(j, " + block + "), mod(j, " + block +
                                    "), " + head + ", d]";
  const std::string blocks =
      sizes.block == 0 ? ""
                       : std::to_string(std::stoi(sizes.keys) / sizes.block);
  const std::string in_block = ", " + block + ", " +
                               std::to_string(sizes.heads / sizes.group) +
                               ", " + d + "]";
  std::string text = "dispatch @attention(%q: " + type + q;
  if (sizes.block == 0) {
    text += ", %k: " + type + kv + ", %v: " + type + kv;
  } else {
    text += ", %table: i64[" + blocks + "], %keys: " + type + "[9" + in_block;
    text += ", %values: " + type + "[9" + in_block;
  }
  text += ", %mask: " + type + "[" + sizes.keys;
  text +=
      sizes.is_wide ? "]) -> (%sum: f32" + sums : "]) -> (%y: " + type + sums;
  text += ") {\n  temp %raw: f32" + all;
  text += "\n  temp %score: f32" + all + "\n  temp %top: f32" + row;
  text += "\n  temp %power: f32" + all + "\n  temp %total: f32" + row;
  text += "\n  temp %weight: " + type + all;
  if (!sizes.is_wide) text += "\n  temp %sum: f32" + sums;
  if (sizes.block != 0) {
    const std::string index =
        sizes.is_checked ? "%table[n]" : "mod(%table[n], 9)";
    text += "\n  temp %k: " + type + "[" + blocks + in_block;
    text += "\n  temp %v: " + type + "[" + blocks + in_block;
    text += "\n  %k[n, m, h, d] = %keys[" + index + ", m, h, d]";
    text += "\n  %v[n, m, h, d] = %values[" + index + ", m, h, d]";
  }
  text += "\n  %raw[h, i, j] = sum(d < " + d + ") f32(%q" + at("h", "i");
  text += ") * f32(%k" + key + ")\n  %score[h, i, j] = " + score;
  text += "\n  %top[h, i] = maximum" + keys + "%score[h, i, j]\n";
  text += "  %power[h, i, j] = exp(%score[h, i, j] - %top[h, i])\n";
  text += "  %total[h, i] = sum" + keys + "%power[h, i, j]\n";
  text += "  %weight[h, i, j] = " + type;
  text += "(%power[h, i, j] / %total[h, i])\n  %sum[h, i, d] = sum" + keys;
  text += "f32(%weight[h, i, j]) * f32(%v" + key + ")\n";
  if (!sizes.is_wide) text += "  %y[h, i, d] = " + type + "(%sum[h, i, d])\n";
  return text + "}\n";
}

const char kScaled[] = "%raw[h, i, j] * 0.25";
const char kCausal[] = "select(j <= i, %raw[h, i, j] * 0.25, -inf)";
// A causal mask that is shifted by 40 keys: row 0 sees 40 keys, and each
// further row one more.
const char kBehindOthers[] = "select(j < i + 40, %raw[h, i, j] * 0.25, -inf)";
// A causal mask that is shifted by -70 keys: rows 0 to 69 see no key.
const char kBeforeOthers[] = "select(j <= i - 70, %raw[h, i, j] * 0.25, -inf)";
// A causal mask that subtracts a finite number instead of setting -inf. Blocks
// of masked keys cannot be skipped, because masked keys count if no other key
// is visible.
const char kLowered[] = "select(j <= i, %raw[h, i, j] * 0.25, -1.0e30)";
const char kMasked[] = "%raw[h, i, j] * 0.125 + f32(%mask[j])";

bool IsInBlocks(const loops::LoopNest& nest) {
  return loops::ToText(nest).find("%sum.running") != std::string::npos;
}

TEST(PtxAttention, IsOnePhase) {
  int in_blocks = 0;
  for (const std::string& text :
       {Attention({2, 1, "32", "32", 32}, kScaled),
        Attention({1, 1, "64", "128", 64, "bf16"}, kCausal),
        Attention({2, 1, "40", "48", 32, "f16", true}, kMasked),
        Attention({4, 2, "17", "64", 64}, kScaled),
        Attention({1, 1, "64", "512", 32}, kScaled),
        Attention({1, 1, "33", "384", 64}, kCausal),
        Attention({2, 1, "32", "48", 32, "f16", false, true}, kMasked),
        Attention({1, 1, "48", "384", 64, "bf16", false, true}, kCausal)}) {
    const auto nest = NestByDefault(text, SmallGpu(kTarget));
    ASSERT_TRUE(nest.has_value());
    EXPECT_EQ(nest->phases.size(), 1u) << text;
    in_blocks += IsInBlocks(*nest);
    ExpectOnGrid(text, nullptr, {.within = 1e-2});
  }
  EXPECT_GT(in_blocks, 1);
}

// Expects that the default schedule skips blocks of keys that the mask hides,
// and that results are bit for bit those of the same schedule without skipping.
void ExpectSkipsTheSame(const std::string& dispatch_text, const GpuModel& gpu) {
  const auto dispatch = tensor::Parse(dispatch_text);
  ASSERT_TRUE(dispatch.ok());
  schedule::Schedule skipping(schedule::Disassemble(*dispatch, {}));
  ASSERT_TRUE(schedule::ScheduleForGpu(gpu, skipping).ok());
  std::string text = skipping.ToText();
  const std::string skip = " skip ";
  ASSERT_THAT(text, HasSubstr(skip));
  text.replace(text.find(skip), skip.size(), " ");
  schedule::Schedule whole(schedule::Disassemble(*dispatch, {}));
  ASSERT_TRUE(schedule::Replay(text, whole).ok());
  gpu::Bytes results[2];
  for (const schedule::Schedule* schedule : {&skipping, &whole}) {
    const auto nest = schedule::Lower(*schedule);
    ASSERT_TRUE(nest.ok()) << nest.status().ToString();
    gpu::Bytes& buffers = results[schedule == &whole];
    buffers = gpu::SmallContents(*nest, {});
    ASSERT_TRUE(loops::Evaluate(*nest, {}, tensor::Pointers(buffers)).ok());
  }
  EXPECT_EQ(results[0], results[1]);
}

// Shows that blocks of keys that a causal mask hides from all rows of a tile
// are not computed, even if some rows see no key at all.
TEST(PtxAttention, SkipsHiddenBlocks) {
  for (const char* const mask : {kCausal, kBehindOthers, kBeforeOthers}) {
    SCOPED_TRACE(mask);
    ExpectSkipsTheSame(Attention({1, 1, "128", "192", 16}, mask),
                       GpuModel::Of(kTarget));
  }
}

// Shows that hidden blocks are also skipped if a schedule distributes the keys
// among workgroups. A tile of rows may then see none of a workgroup's keys.
TEST(PtxAttention, SkipsHiddenBlocksOfParts) {
  GpuModel gpu = SmallGpu(kTarget);
  gpu.processors = 32;
  const AttentionSizes sizes{1, 1, "16", "2048", 16};
  for (const char* const mask :
       {"select(j < i + 1500, %raw[h, i, j], -inf)",
        "select(j < i * 100 + 400, %raw[h, i, j], -inf)"}) {
    SCOPED_TRACE(mask);
    const auto nest = NestByDefault(Attention(sizes, mask), gpu);
    ASSERT_TRUE(nest.has_value());
    EXPECT_THAT(loops::ToText(*nest), HasSubstr("%sum.running.parts["));
    ExpectSkipsTheSame(Attention(sizes, mask), gpu);
  }
  const auto products = [&](const char* mask) {
    return ExpectOnGrid(Attention(sizes, mask), nullptr,
                        {.within = 2e-2, .processors = 32});
  };
  const std::optional<uint64_t> some =
      products("select(j < i + 1500, %raw[h, i, j], -inf)");
  const std::optional<uint64_t> all =
      products("select(j < i + 1500, %raw[h, i, j], -1.0e30)");
  // Only the emulated grid counts products; on a GPU the comparison is left
  // out.
  if (!some || !all) return;
  EXPECT_LE(*some * 4, *all * 3);
  EXPECT_GE(*some * 2, *all);
}

// Shows by the count of products that causal attention computes little more
// than half of the scores: there are 256 keys in blocks of 64 or 128, and tiles
// have at most 64 rows. kLowered, whose blocks are not skipped, is the
// comparison.
TEST(PtxAttention, ComputesHalfOfCausalScores) {
  const AttentionSizes sizes{1, 1, "256", "256", 16};
  const std::optional<uint64_t> causal =
      ExpectOnGrid(Attention(sizes, kCausal), nullptr, {.within = 1e-2});
  const std::optional<uint64_t> lowered =
      ExpectOnGrid(Attention(sizes, kLowered), nullptr, {.within = 1e-2});
  // Only the emulated grid counts products; on a GPU the comparison is left
  // out.
  if (!causal || !lowered) return;
  EXPECT_LE(*causal * 4, *lowered * 3);
  EXPECT_GE(*causal * 2, *lowered);
}

// Shows that keys and values in blocks of a cache, whose numbers a table has,
// are copied from the cache to a workgroup's memory, after a check of the
// number if there is one. With several slots in the ring of copies, they are
// asynchronous.
TEST(PtxAttention, LooksUpBlocks) {
  int in_blocks = 0, ahead = 0;
  for (AttentionSizes sizes : {AttentionSizes{2, 1, "32", "64", 32},
                               AttentionSizes{2, 2, "17", "48", 64},
                               AttentionSizes{1, 1, "64", "512", 32, "bf16"}}) {
    sizes.block = 16;
    for (const bool is_checked : {false, true}) {
      sizes.is_checked = is_checked;
      const std::string text = Attention(sizes, kScaled);
      const auto nest = NestByDefault(text, SmallGpu(kTarget));
      ASSERT_TRUE(nest.has_value());
      EXPECT_EQ(nest->phases.size(), 1u) << text;
      const std::string loops = loops::ToText(*nest);
      EXPECT_EQ(loops.find("check %keys.0") != std::string::npos, is_checked);
      EXPECT_THAT(loops, HasSubstr("task %k: "));
      EXPECT_THAT(loops, HasSubstr("task %v: "));
      const std::string ptx = PtxOf(*nest, kTarget);
      if (loops.find("async %v[") != std::string::npos) {
        // Every asynchronous copy has 16 bytes (cp.async.cg); smaller ones
        // would be cp.async.ca.
        EXPECT_THAT(ptx, HasSubstr("cp.async.cg.shared.global"));
        EXPECT_THAT(ptx, Not(HasSubstr("cp.async.ca.shared.global")));
        ++ahead;
      }
      in_blocks += IsInBlocks(*nest);
      if (!is_checked) ExpectOnGrid(text, nullptr, {.within = 1e-2});
    }
  }
  EXPECT_GT(in_blocks, 0);
  EXPECT_GT(ahead, 0);
}

// The schedule cannot copy a factor to a workgroup's memory that needs both
// padding and a table: the sum of 40 steps is padded with zeros, and a table
// has the numbers of the blocks. Then it multiplies no matrices, but results
// must be right.
TEST(PtxAttention, FactorsWithoutSlices) {
  AttentionSizes sizes{1, 1, "32", "64", 40};
  sizes.block = 32;
  ExpectOnGrid(Attention(sizes, kScaled), nullptr,
               {.within = 2e-3, .has_matrices = false});
}

// Shows attention with a number of keys that is no multiple of the block size:
// the last block is padded with masked keys, and copies of boxes read zeros
// beyond the tensor.
TEST(PtxAttention, OfKeysThatBlocksDoNotDivide) {
  for (const char* const score : {kScaled, kMasked, kCausal}) {
    const auto nest = NestByDefault(
        Attention({16, 2, "1000", "1000", 64}, score), GpuModel::Of(kTarget));
    ASSERT_TRUE(nest.has_value());
    EXPECT_EQ(nest->phases.size(), 1u);
    EXPECT_TRUE(IsInBlocks(*nest));
    const std::string loops = loops::ToText(*nest);
    EXPECT_THAT(loops, HasSubstr("= pad(%k["));
    EXPECT_THAT(loops, HasSubstr("= pad(%v["));
    // A causal mask hides the padding, too, so the loop over blocks ends where
    // the mask does. Without it the loop has a constant number of blocks.
    EXPECT_EQ(loops.find("for j_part < 16 {") == std::string::npos,
              score == kCausal);
    EXPECT_NE(PtxOf(*nest, kTarget), "");
  }
}

// If extents are open parameters, the default schedule cannot know if a
// workgroup's memory is large enough for rows of scores, so it uses several
// phases.
TEST(PtxAttention, OfOpenExtents) {
  std::string text = Attention({2, 1, "32", "N", 32}, kScaled);
  text.replace(text.find("@attention"), 10, "@attention<N>");
  const auto nest = NestByDefault(text, SmallGpu(kTarget));
  ASSERT_TRUE(nest.has_value());
  EXPECT_GT(nest->phases.size(), 1u);
}

// Each invocation keeps a running maximum and total for each of its results.
// Those of one row are equal, and the compiler must merge them, so that their
// powers are computed once.
TEST(PtxAttention, RunningMaximaOfARowAreOne) {
  const auto nest = NestByDefault(
      Attention({16, 1, "1024", "1024", 64}, kScaled), GpuModel::Of(kTarget));
  ASSERT_TRUE(nest.has_value());
  EXPECT_TRUE(IsInBlocks(*nest));
  const std::string ptx = PtxOf(*nest, kTarget);
  // One power for each of an invocation's 16 scores, and two that scale its
  // sums. Without merging there would be 32 instead of two for its 16 results.
  EXPECT_EQ(CountIn(ptx, "ex2.approx"), 16u + 2u);
  EXPECT_THAT(ptx, HasSubstr("ld.shared.v4.f32"));
  // The kernel asks ptxas for two blocks per processor, as the schedule plans.
  EXPECT_THAT(ptx, HasSubstr(".minnctapersm 2"));
}

// Shows how warps share the softmax of a row: an invocation keeps its part of a
// row in registers, reads each score of a block once, by vectors, and stores a
// maximum, a total and its weights. Readers combine the maxima and totals of a
// row's parts themselves, so that no further barriers are needed.
TEST(PtxAttention, KeepsRowsInRegisters) {
  std::string unscaled = Attention({16, 1, "1024", "1024", 64}, kScaled);
  const auto replace = [&](std::string_view what, std::string_view by) {
    for (size_t at = unscaled.find(what); at != std::string::npos;
         at = unscaled.find(what, at + by.size())) {
      unscaled.replace(at, what.size(), by);
    }
  };
  replace("  temp %score: f32[16, 1024, 1024]\n", "");
  replace("  %score[h, i, j] = %raw[h, i, j] * 0.25\n", "");
  replace("%score[", "%raw[");
  for (const std::string_view target : {kTarget, kAmpere}) {
    for (const std::string& text :
         {Attention({16, 1, "1024", "1024", 64}, kScaled),
          Attention({16, 1, "1024", "1024", 64}, kCausal), unscaled}) {
      const auto nest = NestByDefault(text, GpuModel::Of(target));
      ASSERT_TRUE(nest.has_value());
      ASSERT_TRUE(IsInBlocks(*nest));
      const std::string loops = loops::ToText(*nest);
      SCOPED_TRACE(loops);
      const bool is_scaled = text != unscaled;
      for (const char* const kept :
           {is_scaled ? "score" : "raw", "power", "sum"}) {
        EXPECT_THAT(loops, HasSubstr(Concat({"register %", kept, ": f32["})));
      }
      // Each score is stored once and read once, so the nest has two accesses.
      EXPECT_EQ(CountIn(loops, is_scaled ? "%raw[" : "%raw.tile["), 2u);
      for (const char* const whole : {"%top[", "%total["})
        EXPECT_EQ(CountIn(loops, whole), 0u);
      const std::string ptx = PtxOf(*nest, target);
      EXPECT_LE(CountIn(ptx, "bar.sync"), 6u);
    }
  }
}

// Shows that queries are copied once for a tile of rows, and that keys and
// values are copied one block ahead of the block that is computed.
TEST(PtxAttention, CopiesKeysABlockAhead) {
  for (const std::string_view target : {kTarget, kAmpere}) {
    const auto nest = NestByDefault(
        Attention({16, 1, "1024", "1024", 64}, kScaled), GpuModel::Of(target));
    ASSERT_TRUE(nest.has_value());
    const std::string loops = loops::ToText(*nest);
    const size_t blocks = loops.find("for j_part < 16 {");
    ASSERT_NE(blocks, std::string::npos) << loops;
    const std::string_view before = std::string_view(loops).substr(0, blocks),
                           inside = std::string_view(loops).substr(blocks);
    EXPECT_EQ(CountIn(before, " %q.slice["), 1u);
    for (const char* const copy : {"async %k.slice[", "async %v.slice["}) {
      EXPECT_EQ(CountIn(before, Concat({copy, "0, "})), 1u);
      EXPECT_EQ(CountIn(inside, Concat({copy, "mod(j_part + 1, 2), "})), 1u);
      EXPECT_EQ(CountIn(loops, copy), 2u);
    }
    EXPECT_EQ(CountIn(inside, "await "), 1u);
  }
}

// If the device has products of warpgroups, both products use them and read all
// factors from shared memory. A fence is needed after stores to memory that
// these products read: of copies, also of queries, and of weights.
TEST(PtxAttention, MultipliesByWarpgroups) {
  const auto nest = NestByDefault(
      Attention({16, 1, "1024", "1024", 64}, kScaled), GpuModel::Of(kTarget));
  ASSERT_TRUE(nest.has_value());
  const std::string ptx = PtxOf(*nest, kTarget);
  EXPECT_EQ(CountIn(ptx, "wgmma.mma_async"), 8u);
  EXPECT_EQ(CountIn(ptx, "mma.sync"), 0u);
  EXPECT_EQ(CountIn(ptx, "ldmatrix"), 0u);
  EXPECT_EQ(CountIn(ptx, "fence.proxy.async"), 2u);
  EXPECT_GT(CountIn(ptx, "bar.sync"), 2u);
  // An invocation stores vectors of weights to the panels that products read.
  EXPECT_GE(CountIn(ptx, "st.shared.v4.b16"), 4u);
  for (const AttentionSizes& sizes :
       {AttentionSizes{2, 1, "64", "256", 64},
        AttentionSizes{3, 1, "100", "192", 64, "bf16"},
        AttentionSizes{2, 2, "128", "128", 64, "f16", true, true}}) {
    std::string small;
    ExpectOnGrid(Attention(sizes, kMasked), &small, {.within = 2e-2});
    SCOPED_TRACE(Concat({sizes.heads, "x", sizes.rows, "x", sizes.depth}));
    EXPECT_EQ(CountIn(small, "wgmma.mma_async") != 0,
              TestDevice()->target().starts_with("sm_90a"));
  }
}

// Shows that, if the device copies boxes, one thread copies keys and values for
// the whole workgroup, one block ahead, and that nothing is copied in another
// way. The slot of keys is released before that of values, so the next block's
// keys are copied earlier. In causal attention each tile of rows has only the
// blocks that it sees.
TEST(PtxAttention, CopiesKeysAsBoxes) {
  const std::string target = Concat({kTarget, "+tensor_maps"});
  for (const char* const score : {kScaled, kCausal}) {
    const auto nest = NestByDefault(
        Attention({16, 2, "1024", "1024", 64}, score), GpuModel::Of(target));
    ASSERT_TRUE(nest.has_value());
    const std::string ptx = PtxOf(*nest, target);
    EXPECT_EQ(CountIn(ptx, "cp.async.bulk.tensor.3d"), 4u);
    EXPECT_THAT(ptx, Not(HasSubstr("cp.async.c")));
    // The fill of a slot has 64 keys or values. There are two slots for keys
    // and two for values, and each slot has a "full" and an "empty" barrier.
    // Four warps read a slot.
    EXPECT_EQ(CountIn(ptx, "mbarrier.init"), 8u);
    EXPECT_EQ(CountIn(ptx, "mbarrier.arrive.expect_tx"), 4u);
    // The code waits for full slots before two statements that read them, and
    // for empty slots before four fills.
    EXPECT_EQ(CountIn(ptx, "mbarrier.try_wait"), 2u + 4u);
    // ptxas limits registers so that a processor holds two workgroups of 256
    // threads.
    EXPECT_THAT(ptx, HasSubstr(".maxntid 256"));
  }
  if (TestDevice()->target().find("+tensor_maps") == std::string::npos)
    GTEST_SKIP() << "a device without boxes: " << TestDevice()->target();
  for (const auto& [sizes, score] :
       std::vector<std::pair<AttentionSizes, const char*>>{
           {{2, 1, "64", "128", 64}, kScaled},
           {{1, 1, "128", "192", 64, "bf16"}, kCausal},
           {{4, 2, "64", "128", 64}, kBehindOthers},
           {{2, 1, "100", "192", 64, "bf16", true}, kMasked},
           {{2, 1, "64", "137", 64}, kMasked}}) {
    SCOPED_TRACE(Concat({sizes.heads, "x", sizes.rows, "x", sizes.keys}));
    const hal::cuda::GridStatistics before = hal::cuda::TotalStatistics();
    ExpectOnGrid(Attention(sizes, score), nullptr, {.within = 2e-2});
    const hal::cuda::GridStatistics after = hal::cuda::TotalStatistics();
    EXPECT_GT(after.box_copies, before.box_copies);
    EXPECT_EQ(after.async_copies, before.async_copies);
  }
  // Shows that boxes are copied if a block of the cache is as long as a block
  // of keys, so that the table says where a box begins. With a check of the
  // table's number no boxes are copied: a thread that fails the check would
  // leave the other threads waiting for the copy.
  AttentionSizes paged{2, 1, "64", "256", 64};
  paged.block = 64;
  for (const bool is_checked : {false, true}) {
    paged.is_checked = is_checked;
    const auto nest =
        NestByDefault(Attention(paged, kScaled), SmallGpu(target));
    ASSERT_TRUE(nest.has_value());
    EXPECT_EQ(CountIn(PtxOf(*nest, target), "cp.async.bulk.tensor") != 0,
              !is_checked);
  }
  paged.is_checked = false;
  const hal::cuda::GridStatistics before = hal::cuda::TotalStatistics();
  ExpectOnGrid(Attention(paged, kScaled), nullptr, {.within = 2e-2});
  EXPECT_GT(hal::cuda::TotalStatistics().box_copies, before.box_copies);
}

// Shows that keys are distributed among workgroups if few rows of queries would
// leave processors idle. A second phase combines the parts of each row's
// softmax.
TEST(PtxAttention, SharesOutKeysOfFewRows) {
  for (const auto& [sizes, score] :
       std::vector<std::pair<AttentionSizes, const char*>>{
           {{1, 1, "16", "2048", 32}, kScaled},
           {{2, 2, "9", "2048", 64, "bf16", true}, kMasked},
           {{1, 1, "8", "2048", 16, "f16", false, true}, kScaled},
           {{1, 1, "64", "1024", 64}, kScaled}}) {
    GpuModel gpu = SmallGpu(kTarget);
    gpu.processors = 32;
    const std::string text = Attention(sizes, score);
    const auto nest = NestByDefault(text, gpu);
    ASSERT_TRUE(nest.has_value());
    ASSERT_EQ(nest->phases.size(), 2u) << text;
    const std::string loops = loops::ToText(*nest);
    for (const char* const part : {"", ".1", ".2"})
      EXPECT_THAT(loops, HasSubstr(Concat({"%sum.running.parts", part, "["})));
    ExpectOnGrid(text, nullptr, {.within = 2e-2, .processors = 32});
  }
  // Shows that keys are not distributed if there are enough tiles of rows for
  // all processors.
  const auto nest = NestByDefault(
      Attention({16, 1, "1024", "4096", 64}, kScaled), GpuModel::Of(kTarget));
  ASSERT_TRUE(nest.has_value());
  EXPECT_EQ(nest->phases.size(), 1u);
}

AttentionSizes RandomAttention(tensor::RandomChoices& choices) {
  AttentionSizes sizes;
  sizes.group = choices.Pick(std::vector<int>{1, 1, 2});
  sizes.heads = sizes.group * (1 + choices.Below(2));
  sizes.rows = std::to_string(
      choices.Pick(std::vector<int>{16, 17, 30, 32, 49, 64, 65, 100}));
  sizes.keys = std::to_string(choices.Pick(std::vector<int>{
      16, 24, 32, 50, 64, 77, 96, 100, 128, 192, 197, 256, 384, 512}));
  sizes.depth = choices.Pick(std::vector<int>{16, 24, 32, 40, 64, 80, 128});
  sizes.type = choices.Chance(3) ? "bf16" : "f16";
  sizes.is_rows_first = choices.Chance(2);
  sizes.is_wide = choices.Chance(3);
  if (choices.Chance(3)) {
    sizes.block = choices.Pick(std::vector<int>{16, 32, 64});
    sizes.keys =
        std::to_string(sizes.block * (1 + choices.Below(256 / sizes.block)));
  } else if (choices.Chance(5)) {
    // draws shapes for which keys may be distributed among workgroups
    sizes.processors = choices.Pick(std::vector<int>{16, 132});
    sizes.rows =
        std::to_string(choices.Pick(std::vector<int>{8, 12, 16, 33, 64}));
    sizes.keys =
        std::to_string(choices.Pick(std::vector<int>{640, 1024, 1536}));
    sizes.heads = sizes.group;
  }
  return sizes;
}

// Shows for random shapes that results are right and that the back end declines
// none.
TEST(PtxAttention, OfRandomShapes) {
  const SeedRange seeds = TestSeeds(4, 0);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    tensor::RandomChoices choices(seed);
    const AttentionSizes sizes = RandomAttention(choices);
    const std::string text =
        Attention(sizes, choices.Pick(std::vector<std::string>{
                             kScaled, kCausal, kMasked, kLowered, kBehindOthers,
                             kBeforeOthers}));
    SCOPED_TRACE("EMBER_SEED=" + std::to_string(seed));
    ExpectOnGrid(text, nullptr,
                 {.within = sizes.type == "f16" ? 2e-3 : 2e-2,
                  .has_matrices = false,
                  .processors = sizes.processors});
    const auto nest = NestByDefault(text, GpuModel::Of(kTarget));
    ASSERT_TRUE(nest.has_value());
    EXPECT_NE(PtxOf(*nest, kTarget), "");
  }
}

}  // namespace
}  // namespace ember::jit::ptx

#include "jit/schedule/gpu/row_tile_rule.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "jit/gpu/device_traits.h"
#include "jit/gpu/place_buffers.h"
#include "jit/loops/workgroup.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/gpu/points.h"
#include "jit/schedule/gpu/row_tile.h"
#include "jit/schedule/rules/stage_groups.h"
#include "jit/schedule/rules/stage_shape.h"
#include "jit/target/matrix_instructions.h"
#include "jit/target/shared_panels.h"

namespace ember::schedule {
namespace {

// Alignment, in bytes, that this rule assumes for buffers in a workgroup's
// memory.
constexpr int64_t kSharedAlignment = 16;
constexpr int64_t kFewestRows = 16;
constexpr int64_t kMaxRows = 128;
// Numbers of keys (elements of a row of scores) that a fold may combine at
// once, in the order in which they are tried. 0: no fold, the whole row is
// combined at once.
constexpr int64_t kBlockChoices[] = {0, 128, 64};

// True if the group's stages have an axis in common, and at least two of its
// members are products.
bool HasProducts(const Schedule& schedule, const StageGroup& group) {
  const Computation& c = schedule.computation();
  return group.depth > 0 &&
         std::ranges::count_if(group.members, [&](const StageRef& member) {
           return StageShape(c, c.FindStage(member.name)).SharesOperands();
         }) > 1;
}

// If the root is the product itself, splits off a stage that computes the
// product in the workgroup's memory, from which the root then reads it. Returns
// false if some primitive is refused.
bool MakeWhole(const StageRef& root, const StageRef& product,
               ScheduleWriter& writer) {
  return root != product ||
         writer.Try(
             CacheWrite{.stage = product, .computing = product.name + ".tile"});
}

// A way to divide the keys of attention (axis j in row_tile_rule.h). A
// workgroup processes `block` keys at once, or all if `block` is 0. The last
// block may be padded. The keys are divided into `parts` parts, each of which
// has workgroups of its own for every tile of rows.
struct KeyBlocks {
  int64_t block = 0;
  int64_t parts = 1;
  // number of blocks of a part; set only if there are several parts
  int64_t blocks_of_part = 0;
  // ratio of the number of keys with padding to the number without
  double filled_up = 1;
};

// Returns the stage that MakeBlocks makes for the product's running sums over
// blocks of keys (online_softmax).
StageRef RunningOf(const StageRef& product) {
  return {product.name + ".running"};
}
// Returns the stage that MakeBlocks makes for the parts of the keys, if there
// are several.
StageRef PartsOf(const StageRef& product) {
  return {RunningOf(product).name + ".parts"};
}

// Applies online_softmax to the product whose loop `keys` runs over the keys. A
// fold over blocks of keys then computes running sums, and the product divides
// them by the totals. If there are several parts, one fold computes each part,
// and a second fold combines the parts; the caller tiles the first one. Hidden
// blocks are skipped, or computed if that is refused. Returns false if that, or
// the division into parts, is refused, too.
bool MakeBlocks(const LoopRef& keys, const KeyBlocks& blocks,
                ScheduleWriter& writer) {
  const StageRef& product = keys.stage;
  const StageRef running = RunningOf(product);
  OnlineSoftmax softmax{.product = product,
                        .block = blocks.block,
                        .hidden = HiddenBlocks::kSkip,
                        .sum = running.name,
                        .total = product.name + ".total"};
  if (!writer.Try(softmax)) {
    softmax.hidden = HiddenBlocks::kCompute;
    if (!writer.Try(softmax)) return false;
  }
  return blocks.blocks_of_part == 0 ||
         writer.Try(Rfactor{.part = {.loop = {running, keys.name + "_part"},
                                     .kind = LoopDigit::Kind::kQuotient,
                                     .factor = blocks.blocks_of_part},
                            .parts = PartsOf(product).name});
}

// Returns the ways to divide the keys that the rule tries. There is one for
// each block size of kBlockChoices, in which one workgroup processes all keys.
// If there are no more tiles than processors, it also returns, for each block
// size that divides the keys, a way that divides the keys into parts for
// several workgroups. There are then at most two workgroups per processor, and
// each part has at least two blocks.
std::vector<KeyBlocks> BlocksFor(const jit::GpuModel& gpu,
                                 const StageShape& product) {
  std::vector<KeyBlocks> all;
  const std::optional<int64_t> keys = product.Extent(product.axis_count() - 1);
  for (const int64_t block : kBlockChoices) {
    all.push_back({.block = block});
    if (block == 0 || !keys || *keys == 0) continue;
    all.back().filled_up =
        static_cast<double>(RoundUp(*keys, block)) / static_cast<double>(*keys);
  }
  const int rows = product.spatial_count() - 2;
  if (gpu.processors == 0 || rows < 0 || !keys) return all;
  const int64_t tiles =
      product.LikelyPoints(0, rows) *
      DivideRoundingUp(product.LikelyExtent(rows), kFewestRows);
  for (const int64_t block : kBlockChoices) {
    if (block == 0 || *keys % block != 0) continue;
    const int64_t blocks = *keys / block;
    int64_t parts = 1;
    while (blocks % (2 * parts) == 0 && blocks >= 4 * parts &&
           2 * parts * tiles <= 2 * gpu.processors) {
      parts *= 2;
    }
    if (parts > 1) all.push_back({block, parts, blocks / parts});
  }
  return all;
}

// Two models of the device: `wide` has only the matrices of warpgroups,
// `narrow` has all others.
struct Models {
  explicit Models(const jit::GpuModel& gpu) : wide(gpu), narrow(gpu) {
    const auto is_wide = [](const loops::MatrixType& type) {
      return jit::WarpsOfMatrix(type) > 1;
    };
    std::erase_if(wide.matrices, std::not_fn(is_wide));
    std::erase_if(narrow.matrices, is_wide);
  }
  jit::GpuModel wide, narrow;
};

// Returns the tiles that are tried, from the most rows along the axis to the
// fewest. Of several tiles with the same number of rows the fastest comes
// first; it may need too much memory.
std::vector<RowTile> TilesFor(const Schedule& schedule, const StageRef& root,
                              int axis, int64_t parts, const Models& models) {
  const StageShape shape(schedule.computation(),
                         schedule.computation().FindStage(root.name));
  const int64_t extent = shape.LikelyExtent(axis);
  std::vector<RowTile> tiles;
  for (int64_t rows = kMaxRows; rows >= kFewestRows; rows /= 2) {
    if (rows > RoundUp(extent, kFewestRows)) continue;
    for (const bool is_wide : {true, false}) {
      if ((is_wide ? models.wide : models.narrow).matrices.empty()) continue;
      if (models.narrow.copies_async)
        tiles.push_back({rows, is_wide, /*is_ahead=*/true, parts});
      tiles.push_back({rows, is_wide, /*is_ahead=*/false, parts});
    }
  }
  return tiles;
}

// True if the nest can be placed on the device: all task buffers fit a
// workgroup's memory, including gaps between them, and products of warpgroups
// have their panels.
bool IsPlanned(const loops::LoopNest& nest, const jit::GpuModel& gpu) {
  jit::gpu::DeviceTraits device;
  device.shared_bytes = gpu.shared_bytes;
  device.invocations = gpu.max_invocations;
  device.subgroup_size = gpu.subgroup_size;
  device.has_whole_subgroups = device.uses_matrices = true;
  // The trait `keeps_elements` lets buffers share bytes, as on devices with
  // GpuModel::overlays_shared.
  device.keeps_elements = true;
  device.shared_alignment = kSharedAlignment;
  device.matrices = gpu.matrices;
  const auto has_room = [&](const loops::Phase& phase) {
    const auto workgroup = jit::gpu::PlacePhase(nest, phase, device);
    if (!workgroup.ok()) return false;
    return std::ranges::none_of(workgroup->storage, [](const auto& storage) {
      return storage.kind == loops::StorageKind::kSlices;
    });
  };
  return jit::HasPanelsForWideProducts(nest, /*rows_too=*/true) &&
         std::ranges::all_of(nest.phases, has_room);
}

}  // namespace

bool ScheduleRowTilesOnGpu(const jit::GpuModel& gpu, const StageRef& root,
                           const StageRef& product, std::set<StageRef>& done,
                           ScheduleWriter& writer) {
  if (gpu.matrices.empty() || gpu.is_cpu_like || !gpu.overlays_shared ||
      gpu.max_invocations < kRowTileSubgroups * gpu.subgroup_size ||
      !StoresAreDistinct(writer.computation(), writer.NumberOf(root))) {
    return false;
  }
  const Models models(gpu);
  std::optional<Schedule> best;
  std::set<StageRef> scheduled;
  double best_cost = 0;
  bool has_parts = false;
  StageRef tiled_root;
  const StageShape shape(writer.computation(), writer.NumberOf(product));
  const LoopRef keys{product, shape.stage().axes.back().name};
  for (const KeyBlocks& blocks : BlocksFor(gpu, shape)) {
    Schedule blocked = writer.schedule();
    ScheduleWriter blocked_writer(blocked);
    if (!(blocks.block == 0 ? MakeWhole(root, product, blocked_writer)
                            : MakeBlocks(keys, blocks, blocked_writer))) {
      continue;
    }
    const StageRef of_tiles = blocks.parts == 1 ? root : PartsOf(product);
    const StageGroup group = GroupOf(
        blocked, of_tiles, done, [&](int stage, int, const StageGroup&) {
          return !IsLookupForProducts(blocked.computation(), stage);
        });
    if (!HasProducts(blocked, group)) continue;
    // Number of rows of an accepted tile with which two workgroups fit on a
    // processor; 0: none yet. Other tiles with as many rows are then skipped,
    // because TilesFor returns the fastest of them first.
    int64_t settled = 0;
    for (const RowTile& tile :
         TilesFor(blocked, of_tiles, group.depth - 1, blocks.parts, models)) {
      if (tile.rows == settled) continue;
      Schedule trial = blocked;
      ScheduleWriter trial_writer(trial);
      std::optional<ScheduledRowTile> tiled =
          ScheduleRowTile(tile.is_wide ? models.wide : models.narrow, group,
                          tile, trial_writer);
      if (tiled) tiled->cost *= blocks.filled_up;
      if (!tiled || (best && tiled->cost >= best_cost)) continue;
      // The trial schedule is lowered before it is accepted, because alignment
      // and strides are known only after lowering.
      const auto nest = Lower(trial);
      if (!nest.ok() || !IsPlanned(*nest, gpu)) continue;
      if (!tiled->is_alone) settled = tile.rows;
      best = std::move(trial);
      best_cost = tiled->cost;
      scheduled = std::move(tiled->stages);
      has_parts = blocks.parts > 1;
      tiled_root = of_tiles;
    }
  }
  if (!best) return false;
  done.insert(root);
  done.insert(tiled_root);
  done.merge(scheduled);
  writer.Replace(*std::move(best));
  if (!has_parts) return true;
  // In the second phase one invocation combines the parts of each result.
  const std::optional<LoopRef> point =
      SchedulePoints(gpu, root, /*lanes=*/1, writer);
  if (point) JoinPoints(gpu, root, *point, 0, done, writer);
  return true;
}

}  // namespace ember::schedule

#include "jit/schedule/gpu/matrix_rule.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "jit/pipeline/lower.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/gpu/matrix_packing.h"
#include "jit/schedule/gpu/matrix_schedule.h"
#include "jit/schedule/gpu/matrix_tiles.h"
#include "jit/schedule/gpu/slices.h"
#include "jit/target/matrix_instructions.h"
#include "jit/target/shared_panels.h"

namespace ember::schedule {
namespace {

// True if matrices may be stored directly to the product's results: the results
// are assigned, have the type of sums, and are multiples of whole matrices.
bool MayStoreDirectly(const Computation& c, int number,
                      const MatrixPlan& plan) {
  const ComputationStage& stage = c.stages[static_cast<size_t>(number)];
  const auto is_whole = [&](int axis, int64_t size) {
    const auto extent =
        c.pool.IntegerConstant(stage.axes[static_cast<size_t>(axis)].extent);
    return extent && *extent % size == 0;
  };
  return c.buffers[stage.stores[0].buffer].type == plan.type.sum &&
         stage.stores[0].update == tensor::Update::kAssign &&
         is_whole(plan.rows, plan.type.rows) &&
         is_whole(plan.columns, plan.type.columns);
}

bool MayBeMatrices(const jit::GpuModel& gpu, const StageRef& root,
                   const StageRef& product, const Computation& c) {
  return !gpu.matrices.empty() &&
         StoresAreDistinct(c, c.FindStage(product.name)) &&
         (root == product || IsReadInPlace(c, product));
}

ProductCost CostOfPlan(const MatrixPlan& plan) {
  return {.all = plan.cost,
          .tiles = plan.tiles,
          .rows = {plan.rows, plan.RowsOfTile()},
          .columns = {plan.columns, plan.ColumnsOfTile()},
          .lines = {plan.lines, plan.line_tile},
          .steps = {plan.steps, plan.slice},
          .ranges = plan.ranges};
}

// Packs the constant factors of a product that may be computed as matrices.
void PackFactors(const jit::GpuModel& gpu, const StageRef& product,
                 std::set<StageRef>& done, Schedule& schedule) {
  ScheduleWriter writer(schedule);
  for (const bool through_memory : {false, true}) {
    const std::optional<MatrixPlan> plan = PlanMatricesOnGpu(
        gpu, schedule.computation(), writer.NumberOf(product), through_memory);
    if (!plan) continue;
    return PackConstantsForMatrices(gpu, product, plan->steps, done, writer);
  }
}

}  // namespace

std::optional<ProductCost> CostOfMatricesOnGpu(const jit::GpuModel& gpu,
                                               const StageRef& root,
                                               const StageRef& product,
                                               const std::set<StageRef>& done,
                                               const Schedule& schedule) {
  if (!MayBeMatrices(gpu, root, product, schedule.computation()))
    return std::nullopt;
  Schedule packed = schedule;
  std::set<StageRef> packed_done = done;
  if (!gpu.transposes_matrices) PackFactors(gpu, product, packed_done, packed);
  const Computation& c = packed.computation();
  const int number = c.FindStage(product.name);
  for (const bool directly : {true, false}) {
    if (directly && root != product) continue;
    const std::optional<MatrixPlan> plan =
        PlanMatricesOnGpu(gpu, c, number, /*through_memory=*/!directly);
    if (!plan || (directly && !MayStoreDirectly(c, number, *plan))) continue;
    return CostOfPlan(*plan);
  }
  return std::nullopt;
}

std::optional<ProductCost> TileOfRangesOnGpu(const jit::GpuModel& gpu,
                                             const StageRef& product,
                                             const Schedule& schedule) {
  const Computation& c = schedule.computation();
  if (!MayBeMatrices(gpu, product, product, c)) return std::nullopt;
  const auto plan =
      PlanMatricesOnGpu(gpu, c, c.FindStage(product.name),
                        /*through_memory=*/false, {.of_ranges = true});
  return plan ? std::optional(CostOfPlan(*plan)) : std::nullopt;
}

std::optional<LoopRef> ScheduleMatricesOnGpu(const jit::GpuModel& gpu,
                                             const StageRef& root,
                                             const StageRef& product,
                                             std::set<StageRef>& done,
                                             ScheduleWriter& writer) {
  if (!MayBeMatrices(gpu, root, product, writer.computation()))
    return std::nullopt;
  // Constant factors must be packed before tiles are chosen. That happens in a
  // copy of the schedule, so that nothing has changed if no tile fits.
  Schedule packed = writer.schedule();
  std::set<StageRef> packed_done = done;
  if (!gpu.transposes_matrices) PackFactors(gpu, product, packed_done, packed);
  const Computation& c = packed.computation();
  const int number = c.FindStage(product.name);
  // Wide instructions, which several subgroups execute together, have
  // requirements that only lowering checks, most of all if both factors are in
  // panels. So a tile for wide instructions is tried first, and then a tile
  // without them.
  jit::GpuModel narrow = gpu;
  std::erase_if(narrow.matrices, [](const loops::MatrixType& type) {
    return jit::WarpsOfMatrix(type) > 1;
  });
  const bool has_wide = narrow.matrices.size() != gpu.matrices.size();
  for (const bool directly : {true, false}) {
    if (directly && root != product) continue;
    for (const jit::GpuModel* model : {&gpu, &std::as_const(narrow)}) {
      if (model == &narrow && !has_wide) continue;
      std::optional<MatrixPlan> plan =
          PlanMatricesOnGpu(*model, c, number, /*through_memory=*/!directly);
      if (!plan) continue;
      if (directly && !MayStoreDirectly(c, number, *plan)) continue;
      for (const bool has_row_panels : {true, false}) {
        if (has_row_panels && !plan->has_row_panels) continue;
        plan->has_row_panels = has_row_panels;
        Schedule trial = packed;
        ScheduleWriter trial_writer(trial);
        std::set<StageRef> trial_done = packed_done;
        std::optional<LoopRef> point =
            directly ? StoreMatrices(*model, *plan, product, trial_writer)
                     : StoreMatricesForRoot(*model, *plan, root, product,
                                            trial_done, trial_writer);
        // Alignment and strides are known only after lowering, so the trial
        // schedule is lowered before it is accepted.
        if (!point || !trial_writer.status().ok()) continue;
        const auto nest = Lower(trial);
        if (!nest.ok()) continue;
        if (plan->IsWide() &&
            !jit::HasPanelsForWideProducts(*nest, has_row_panels)) {
          continue;
        }
        writer.Replace(std::move(trial));
        done = std::move(trial_done);
        done.insert(product);
        return point;
      }
    }
  }
  return std::nullopt;
}

}  // namespace ember::schedule

#include "jit/schedule/testing/random_matrix_steps.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "jit/loops/analysis/matrix_operation.h"

namespace ember::schedule {
namespace {

using tensor::Opcode;

// The loops over a product's rows, columns and steps of the sum, in this order.
using Three = std::array<LoopRef, 3>;
using Extents = std::array<int64_t, 3>;

class MatrixSteps {
 public:
  MatrixSteps(const Computation& c, tensor::RandomChoices& choices,
              int& next_name)
      : c_(c), choices_(choices), next_name_(next_name) {}

  std::vector<Step> Run() {
    for (const ComputationStage& stage : c_.stages) {
      std::vector<BufferRef> factors;
      if (!HasMatrices(stage, factors)) continue;
      const size_t spatial = static_cast<size_t>(stage.spatial_count);
      const StageRef whole = {stage.name};
      Three axes = {LoopRef{whole, stage.axes[spatial - 2].name},
                    LoopRef{whole, stage.axes[spatial - 1].name},
                    LoopRef{whole, stage.axes.back().name}};
      Extents extents = {};
      for (int64_t& extent : extents) extent = 2 << choices_.Below(3);
      Plan(PadReduction{axes[2], extents[2]});
      if (!choices_.Chance(4)) {
        const StageRef computing = {NewName()};
        PlanTiles(computing, axes, extents);
        for (LoopRef& axis : axes) axis.stage = computing;
      }
      PlanProduct(stage, axes, extents, factors);
      break;
    }
    return std::move(steps_);
  }

 private:
  void Plan(Step step) { steps_.push_back(std::move(step)); }
  std::string NewName() { return "r" + std::to_string(next_name_++); }

  // True if the stage is a sum of products of types that matrices have. Sets
  // `factors` to the buffers that its two factors read.
  bool HasMatrices(const ComputationStage& stage,
                   std::vector<BufferRef>& factors) const {
    if (stage.combiner != tensor::Combiner::kSum || stage.spatial_count < 2 ||
        c_.pool[stage.values[0]].opcode != Opcode::kMultiply) {
      return false;
    }
    std::vector<DType> types;
    for (NodeId factor : c_.pool[stage.values[0]].operands) {
      const tensor::Node& cast = c_.pool[factor];
      if (cast.opcode != Opcode::kCast) return false;
      const tensor::Node& load = c_.pool[cast.operands[0]];
      if (load.opcode != Opcode::kLoad && load.opcode != Opcode::kPad)
        return false;
      types.push_back(load.type);
      factors.push_back({c_.buffers[load.buffer].name});
    }
    return loops::IsMatrixProductType(types[0], types[1],
                                      c_.pool[stage.values[0]].type);
  }

  // Plans steps that split off a new stage `computing`, which computes the
  // values of the original stage tile by tile. axes: loops of the original
  // stage.
  void PlanTiles(const StageRef& computing, const Three& axes,
                 const Extents& extents) {
    const StageRef& stage = axes[0].stage;
    Tile tile{.i = axes[0],
              .j = axes[1],
              .rows = 2 * extents[0],
              .columns = 2 * extents[1]};
    for (std::string* name :
         {&tile.outer_i, &tile.inner_i, &tile.outer_j, &tile.inner_j}) {
      *name = NewName();
    }
    Plan(CacheWrite{stage, computing.name});
    Plan(tile);
    Plan(ComputeAt{computing, {stage, tile.outer_j}});
    if (choices_.Chance(2)) Plan(Bind{{stage, tile.inner_j}});
  }

  // Plans the steps that make a product of matrices of the loops `axes`. These
  // belong to `stage` or to the stage that PlanTiles has split off from it.
  void PlanProduct(const ComputationStage& stage, const Three& axes,
                   const Extents& extents,
                   const std::vector<BufferRef>& factors) {
    const StageRef& product = axes[0].stage;
    Three outer, inner;
    for (size_t d = 0; d < 3; ++d) {
      outer[d] = {product, NewName()};
      inner[d] = {product, NewName()};
      Plan(Split{axes[d], extents[d], outer[d].name, inner[d].name});
    }
    // Decides at random if the loop over blocks of the sum is outside or inside
    // the loop over subgroups.
    const bool is_around = !choices_.Chance(4);
    Three order = {outer[0], outer[2], outer[1]};
    if (is_around) std::swap(order[0], order[1]);
    Reorder reorder;
    for (size_t a = 0; a + 1 < stage.axes.size(); ++a) {
      const std::string& name = stage.axes[a].name;
      if (name != axes[0].name && name != axes[1].name)
        reorder.loops.push_back({product, name});
    }
    for (const Three* loops : {&order, &inner})
      reorder.loops.insert(reorder.loops.end(), loops->begin(), loops->end());
    Plan(std::move(reorder));
    Plan(Unroll{outer[1]});
    for (const BufferRef& factor : factors) {
      if (choices_.Chance(8)) continue;
      const StageRef slice = {NewName()};
      Plan(CacheRead{.reader = product, .buffer = factor, .copy = slice.name});
      if (is_around) Plan(ComputeAt{slice, outer[2]});
    }
    Plan(MultiplyMatrices{outer[0], inner[0], inner[1], inner[2]});
  }

  const Computation& c_;
  tensor::RandomChoices& choices_;
  int& next_name_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> PlanRandomMatrices(const Computation& computation,
                                     tensor::RandomChoices& choices,
                                     int& next_name) {
  return MatrixSteps(computation, choices, next_name).Run();
}

}  // namespace ember::schedule


#include "jit/schedule/testing/random_matrix_lines.h"

#include <array>
#include <utility>

#include "jit/loops/analysis/matrix_operation.h"

namespace ember::schedule {
namespace {

using tensor::Opcode;

// The loops of a product: rows, columns, steps.
using Three = std::array<std::string, 3>;

class MatrixLines {
 public:
  MatrixLines(const Computation& c, tensor::RandomChoices& choices,
              int& next_name)
      : c_(c), choices_(choices), next_name_(next_name) {}

  std::vector<std::string> Run() {
    for (const ComputationStage& stage : c_.stages) {
      std::vector<std::string> factors;
      if (!HasMatrices(stage, factors)) continue;
      const size_t spatial = static_cast<size_t>(stage.spatial_count);
      const Three axes = {stage.axes[spatial - 2].name,
                          stage.axes[spatial - 1].name, stage.axes.back().name};
      std::array<int, 3> extents = {};
      for (int& extent : extents) extent = 2 << choices_.Below(3);
      lines_.push_back("pad %" + stage.name + " " + axes[2] + " " +
                       std::to_string(extents[2]));
      std::string computing = stage.name;
      if (!choices_.Chance(4)) {
        computing = NewName();
        WriteTiles(stage.name, computing, axes, extents);
      }
      WriteProduct(stage, " %" + computing + " ", axes, extents, factors);
      break;
    }
    return std::move(lines_);
  }

 private:
  std::string NewName() { return "r" + std::to_string(next_name_++); }

  // True if the stage is a sum of products whose types matrices have. Sets the
  // buffers that its factors read.
  bool HasMatrices(const ComputationStage& stage,
                   std::vector<std::string>& factors) const {
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
      factors.push_back(c_.buffers[load.buffer].name);
    }
    return loops::IsMatrixProductType(types[0], types[1],
                                      c_.pool[stage.values[0]].type);
  }

  // Writes the lines that make `stage` read its values from the new stage
  // `computing`, which computes them tile by tile.
  void WriteTiles(const std::string& stage, const std::string& computing,
                  const Three& axes, const std::array<int, 3>& extents) {
    const std::string at = " %" + stage + " ";
    const std::string i0 = NewName(), i1 = NewName(), j0 = NewName(),
                      j1 = NewName();
    lines_.push_back("cache_write" + at + "-> " + computing);
    lines_.push_back("tile" + at + axes[0] + " " + axes[1] + " " +
                     std::to_string(2 * extents[0]) + " " +
                     std::to_string(2 * extents[1]) + " -> " + i0 + " " + j0 +
                     " " + i1 + " " + j1);
    lines_.push_back("compute_at %" + computing + at + j0);
    if (choices_.Chance(2)) lines_.push_back("bind" + at + j1);
  }

  void WriteProduct(const ComputationStage& stage, const std::string& at,
                    const Three& axes, const std::array<int, 3>& extents,
                    const std::vector<std::string>& factors) {
    Three outer, inner;
    for (size_t d = 0; d < 3; ++d) {
      outer[d] = NewName();
      inner[d] = NewName();
      lines_.push_back("split" + at + axes[d] + " " +
                       std::to_string(extents[d]) + " -> " + outer[d] + " " +
                       inner[d]);
    }
    // Chooses if the loop over the sum's steps is around the loop over
    // subgroups, or within it.
    const bool is_around = !choices_.Chance(4);
    Three order = {outer[0], outer[2], outer[1]};
    if (is_around) std::swap(order[0], order[1]);
    std::string reorder = "reorder" + at;
    for (size_t a = 0; a + 1 < stage.axes.size(); ++a) {
      if (stage.axes[a].name != axes[0] && stage.axes[a].name != axes[1])
        reorder += stage.axes[a].name + " ";
    }
    for (const std::string& loop : order) reorder += loop + " ";
    for (const std::string& loop : inner) reorder += loop + " ";
    lines_.push_back(reorder);
    lines_.push_back("unroll" + at + outer[1]);
    for (const std::string& factor : factors) {
      if (choices_.Chance(8)) continue;
      const std::string slice = NewName();
      lines_.push_back("cache_read" + at + "%" + factor + " -> " + slice);
      if (is_around) lines_.push_back("compute_at %" + slice + at + outer[2]);
    }
    lines_.push_back("multiply_matrices" + at + outer[0] + " " + inner[0] +
                     " " + inner[1] + " " + inner[2]);
  }

  const Computation& c_;
  tensor::RandomChoices& choices_;
  int& next_name_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> PlanRandomMatrices(const Computation& computation,
                                            tensor::RandomChoices& choices,
                                            int& next_name) {
  return MatrixLines(computation, choices, next_name).Run();
}

}  // namespace ember::schedule

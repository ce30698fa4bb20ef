// Chooses vectors for stages whose points are contiguous in memory (elementwise
// arithmetic, copies, pooling along channels): an invocation has neighbours,
// which it loads and stores at once.
#include "jit/schedule/gpu/vector_rule.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "jit/loops/walk.h"
#include "jit/schedule/gpu/points.h"
#include "jit/schedule/rules/stage_shape.h"
#include "tensor/builder/linear.h"

namespace ember::schedule {
namespace {

using tensor::Combiner;
using tensor::Opcode;

// kVectorBytes: number of bytes that one instruction moves. kWidestElement:
// largest size of an element of which one instruction moves several.
constexpr int64_t kVectorBytes = 16;
constexpr int64_t kWidestElement = 4;
// Largest number of instructions in the unrolled code of a point, for all lanes
// together.
constexpr int64_t kMaxInstructions = 1600;

// True if the elements of `lanes` neighbours along the axis are an aligned
// vector: in a buffer with these extents they begin at a multiple of `lanes`
// whenever the axis' value does.
bool IsAligned(const Computation& c, std::span<const NodeId> indices,
               std::span<const NodeId> extents, NodeId axis, int64_t lanes) {
  if (indices.empty()) return false;
  const auto last = tensor::Linearize(c.pool, indices.back());
  if (!last || last->constant % lanes != 0) return false;
  for (const tensor::LinearTerm& term : last->terms) {
    if (term.node != axis && term.coefficient % lanes != 0) return false;
  }
  const auto row = c.pool.IntegerConstant(extents.back());
  return row && *row % lanes == 0;
}

int64_t InstructionsOf(const Computation& c, const ComputationStage& stage) {
  return std::ranges::count_if(
      loops::NodesUnder(c.pool, stage.values),
      [&](NodeId id) { return c.pool[id].opcode != Opcode::kAxis; });
}

bool StoresTo(const Computation& c, int stage, uint32_t buffer) {
  return std::ranges::any_of(
      c.stages[static_cast<size_t>(stage)].stores,
      [&](const ComputationStore& store) { return store.buffer == buffer; });
}

// Returns the root and the stages whose values differ between neighbours along
// the root's last axis. Returns nullopt if the values of some stage for such
// neighbours are not contiguous, or if a stage other than the root is a
// reduction.
std::optional<std::vector<int>> StagesAlong(const Computation& c, int root,
                                            const std::set<int>& joined) {
  std::vector<int> along = {root};
  for (size_t i = 0; i < along.size(); ++i) {
    const StageShape shape(c, along[i]);
    const int axis = shape.spatial_count() - 1;
    const bool is_reduction = i > 0 && shape.stage().has_reduction();
    if (axis < 0 || !shape.StoresAlong(axis) || is_reduction)
      return std::nullopt;
    for (NodeId load : shape.loads()) {
      const auto stage = std::ranges::find_if(joined, [&](int made_by) {
        return StoresTo(c, made_by, c.pool[load].buffer);
      });
      if (stage == joined.end()) continue;
      const Stride stride = shape.StrideOf(load, axis);
      if (stride == Stride::kOther) return std::nullopt;
      if (stride == Stride::kUnit &&
          std::ranges::find(along, *stage) == along.end())
        along.push_back(*stage);
    }
  }
  return along;
}

std::set<int> NumbersOf(const Computation& c,
                        const std::set<StageRef>& stages) {
  std::set<int> numbers;
  for (const StageRef& stage : stages) numbers.insert(c.FindStage(stage.name));
  return numbers;
}

// True if all loads and stores of the stage are aligned vectors of `lanes`
// neighbours along its last axis. own: buffers that need no alignment, because
// invocations keep them in registers.
bool FitVectors(const Computation& c, const StageShape& shape,
                const std::set<uint32_t>& own, int64_t lanes) {
  const ComputationStage& stage = shape.stage();
  const int axis = shape.spatial_count() - 1;
  const NodeId variable = stage.axes[static_cast<size_t>(axis)].variable;
  const auto extent = shape.Extent(axis);
  if (!extent || *extent % lanes != 0) return false;
  for (const ComputationStore& store : stage.stores) {
    if (store.update != tensor::Update::kAssign) return false;
    if (!own.contains(store.buffer) &&
        !IsAligned(c, store.indices, c.buffers[store.buffer].extents, variable,
                   lanes)) {
      return false;
    }
  }
  return std::ranges::all_of(shape.loads(), [&](NodeId load) {
    const tensor::Node& node = c.pool[load];
    if (own.contains(node.buffer)) return true;
    const auto& extents = c.buffers[node.buffer].extents;
    switch (shape.StrideOf(load, axis)) {
      case Stride::kNone:
        return true;
      case Stride::kUnit:
        return IsAligned(c, std::span(node.operands).first(extents.size()),
                         extents, variable, lanes);
      case Stride::kOther:
        break;
    }
    return false;
  });
}

// Returns the bytes of the widest element that the stage loads from memory or
// stores to it. own: buffers in registers, which do not count.
int64_t WidestBytes(const Computation& c, const StageShape& shape,
                    const std::set<uint32_t>& own) {
  int64_t bytes = 1;
  for (const ComputationStore& store : shape.stage().stores) {
    if (!own.contains(store.buffer))
      bytes =
          std::max<int64_t>(bytes, DTypeByteSize(c.buffers[store.buffer].type));
  }
  for (NodeId load : shape.loads()) {
    if (!own.contains(c.pool[load].buffer))
      bytes = std::max<int64_t>(bytes, shape.BytesOf(load));
  }
  return bytes;
}

}  // namespace

int64_t LanesOfPoints(const jit::GpuModel& gpu, const Computation& c,
                      const StageRef& root, const std::set<StageRef>& joined) {
  const int number = c.FindStage(root.name);
  const std::set<int> inside = NumbersOf(c, joined);
  const auto along = StagesAlong(c, number, inside);
  if (!along) return 1;
  std::set<uint32_t> own;
  for (const int stage : inside) {
    for (const ComputationStore& store :
         c.stages[static_cast<size_t>(stage)].stores)
      own.insert(store.buffer);
  }
  int64_t bytes = 1, instructions = 0;
  for (const int each : *along) {
    const StageShape shape(c, each);
    const ComputationStage& stage = shape.stage();
    if (stage.combiner == Combiner::kFold) return 1;
    bytes = std::max(bytes, WidestBytes(c, shape, own));
    instructions += InstructionsOf(c, stage);
  }
  if (bytes > kWidestElement) return 1;
  const StageShape shape(c, number);
  const int64_t points = shape.LikelyPoints(0, shape.spatial_count());
  for (int64_t lanes = kVectorBytes / bytes; lanes > 1; lanes /= 2) {
    if (points >= lanes * gpu.busy_invocations &&
        instructions * lanes <= kMaxInstructions &&
        std::ranges::all_of(*along, [&](int stage) {
          return FitVectors(c, StageShape(c, stage), own, lanes);
        })) {
      return lanes;
    }
  }
  return 1;
}

bool HaveLanes(const Computation& c, const StageRef& root,
               const std::set<StageRef>& joined) {
  const auto along =
      StagesAlong(c, c.FindStage(root.name), NumbersOf(c, joined));
  return along.has_value();
}

bool VectorizeJoined(const StageRef& root, const std::set<StageRef>& joined,
                     ScheduleWriter& writer) {
  const Computation& c = writer.computation();
  const auto along =
      StagesAlong(c, c.FindStage(root.name), NumbersOf(c, joined));
  if (!along) return false;
  for (const int stage : std::span(*along).subspan(1)) {
    if (!VectorizeLast({c.stages[static_cast<size_t>(stage)].name}, writer))
      return false;
  }
  return true;
}

}  // namespace ember::schedule

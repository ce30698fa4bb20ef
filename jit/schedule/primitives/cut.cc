// cut: divides a stage's points between two stages.
//
//   %s[i, j] = sum(k < 64) %a[i, k] * %b[k, j]     i < 100
//   %y[i, j] = max(%s[i, j], 0.0)
//
// becomes, by `cut %y i 64 -> rest`, with a %s of 64 rows,
//
//   %s[i, j]      = sum(k < 64) %a[i, k] * %b[k, j]           i < 64
//   %y[i, j]      = max(%s[i, j], 0.0)                        i < 64
//   %rest.s[i, j] = sum(k < 64) %a[i + 64, k] * %b[k, j]      i < 36
//   rest: %y[i + 64, j] = max(%rest.s[i, j], 0.0)             i < 36
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/rewrite.h"
#include "jit/schedule/primitives/primitives.h"
#include "tensor/builder/simplify.h"
#include "tensor/names.h"

namespace ember::schedule {
namespace {

using tensor::Opcode;

// A stage that is to be cut in two, and the number of the axis along which it
// is cut.
struct CutStage {
  int number = 0;
  size_t axis = 0;
};

// Finds the stages that are cut together: the given stage, and the earlier
// stages that are computed only for it. Such a stage is read by stages to be
// cut only, and only at the reader's own point of the axis.
class CutStages {
 public:
  CutStages(const Computation& c, int root, size_t axis)
      : c_(c), stages_{{root, axis}} {
    for (int stage = root - 1; stage >= 0; --stage) {
      const std::optional<size_t> dim = DimOf(stage);
      if (dim) stages_.insert(stages_.begin(), {stage, *dim});
    }
  }

  // the stages to be cut, in order
  const std::vector<CutStage>& stages() const { return stages_; }

 private:
  const CutStage* Find(int stage) const {
    const auto found = std::ranges::find(stages_, stage, &CutStage::number);
    return found == stages_.end() ? nullptr : &*found;
  }

  // Returns the number of the axis along which a stage must be cut. The stage
  // must come before those found so far, which include all its readers. Returns
  // nullopt if it is not to be cut.
  std::optional<size_t> DimOf(int number) const {
    const ComputationStage& stage = c_.stages[static_cast<size_t>(number)];
    const std::vector<int> readers = ConsumersOf(c_, number);
    const bool is_of_these =
        !readers.empty() && std::ranges::all_of(readers, [&](int reader) {
          return Find(reader) != nullptr;
        });
    if (!is_of_these || !StoresAreIdentity(c_, number) ||
        !std::ranges::all_of(stage.stores, [&](const ComputationStore& store) {
          return c_.buffers[store.buffer].role == BufferRole::kTemporary;
        })) {
      return std::nullopt;
    }
    std::optional<size_t> dim;
    bool is_in_place = true;
    for (const int reader : readers) {
      const ComputationStage& reading = c_.stages[static_cast<size_t>(reader)];
      const ComputationAxis& axis = reading.axes[Find(reader)->axis];
      ForEachLoad(c_.pool, RootsOf(reading), [&](NodeId load) {
        if (!Stores(stage, c_.pool[load].buffer)) return;
        const std::optional<size_t> found = DimAt(load, axis);
        is_in_place &= found.has_value() && (!dim || dim == found) &&
                       stage.axes[found.value_or(0)].extent == axis.extent;
        dim = found;
      });
    }
    return is_in_place ? dim : std::nullopt;
  }

  static bool Stores(const ComputationStage& stage, uint32_t buffer) {
    return std::ranges::find(stage.stores, buffer, &ComputationStore::buffer) !=
           stage.stores.end();
  }

  // Returns the first dim of the loaded buffer whose index is the axis; nullopt
  // if there is none, or if the load is padded.
  std::optional<size_t> DimAt(NodeId load, const ComputationAxis& axis) const {
    const tensor::Node& node = c_.pool[load];
    if (node.opcode != Opcode::kLoad) return std::nullopt;
    const auto index = std::ranges::find(node.operands, axis.variable);
    if (index == node.operands.end()) return std::nullopt;
    return static_cast<size_t>(index - node.operands.begin());
  }

  const Computation& c_;
  std::vector<CutStage> stages_;
};

// Makes stages that compute a part of other stages' results: `extent` points of
// an axis, from point `first` on.
class PartMaker {
 public:
  PartMaker(Computation& c, int64_t first, int64_t extent)
      : c_(c), first_(first), extent_(extent) {}

  // Makes the stages that are made later read the buffer `part`. It holds a
  // part of the elements of `buffer` along dim `dim`.
  void Replace(uint32_t buffer, size_t dim, uint32_t part) {
    replaced_.push_back({buffer, dim, part});
  }

  ComputationStage Make(const ComputationStage& whole, size_t axis) {
    ComputationStage part = whole;
    for (size_t a = 0; a < whole.axes.size(); ++a) {
      part.axes[a] =
          c_.MakeAxis(whole.axes[a].name, a == axis ? c_.pool.Integer(extent_)
                                                    : whole.axes[a].extent);
    }
    own_ = part.axes[axis].variable;
    const NodeId moved[] = {own_, c_.pool.Integer(first_)};
    const NodeId shifted =
        tensor::Simplifier(c_.pool).Make(Opcode::kAdd, DType::kI64, moved);
    Rewriter rewriter(
        c_.pool, c_.pool,
        [&](NodeId id) -> std::optional<NodeId> {
          for (size_t a = 0; a < whole.axes.size(); ++a) {
            if (whole.axes[a].variable != id) continue;
            return a == axis ? shifted : part.axes[a].variable;
          }
          return std::nullopt;
        },
        [&](NodeId id, std::span<const NodeId> operands) {
          return LoadOfPart(id, operands);
        });
    for (std::vector<NodeId>* nodes :
         {&part.values, &part.initial, &part.results}) {
      *nodes = rewriter.Rewrite(*nodes);
    }
    if (part.useful) {
      part.useful->end = rewriter.Rewrite(part.useful->end);
      if (part.useful->begin)
        part.useful->begin = rewriter.Rewrite(*part.useful->begin);
    }
    if (part.end) part.end = rewriter.Rewrite(*part.end);
    for (ComputationStore& store : part.stores) {
      store.indices = rewriter.Rewrite(store.indices);
      const Replaced* replaced = Find(store.buffer);
      if (replaced == nullptr) continue;
      store.buffer = replaced->part;
      store.indices[replaced->dim] = own_;
    }
    return part;
  }

 private:
  struct Replaced {
    uint32_t buffer;
    size_t dim;
    uint32_t part;
  };

  const Replaced* Find(uint32_t buffer) const {
    const auto found = std::ranges::find(replaced_, buffer, &Replaced::buffer);
    return found == replaced_.end() ? nullptr : &*found;
  }

  std::optional<NodeId> LoadOfPart(NodeId id,
                                   std::span<const NodeId> operands) {
    const tensor::Node node = c_.pool[id];
    if (node.opcode != Opcode::kLoad) return std::nullopt;
    const Replaced* replaced = Find(node.buffer);
    if (replaced == nullptr) return std::nullopt;
    std::vector<NodeId> indices(operands.begin(), operands.end());
    indices[replaced->dim] = own_;
    return c_.pool.Intern(Opcode::kLoad, node.type, indices, node.immediate,
                          /*scope=*/1, replaced->part);
  }

  Computation& c_;
  const int64_t first_, extent_;
  // variable of the axis along which the stage that is being made was cut
  NodeId own_ = 0;
  std::vector<Replaced> replaced_;
};

Status CheckCut(const Schedule& schedule, const std::vector<CutStage>& stages) {
  const Computation& c = schedule.computation();
  for (const CutStage& cut : stages) {
    const Status unchanged = CheckUnchanged(schedule, cut.number, "cut");
    const std::string& name = c.stages[static_cast<size_t>(cut.number)].name;
    if (!unchanged.ok()) {
      return FailedPreconditionError("%" + name + ": " +
                                     std::string(unchanged.message()));
    }
    // The first part of the results is stored before the second part is
    // computed. A stage that reads an input which results may overwrite cannot
    // be cut.
    if (ReadsOverwritten(c, cut.number)) {
      return FailedPreconditionError("%" + name +
                                     " reads what results may overwrite");
    }
  }
  if (!StoresAreDistinct(c, stages.back().number)) {
    return FailedPreconditionError(
        "points of the stage may store to one element, in their order");
  }
  return OkStatus();
}

}  // namespace

Status Change(const Cut& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int root, Find(schedule, step.axis.stage));
  const int64_t first = step.first;
  Computation& c = schedule.mutable_computation();
  const ComputationStage& stage = c.stages[static_cast<size_t>(root)];
  const auto points =
      std::span(stage.axes).first(static_cast<size_t>(stage.spatial_count));
  const auto found =
      std::ranges::find(points, step.axis.name, &ComputationAxis::name);
  if (found == points.end()) {
    return InvalidArgumentError("expected an axis of the points of %" +
                                stage.name + ", found '" + step.axis.name +
                                "'");
  }
  const std::optional<int64_t> extent = c.pool.IntegerConstant(found->extent);
  if (!extent || first < 1 || first >= *extent) {
    return InvalidArgumentError(
        "expected a number from 1 to less than the constant extent of '" +
        step.axis.name + "', found " + std::to_string(first));
  }
  const std::string& name = step.rest;
  const auto cut =
      CutStages(c, root, static_cast<size_t>(found - points.begin())).stages();
  EMBER_RETURN_IF_ERROR(CheckCut(schedule, cut));
  const auto is_taken = [&](const std::string& other) {
    return c.FindBuffer(other) >= 0 || c.FindStage(other) >= 0;
  };
  bool is_new = tensor::IsPlainName(name) && !is_taken(name);
  for (const CutStage& member : cut) {
    for (const ComputationStore& store :
         c.stages[static_cast<size_t>(member.number)].stores) {
      is_new &= !is_taken(name + "." + c.buffers[store.buffer].name);
    }
  }
  if (!is_new) {
    return InvalidArgumentError("expected a new name for the rest, found '" +
                                name + "'");
  }
  PartMaker begin(c, 0, first), rest(c, first, *extent - first);
  std::vector<ComputationStage> rests;
  for (const CutStage& member : cut) {
    const size_t number = static_cast<size_t>(member.number);
    const ComputationStage whole = c.stages[number];
    const bool is_root = member.number == root;
    for (const ComputationStore& store : whole.stores) {
      if (is_root) break;
      const uint32_t made = static_cast<uint32_t>(c.buffers.size());
      ComputationBuffer buffer = c.buffers[store.buffer];
      buffer.name = name + "." + buffer.name;
      buffer.extents[member.axis] = c.pool.Integer(*extent - first);
      c.buffers.push_back(std::move(buffer));
      c.buffers[store.buffer].extents[member.axis] = c.pool.Integer(first);
      begin.Replace(store.buffer, member.axis, store.buffer);
      rest.Replace(store.buffer, member.axis, made);
    }
    rests.push_back(rest.Make(whole, member.axis));
    rests.back().name = is_root ? name : name + "." + whole.name;
    c.stages[number] = begin.Make(whole, member.axis);
    schedule.mutable_plan(member.number) = DefaultPlan(c.stages[number]);
  }
  for (size_t i = 0; i < rests.size(); ++i) {
    schedule.InsertStage(root + 1 + static_cast<int>(i), std::move(rests[i]));
  }
  return OkStatus();
}

}  // namespace ember::schedule

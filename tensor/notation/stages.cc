#include "tensor/notation/stages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "tensor/dispatch.h"
#include "tensor/names.h"

namespace ember::tensor {
namespace {

constexpr size_t kMaxTensors = 1000;

using AxisSet = std::set<size_t>;

// Lowers one statement to stages.
class StatementLowering {
 public:
  StatementLowering(const NotationStatement& statement,
                    std::vector<NodeId> extents, const NameScope& header,
                    Draft& draft)
      : statement_(statement),
        extents_(std::move(extents)),
        header_(header),
        draft_(draft),
        temporaries_(statement.reductions.size()) {}

  Status Run() {
    FindFreeAxes();
    const bool is_reduction = statement_.value.kind == Expression::kSigil;
    const size_t root = is_reduction ? ReductionOf(statement_.value) : 0;
    for (size_t i = 0; i < statement_.reductions.size(); ++i) {
      if (!is_reduction || i != root) EMBER_RETURN_IF_ERROR(MakeTemporary(i));
    }
    std::vector<size_t> spatial;
    for (size_t i = 0; i < statement_.spatial_count; ++i) spatial.push_back(i);
    if (is_reduction) return MakeStage(spatial, &statement_.reductions[root]);
    return MakeStage(spatial, nullptr);
  }

 private:
  // The temporary to which a reduction inside an expression is stored.
  struct Temporary {
    std::vector<size_t> axes;
    uint32_t buffer = 0;
  };

  // --- free axes ---

  void AddFreeAxes(const Expression& e, AxisSet& axes) const {
    if (e.kind == Expression::kName) {
      if (const auto axis = statement_.FindAxis(e.token.text))
        axes.insert(*axis);
    } else if (e.kind == Expression::kSigil) {
      const auto& inner = temporaries_[ReductionOf(e)].axes;
      axes.insert(inner.begin(), inner.end());
    }
    for (const Expression& operand : e.operands) AddFreeAxes(operand, axes);
  }

  // Finds the axes on which each reduction depends, apart from its own. A
  // reduction precedes those that contain it, so its axes are known before they
  // are needed.
  void FindFreeAxes() {
    for (size_t i = 0; i < statement_.reductions.size(); ++i) {
      AxisSet axes;
      AddFreeAxes(statement_.reductions[i].body, axes);
      for (const size_t axis : statement_.reductions[i].axes) axes.erase(axis);
      temporaries_[i].axes.assign(axes.begin(), axes.end());
    }
  }

  // --- stages ---

  std::string NewName(std::string_view name) const {
    std::vector<std::string> taken;
    for (const DraftBuffer& buffer : draft_.buffers)
      taken.push_back(buffer.name);
    return MakeSigilName(name, taken);
  }

  NodeId AxisNode(size_t axis, uint64_t number, int scope) {
    return draft_.pool.Intern(Opcode::kAxis, DType::kI64, {&extents_[axis], 1},
                              number, scope);
  }

  // Adds a stage with these axes to the draft. Returns the names that the
  // stage's expressions may use.
  NameScope BeginStage(const std::vector<size_t>& spatial,
                       const NotationReduction* reduction) {
    DraftStage& stage = draft_.stages.emplace_back();
    NameScope names = header_;
    names.scope = static_cast<int>(draft_.stages.size());
    uint64_t number = 0;
    const auto add = [&](size_t axis, std::vector<DraftAxis>& axes) {
      const std::string& name = statement_.axes[axis].name;
      axes.push_back({name, extents_[axis]});
      names.names[name] = AxisNode(axis, number++, names.scope);
    };
    for (const size_t axis : spatial) add(axis, stage.spatial);
    if (reduction == nullptr) return names;
    stage.combiner = reduction->combiner;
    for (const size_t axis : reduction->axes) add(axis, stage.reduction);
    return names;
  }

  // Binds the name of each reduction in the expression to a load of the
  // temporary that holds the reduction's result.
  void NameTemporaries(const Expression& e, NameScope& names) {
    for (const Expression& operand : e.operands)
      NameTemporaries(operand, names);
    if (e.kind != Expression::kSigil) return;
    const Temporary& temporary = temporaries_[ReductionOf(e)];
    std::vector<NodeId> indices;
    for (const size_t axis : temporary.axes)
      indices.push_back(names.names.find(statement_.axes[axis].name)->second);
    names.sigils[std::string(e.token.name())] =
        draft_.pool.Intern(Opcode::kLoad, draft_.buffers[temporary.buffer].type,
                           indices, 0, names.scope, temporary.buffer);
  }

  // Ends the stage: adds a new tensor to which it stores, with the spatial axes
  // as indices. Returns the number of the tensor's buffer.
  StatusOr<uint32_t> StoreNew(std::string name, BufferKind kind,
                              const std::vector<size_t>& spatial,
                              const Expression& value, const Token& token,
                              NameScope& names) {
    EMBER_RETURN_IF_ERROR(CheckTensorCount(token, draft_));
    NameTemporaries(value, names);
    EMBER_ASSIGN_OR_RETURN(const NodeId node,
                           Resolve(value, {}, names, draft_));
    DraftBuffer buffer{std::move(name), draft_.pool[node].type, kind, {}};
    const auto number = static_cast<uint32_t>(draft_.buffers.size());
    DraftStore store{number, {}, Update::kAssign};
    for (const size_t axis : spatial) {
      buffer.extents.push_back(extents_[axis]);
      store.indices.push_back(
          names.names.find(statement_.axes[axis].name)->second);
    }
    draft_.buffers.push_back(std::move(buffer));
    draft_.stages.back().values.push_back(node);
    draft_.stages.back().stores.push_back(std::move(store));
    return number;
  }

  Status MakeTemporary(size_t i) {
    const NotationReduction& reduction = statement_.reductions[i];
    NameScope names = BeginStage(temporaries_[i].axes, &reduction);
    const std::string name =
        NewName(Concat({statement_.target.text, "_", reduction.token.text}));
    EMBER_ASSIGN_OR_RETURN(
        temporaries_[i].buffer,
        StoreNew(name, BufferKind::kTemporary, temporaries_[i].axes,
                 reduction.body, reduction.token, names));
    return OkStatus();
  }

  Status MakeStage(const std::vector<size_t>& spatial,
                   const NotationReduction* reduction) {
    NameScope names = BeginStage(spatial, reduction);
    const Expression& value =
        reduction != nullptr ? reduction->body : statement_.value;
    const Token& target = statement_.target;
    if (statement_.is_new) {
      return StoreNew(std::string(target.text), BufferKind::kOutput, spatial,
                      value, target, names)
          .status();
    }
    const auto buffer = static_cast<uint32_t>(
        std::ranges::find(draft_.buffers, target.text, &DraftBuffer::name) -
        draft_.buffers.begin());
    NameTemporaries(value, names);
    EMBER_ASSIGN_OR_RETURN(
        const NodeId node,
        ResolveAs(value, draft_.buffers[buffer].type, names, draft_));
    DraftStore store{buffer, {}, statement_.update};
    for (const Expression& index : statement_.indices) {
      EMBER_ASSIGN_OR_RETURN(const NodeId element,
                             ResolveAs(index, DType::kI64, names, draft_));
      store.indices.push_back(element);
    }
    draft_.stages.back().values.push_back(node);
    draft_.stages.back().stores.push_back(std::move(store));
    return OkStatus();
  }

  const NotationStatement& statement_;
  std::vector<NodeId> extents_;
  const NameScope& header_;
  Draft& draft_;
  std::vector<Temporary> temporaries_;
};

}  // namespace

Status CheckTensorCount(const Token& name, const Draft& draft) {
  if (draft.buffers.size() < kMaxTensors) return OkStatus();
  return ErrorAt(name, Concat({"expected at most ", kMaxTensors, " tensors"}));
}

Status AddStages(const NotationStatement& statement,
                 std::vector<NodeId> extents, const NameScope& header,
                 Draft& draft) {
  return StatementLowering(statement, std::move(extents), header, draft).Run();
}

}  // namespace ember::tensor

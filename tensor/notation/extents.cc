#include "tensor/notation/extents.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/checked_math.h"
#include "base/concat.h"
#include "tensor/notation/linear_index.h"
#include "tensor/range_rules.h"

namespace ember::tensor {
namespace {

class Inference {
 public:
  Inference(const NotationStatement& statement, const NameScope& header,
            Draft& draft)
      : statement_(statement),
        header_(header),
        draft_(draft),
        extents_(statement.axes.size()) {}

  StatusOr<std::vector<NodeId>> Run() {
    Collect();
    EMBER_RETURN_IF_ERROR(TakeWritten());
    EMBER_RETURN_IF_ERROR(TakePlain());
    while (TakeSums()) {
    }
    for (size_t i = 0; i < extents_.size(); ++i)
      EMBER_RETURN_IF_ERROR(CheckExtent(i));
    for (const Use& use : uses_) EMBER_RETURN_IF_ERROR(CheckBounds(use));
    std::vector<NodeId> nodes;
    for (const auto& extent : extents_) nodes.push_back(extent->node);
    return nodes;
  }

 private:
  // A dim of a tensor and the linear index with which the statement accesses
  // it; indices in pads are left out.
  struct Use {
    Token token;  // the tensor's name in the text, to which errors refer
    size_t dim = 0;
    NodeId extent = 0;
    LinearIndex index;

    bool is_plain() const {
      return index.constant == 0 && index.factors.size() == 1 &&
             index.factors.begin()->second == 1;
    }
    size_t axis() const { return index.factors.begin()->first; }
  };

  struct Extent {
    NodeId node = 0;
    bool is_written = false;
    // the access from whose dim the axis's extent was taken
    const Use* from = nullptr;
  };

  std::optional<int64_t> ConstantOf(NodeId node) const {
    return draft_.pool.IntegerConstant(node);
  }
  std::string TextOf(NodeId node) const {
    if (const auto constant = ConstantOf(node))
      return std::to_string(*constant);
    const Node& made = draft_.pool[node];
    return made.opcode == Opcode::kParameter ? draft_.parameters[made.immediate]
                                             : "an expression of dims";
  }
  std::string NameOf(const Use& use) const {
    const std::string_view text = use.token.text;
    return Concat(
        {"dim ", use.dim, " of ", text.substr(text.starts_with('%') ? 1 : 0)});
  }

  // --- uses ---

  void Collect() {
    if (!statement_.is_new) {
      const DraftBuffer& target = *std::ranges::find(
          draft_.buffers, statement_.target.text, &DraftBuffer::name);
      AddUses(statement_.target, target, statement_.indices);
      for (const Expression& index : statement_.indices) Walk(index);
    }
    for (const NotationReduction& reduction : statement_.reductions)
      Walk(reduction.body);
    Walk(statement_.value);
  }

  void Walk(const Expression& e) {
    if (e.kind == Expression::kPad) {
      for (const Expression& index : e.operands[0].operands) Walk(index);
      Walk(e.operands[1]);
      return;
    }
    if (e.kind == Expression::kLoad) {
      const auto buffer = FindBuffer(e.token, draft_);
      if (buffer.ok()) AddUses(e.token, draft_.buffers[*buffer], e.operands);
    }
    for (const Expression& operand : e.operands) Walk(operand);
  }

  void AddUses(const Token& token, const DraftBuffer& buffer,
               const std::vector<Expression>& indices) {
    for (size_t i = 0; i < indices.size(); ++i) {
      auto linear = LinearOf(indices[i], statement_);
      if (linear)
        uses_.push_back({token, i, buffer.extents[i], *std::move(linear)});
    }
  }

  // --- extents ---

  Status TakeWritten() {
    for (size_t i = 0; i < extents_.size(); ++i) {
      const auto& written = statement_.axes[i].extent;
      if (!written) continue;
      const auto linear = LinearOf(*written, statement_);
      if (linear) {
        extents_[i] = {draft_.pool.Integer(linear->constant), true, nullptr};
        continue;
      }
      EMBER_ASSIGN_OR_RETURN(const NodeId node,
                             ResolveAs(*written, DType::kI64, header_, draft_));
      extents_[i] = {node, true, nullptr};
    }
    return OkStatus();
  }

  // Takes the extents of axes that are alone in an index, as i in x[i]: they
  // are those of the dims.
  Status TakePlain() {
    for (const Use& use : uses_) {
      if (!use.is_plain()) continue;
      auto& extent = extents_[use.axis()];
      if (!extent) extent = {use.extent, false, &use};
      if (extent->is_written || extent->node == use.extent) continue;
      return ErrorAt(
          use.token,
          Concat({"expected one extent of the axis ",
                  statement_.axes[use.axis()].token.text, ", found ",
                  TextOf(extent->node), " (", NameOf(*extent->from), ") and ",
                  TextOf(use.extent), " (", NameOf(use), ")"}));
    }
    return OkStatus();
  }

  // Returns the largest extent of the axis with which the access stays in
  // bounds; nullopt if the index does not grow with the axis, or if the extents
  // of other axes in it are not known yet.
  std::optional<NodeId> LargestExtent(const Use& use, size_t axis) {
    const int64_t factor = use.index.factors.at(axis);
    if (factor < 1) return std::nullopt;
    // The index is factor * axis + rest, so the axis is at most (last index -
    // rest) / factor.
    int64_t constant = -1 - use.index.constant;
    NodeId rest = use.extent;
    for (const auto& [other, term] : use.index.factors) {
      if (other == axis || term < 0) continue;
      if (!extents_[other]) return std::nullopt;
      const auto known = ConstantOf(extents_[other]->node);
      if (known) {
        const auto product = CheckedMultiply(term, *known - 1);
        const auto sum =
            product ? CheckedSubtract(constant, *product) : std::nullopt;
        if (!sum) return std::nullopt;
        constant = *sum;
        continue;
      }
      rest = Subtract(rest, Multiply(extents_[other]->node, term));
      constant += term;
    }
    if (!IsSmall(constant)) return std::nullopt;
    if (const auto known = ConstantOf(rest)) {
      return draft_.pool.Integer(FloorQuotient(*known + constant, factor) + 1);
    }
    if (factor == 1) return Add(rest, constant + 1);
    const NodeId operands[] = {Add(rest, constant),
                               draft_.pool.Integer(factor)};
    return Add(draft_.pool.Intern(Opcode::kFloorDivide, DType::kI64, operands),
               1);
  }

  // Takes extents of axes that occur only in sums, as i in x[i + r]. Returns
  // true if it took one.
  bool TakeSums() {
    bool is_changed = false;
    for (size_t axis = 0; axis < extents_.size(); ++axis) {
      if (extents_[axis]) continue;
      for (const Use& use : uses_) {
        if (!use.index.factors.contains(axis)) continue;
        const auto node = LargestExtent(use, axis);
        if (!node) continue;
        auto& extent = extents_[axis];
        if (!extent) extent = {*node, false, &use};
        extent->node = Smaller(extent->node, *node);
        is_changed = true;
      }
    }
    return is_changed;
  }

  NodeId Smaller(NodeId a, NodeId b) {
    if (a == b) return a;
    const auto x = ConstantOf(a), y = ConstantOf(b);
    if (x && y) return *x < *y ? a : b;
    const NodeId operands[] = {a, b};
    return draft_.pool.Intern(Opcode::kMinimum, DType::kI64, operands);
  }
  NodeId Binary(Opcode opcode, NodeId a, NodeId b) {
    const NodeId operands[] = {a, b};
    return draft_.pool.Intern(opcode, DType::kI64, operands);
  }
  NodeId Subtract(NodeId a, NodeId b) {
    return Binary(Opcode::kSubtract, a, b);
  }
  NodeId Multiply(NodeId a, int64_t factor) {
    return factor == 1
               ? a
               : Binary(Opcode::kMultiply, a, draft_.pool.Integer(factor));
  }
  NodeId Add(NodeId a, int64_t term) {
    if (term == 0) return a;
    return term > 0 ? Binary(Opcode::kAdd, a, draft_.pool.Integer(term))
                    : Subtract(a, draft_.pool.Integer(-term));
  }

  // --- checks ---

  Status CheckExtent(size_t axis) const {
    const Token& token = statement_.axes[axis].token;
    const auto& extent = extents_[axis];
    if (!extent) {
      return ErrorAt(
          token, Concat({"expected an index outside of pads from which the "
                         "extent of the axis ",
                         token.text, " follows, found none; write ", token.text,
                         " < EXTENT"}));
    }
    const auto constant = ConstantOf(extent->node);
    if (!constant || (*constant >= 0 && *constant <= kMaxExtent))
      return OkStatus();
    if (extent->from == nullptr) {
      return ErrorAt(token, Concat({"expected an extent from 0 to ", kMaxExtent,
                                    ", found ", *constant}));
    }
    return ErrorAt(token, Concat({"expected values of the axis ", token.text,
                                  " for which the index is in bounds, found "
                                  "none; ",
                                  NameOf(*extent->from), " is ",
                                  TextOf(extent->from->extent)}));
  }

  // Checks that an access is in bounds, if the extents that it depends on are
  // constants.
  Status CheckBounds(const Use& use) const {
    const auto extent = ConstantOf(use.extent);
    if (!extent) return OkStatus();
    int64_t low = use.index.constant, high = use.index.constant;
    for (const auto& [axis, term] : use.index.factors) {
      const auto known = ConstantOf(extents_[axis]->node);
      if (!known) return OkStatus();
      // An axis of extent 0 has no values, so the access never happens.
      if (*known == 0) return OkStatus();
      const auto product = CheckedMultiply(term, *known - 1);
      if (!product) return OkStatus();
      const auto sum = CheckedAdd(term < 0 ? low : high, *product);
      if (!sum) return OkStatus();
      (term < 0 ? low : high) = *sum;
    }
    if (low >= 0 && high < *extent) return OkStatus();
    return ErrorAt(use.token,
                   Concat({"expected an index of ", NameOf(use), " from 0 to ",
                           *extent - 1, ", found ", low, " to ", high,
                           "; write pad(...) for elements outside"}));
  }

  const NotationStatement& statement_;
  const NameScope& header_;
  Draft& draft_;
  std::vector<Use> uses_;
  std::vector<std::optional<Extent>> extents_;
};

}  // namespace

StatusOr<std::vector<NodeId>> InferExtents(const NotationStatement& statement,
                                           const NameScope& header,
                                           Draft& draft) {
  return Inference(statement, header, draft).Run();
}

}  // namespace ember::tensor

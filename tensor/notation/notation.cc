#include "tensor/notation/notation.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "base/concat.h"
#include "base/lexer.h"
#include "tensor/builder/draft.h"
#include "tensor/names.h"
#include "tensor/notation/extents.h"
#include "tensor/notation/statement_parser.h"
#include "tensor/range_rules.h"
#include "tensor/text/declaration_parser.h"
#include "tensor/text/expression_parser.h"
#include "tensor/text/tables.h"
#include "tensor/verifier/verifier.h"

namespace ember::tensor {
namespace {

// Largest number of tensors of a text; the parser searches them one by one.
constexpr size_t kMaxTensors = 1000;

using AxisSet = std::set<size_t>;

// Makes the stages of one statement.
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
  // A reduction that is a stage of its own.
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

  // Finds the axes on which each reduction depends. Inner ones come first.
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

  // Begins a stage with these axes and returns the names that it knows.
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

  // Makes the names of reductions that the expression uses loads of their
  // temporaries.
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

  // Ends the stage of a new tensor with its axes as indices. Returns the number
  // of the tensor's buffer.
  StatusOr<uint32_t> StoreNew(std::string name, BufferKind kind,
                              const std::vector<size_t>& spatial,
                              const Expression& value, const Token& token,
                              NameScope& names) {
    if (draft_.buffers.size() >= kMaxTensors)
      return ErrorAt(token,
                     Concat({"expected at most ", kMaxTensors, " tensors"}));
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

class NotationParser {
 public:
  explicit NotationParser(std::string_view text) : lexer_(text) {}

  Status Declare(std::span<const NotationInput> inputs) {
    for (const NotationInput& input : inputs) {
      if (!IsPlainName(input.name)) {
        return InvalidArgumentError(
            Concat({"expected a name for each input (letters, digits and _), "
                    "found '",
                    input.name, "'"}));
      }
      DraftBuffer buffer{input.name, input.type, BufferKind::kInput, {}};
      for (const NotationDim& dim : input.dims) {
        const auto node = DimNode(dim);
        if (!node.ok()) return node.status().WithContext("input " + input.name);
        buffer.extents.push_back(*node);
      }
      if (HasTensor(input.name)) {
        return InvalidArgumentError(
            Concat({"expected inputs of different names, found '", input.name,
                    "' again"}));
      }
      draft_.buffers.push_back(std::move(buffer));
    }
    return OkStatus();
  }

  StatusOr<Dispatch> Run(std::string_view name) {
    const Token start = lexer_.Peek();
    while (!lexer_.AtEnd() && !lexer_.Peek().Is("->")) {
      EMBER_RETURN_IF_ERROR(ParseItem());
      while (lexer_.Accept(";")) {
      }
    }
    if (draft_.stages.empty())
      return lexer_.ExpectedError("a statement, as in y[i] = 2 * x[i]");
    EMBER_RETURN_IF_ERROR(ChooseResults());
    draft_.name = name.empty() ? FirstResult() : std::string(name);
    Dispatch dispatch = Assemble(draft_);
    if (const Status status = Verify(dispatch); !status.ok())
      return ErrorAt(start, status.message());
    return dispatch;
  }

 private:
  bool HasTensor(std::string_view name) const {
    return std::ranges::find(draft_.buffers, name, &DraftBuffer::name) !=
           draft_.buffers.end();
  }

  // Returns the node of a dim; a new name becomes a parameter.
  StatusOr<NodeId> DimNode(const NotationDim& dim) {
    if (dim.name.empty()) {
      if (dim.extent >= 0 && dim.extent <= kMaxExtent)
        return draft_.pool.Integer(dim.extent);
      return InvalidArgumentError(Concat(
          {"expected dims from 0 to ", kMaxExtent, ", found ", dim.extent}));
    }
    if (!IsPlainName(dim.name)) {
      return InvalidArgumentError(Concat(
          {"expected a number or a name as a dim, found '", dim.name, "'"}));
    }
    const auto found = header_.names.find(dim.name);
    if (found != header_.names.end()) return found->second;
    const NodeId node = draft_.pool.Intern(Opcode::kParameter, DType::kI64, {},
                                           draft_.parameters.size());
    draft_.parameters.push_back(dim.name);
    header_.names.emplace(dim.name, node);
    return node;
  }

  // Parses a declaration or a statement.
  Status ParseItem() {
    EMBER_ASSIGN_OR_RETURN(
        const Token name,
        lexer_.Expect(Token::kIdentifier,
                      "a statement, as in y[i] = 2 * x[i], or the end"));
    if (!IsPlainName(name.text)) {
      return ErrorAt(name, Concat({"expected the name of a tensor, found '",
                                   name.text, "'"}));
    }
    if (lexer_.Accept(":")) return ParseDeclaration(name);
    StatementParser parser(lexer_, draft_, header_, texts_);
    EMBER_ASSIGN_OR_RETURN(const NotationStatement statement,
                           parser.ParseStatement(name));
    EMBER_ASSIGN_OR_RETURN(std::vector<NodeId> extents,
                           InferExtents(statement, header_, draft_));
    return StatementLowering(statement, std::move(extents), header_, draft_)
        .Run();
  }

  // Parses the type and dims of an input: f32[64, K].
  Status ParseDeclaration(const Token& name) {
    if (HasTensor(name.text)) {
      return ErrorAt(name, Concat({"expected a new tensor, found '", name.text,
                                   "' again"}));
    }
    if (draft_.buffers.size() >= kMaxTensors)
      return ErrorAt(name,
                     Concat({"expected at most ", kMaxTensors, " tensors"}));
    DraftBuffer buffer{
        std::string(name.text), DType::kF32, BufferKind::kInput, {}};
    EMBER_ASSIGN_OR_RETURN(buffer.type, ParseType(lexer_));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
    while (!lexer_.Accept("]")) {
      if (!buffer.extents.empty() && !lexer_.Accept(","))
        return lexer_.ExpectedError("',' or ']'");
      const Token token = lexer_.Peek();
      NotationDim dim;
      if (token.kind == Token::kIdentifier) {
        dim.name = lexer_.Next().text;
      } else {
        EMBER_ASSIGN_OR_RETURN(dim.extent,
                               lexer_.ExpectInteger("a number or a name"));
      }
      const auto node = DimNode(dim);
      if (!node.ok()) return ErrorAt(token, node.status().message());
      buffer.extents.push_back(*node);
    }
    draft_.buffers.push_back(std::move(buffer));
    return OkStatus();
  }

  // --- results ---

  // Makes those tensors results that the text lists behind "->", or else those
  // that no other statement reads.
  Status ChooseResults() {
    std::set<std::string, std::less<>> listed;
    if (lexer_.Accept("->")) {
      do {
        EMBER_ASSIGN_OR_RETURN(const Token name,
                               lexer_.Expect(Token::kIdentifier, "a result"));
        const auto found =
            std::ranges::find(draft_.buffers, name.text, &DraftBuffer::name);
        if (found == draft_.buffers.end() ||
            found->kind != BufferKind::kOutput) {
          return ErrorAt(name,
                         Concat({"expected a tensor that a statement defines, "
                                 "found '",
                                 name.text, "'"}));
        }
        listed.emplace(name.text);
      } while (lexer_.Accept(","));
      if (!lexer_.AtEnd()) return lexer_.ExpectedError("',' or the end");
    }
    std::vector<bool> is_read(draft_.buffers.size());
    std::vector<bool> seen;
    for (const DraftStage& stage : draft_.stages)
      MarkReads(stage, seen, is_read);
    for (size_t i = 0; i < draft_.buffers.size(); ++i) {
      DraftBuffer& buffer = draft_.buffers[i];
      if (buffer.kind != BufferKind::kOutput) continue;
      const bool is_result =
          listed.empty() ? !is_read[i] : listed.contains(buffer.name);
      if (!is_result) buffer.kind = BufferKind::kTemporary;
    }
    return OkStatus();
  }

  // Marks the buffers that the stage reads. seen: the nodes that were visited.
  void MarkReads(const DraftStage& stage, std::vector<bool>& seen,
                 std::vector<bool>& is_read) const {
    std::vector<NodeId> stack = stage.values;
    for (const DraftStore& store : stage.stores)
      stack.insert(stack.end(), store.indices.begin(), store.indices.end());
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (seen.size() <= id) seen.resize(id + 1);
      if (seen[id]) continue;
      seen[id] = true;
      const Node& node = draft_.pool[id];
      if (node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad)
        is_read[node.buffer] = true;
      stack.insert(stack.end(), node.operands.begin(), node.operands.end());
    }
  }

  std::string FirstResult() const {
    for (const DraftBuffer& buffer : draft_.buffers) {
      if (buffer.kind == BufferKind::kOutput) return buffer.name;
    }
    return "expression";
  }

  Lexer lexer_;
  // Texts of tokens that the text does not have, such as %a for a.
  std::deque<std::string> texts_;
  Draft draft_;
  NameScope header_;
};

}  // namespace

StatusOr<Dispatch> ParseNotation(std::string_view text,
                                 std::span<const NotationInput> inputs,
                                 std::string_view name) {
  if (!name.empty() && !IsSigilName(name)) {
    return InvalidArgumentError(Concat(
        {"expected a name for the dispatch, found '", std::string(name), "'"}));
  }
  NotationParser parser(text);
  EMBER_RETURN_IF_ERROR(parser.Declare(inputs));
  return parser.Run(name);
}

}  // namespace ember::tensor

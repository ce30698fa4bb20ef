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
#include "tensor/notation/stages.h"
#include "tensor/notation/statement_parser.h"
#include "tensor/range_rules.h"
#include "tensor/text/declaration_parser.h"
#include "tensor/text/expression_parser.h"
#include "tensor/text/tables.h"
#include "tensor/verifier/verifier.h"

namespace ember::tensor {
namespace {

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

  // Returns the node of a dim. A name that is used for the first time becomes a
  // parameter of the dispatch.
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

  // Parses the next item of the text: the declaration of an input, or a
  // statement.
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
    return AddStages(statement, std::move(extents), header_, draft_);
  }

  // Parses the type and dims of an input: f32[64, K].
  Status ParseDeclaration(const Token& name) {
    if (HasTensor(name.text)) {
      return ErrorAt(name, Concat({"expected a new tensor, found '", name.text,
                                   "' again"}));
    }
    EMBER_RETURN_IF_ERROR(CheckTensorCount(name, draft_));
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

  // Makes tensors results: those that the text lists behind "->" or, without
  // such a list, those that no other statement reads.
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

  // Sets is_read for each buffer that the stage reads. seen: the nodes that
  // were visited, for all stages.
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
  // Texts of tokens that the parser makes itself, such as %a for the name a in
  // the text.
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

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/lexer.h"
#include "tensor/builder/draft.h"
#include "tensor/text/declaration_parser.h"
#include "tensor/text/expression_parser.h"
#include "tensor/text/tables.h"
#include "tensor/text/text.h"
#include "tensor/verifier/verifier.h"

namespace ember::tensor {
namespace {

// True for a name such as %a0 or %e3. In a stage with a fold, such names are
// reserved for accumulators and elements.
bool LooksLikeFoldValue(std::string_view name) {
  return name.size() > 1 && (name[0] == 'a' || name[0] == 'e') &&
         name.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

class DispatchParser {
 public:
  explicit DispatchParser(Lexer& lexer) : lexer_(lexer), expressions_(lexer) {}

  StatusOr<Dispatch> Run() {
    const Token start = lexer_.Peek();
    EMBER_RETURN_IF_ERROR(ParseSignature());
    EMBER_RETURN_IF_ERROR(lexer_.Expect("{"));
    while (!lexer_.Accept("}")) EMBER_RETURN_IF_ERROR(ParseStatement());
    Dispatch dispatch = Assemble(draft_);
    // The verifier finds errors that the parser does not detect, such as a load
    // from a temporary before any store to it.
    if (const Status status = Verify(dispatch); !status.ok()) {
      return ErrorAt(start, status.message());
    }
    return dispatch;
  }

 private:
  // --- signature ---

  Status ParseSignature() {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("dispatch"));
    EMBER_ASSIGN_OR_RETURN(const Token name,
                           lexer_.ExpectSigil('@', "a dispatch name (@name)"));
    draft_.name = name.name();
    EMBER_RETURN_IF_ERROR(ParseHeader(lexer_, header_, draft_));
    EMBER_RETURN_IF_ERROR(ParseBuffers(BufferKind::kInput));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("->"));
    return ParseBuffers(BufferKind::kOutput);
  }

  Status ParseBuffers(BufferKind kind) {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
    if (lexer_.Accept(")")) return OkStatus();
    while (true) {
      EMBER_RETURN_IF_ERROR(ParseBuffer(kind));
      if (lexer_.Accept(")")) return OkStatus();
      if (!lexer_.Accept(",")) return lexer_.ExpectedError("',' or ')'");
    }
  }

  Status ParseBuffer(BufferKind kind) {
    EMBER_ASSIGN_OR_RETURN(const Token name, ParseNewBuffer(lexer_, draft_));
    EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
    return ParseTypeAndExtents(lexer_, name, kind, header_, draft_);
  }

  // --- stages ---

  Status ParseStatement() {
    if (lexer_.Accept("temp")) return ParseBuffer(BufferKind::kTemporary);
    draft_.stages.emplace_back();
    names_ = header_;
    names_.scope = static_cast<int>(draft_.stages.size());
    if (lexer_.Peek().kind == Token::kSigil) return ParseIdentityStore();
    if (!lexer_.Accept("for")) {
      return lexer_.ExpectedError(
          "a store (%name[...] = ...), 'for', 'temp' or '}'");
    }
    EMBER_RETURN_IF_ERROR(ParseAxes(Stage().spatial));
    if (lexer_.Peek().kind == Token::kSigil)
      return ParseStore(/*whole_stage=*/true);
    EMBER_RETURN_IF_ERROR(ParseCombiner());
    return ParseBlock();
  }

  DraftStage& Stage() { return draft_.stages.back(); }

  Status AddAxis(std::vector<DraftAxis>& axes, const Token& name,
                 NodeId extent) {
    const uint64_t number = Stage().spatial.size() + Stage().reduction.size();
    axes.push_back({std::string(name.text), extent});
    const NodeId axis = draft_.pool.Intern(Opcode::kAxis, DType::kI64,
                                           {&extent, 1}, number, names_.scope);
    return DefineName(names_.names, name, name.text, axis);
  }

  // Parses a list of axes in parentheses: '(' name '<' extent ',' ... ')'.
  Status ParseAxes(std::vector<DraftAxis>& axes) {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
    if (lexer_.Accept(")")) return OkStatus();
    while (true) {
      EMBER_ASSIGN_OR_RETURN(const ParsedAxis axis,
                             ParseAxis(lexer_, "an axis", header_, draft_));
      EMBER_RETURN_IF_ERROR(AddAxis(axes, axis.name, axis.extent));
      if (lexer_.Accept(")")) return OkStatus();
      if (!lexer_.Accept(",")) return lexer_.ExpectedError("',' or ')'");
    }
  }

  // Parses an optional combiner with its axes, such as sum(k < K).
  Status ParseCombiner() {
    const Token token = lexer_.Peek();
    for (int i = 1; i < static_cast<int>(std::size(kCombinerNames)); ++i) {
      if (token.kind != Token::kIdentifier || !token.Is(kCombinerNames[i]))
        continue;
      Stage().combiner = static_cast<Combiner>(i);
      lexer_.Next();
      EMBER_RETURN_IF_ERROR(ParseAxes(Stage().reduction));
      if (!Stage().reduction.empty()) return OkStatus();
      return ErrorAt(token, "expected at least one axis for '" +
                                std::string(token.text) + "'");
    }
    return OkStatus();
  }

  // Parses a stage that is a single store such as %y[i, j] = ...: its indices
  // declare its axes, and it stores the whole buffer.
  Status ParseIdentityStore() {
    const Token target = lexer_.Peek();
    lexer_.Next();
    EMBER_ASSIGN_OR_RETURN(const uint32_t buffer, FindBuffer(target, draft_));
    DraftStore store{buffer, {}, Update::kAssign};
    const std::vector<NodeId> extents = draft_.buffers[buffer].extents;
    EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
    for (size_t i = 0; i < extents.size(); ++i) {
      if (i > 0) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
      EMBER_ASSIGN_OR_RETURN(
          const Token name, lexer_.Expect(Token::kIdentifier,
                                          "axis " + std::to_string(i) + " of " +
                                              std::string(target.text)));
      EMBER_RETURN_IF_ERROR(AddAxis(Stage().spatial, name, extents[i]));
      store.indices.push_back(names_.names.find(name.text)->second);
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect("]"));
    return ParseStoreRest(std::move(store), /*whole_stage=*/true);
  }

  // Parses a store: %y[indices] = value. whole_stage: true if the stage
  // consists of this store only.
  Status ParseStore(bool whole_stage) {
    EMBER_ASSIGN_OR_RETURN(DraftStore store,
                           tensor::ParseStore(lexer_, names_, draft_));
    return ParseStoreRest(std::move(store), whole_stage);
  }

  // Parses the update sign and the value of a store. If the store is the whole
  // stage, a combiner may precede the value.
  Status ParseStoreRest(DraftStore store, bool whole_stage) {
    EMBER_ASSIGN_OR_RETURN(store.update, ParseUpdate(lexer_));
    if (whole_stage) EMBER_RETURN_IF_ERROR(ParseCombiner());
    DraftStage& stage = Stage();
    const Token start = lexer_.Peek();
    if (stage.combiner == Combiner::kFold) {
      const std::string expected = "%a" + std::to_string(stage.stores.size());
      EMBER_RETURN_IF_ERROR(lexer_.Expect(expected));
      if (stage.stores.size() >= stage.values.size()) {
        return ErrorAt(start, "expected no more stores than elements");
      }
    } else {
      const DType type = draft_.buffers[store.buffer].type;
      EMBER_ASSIGN_OR_RETURN(const Expression value, expressions_.Parse());
      EMBER_ASSIGN_OR_RETURN(const NodeId node,
                             ResolveAs(value, type, names_, draft_));
      stage.values.push_back(node);
    }
    stage.stores.push_back(std::move(store));
    return OkStatus();
  }

  // Parses the body of a stage in braces: '{' lets, elements, nexts, stores
  // '}'.
  Status ParseBlock() {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("{"));
    while (!lexer_.Peek().Is("}")) {
      if (lexer_.Accept("let")) {
        EMBER_RETURN_IF_ERROR(ParseLet());
      } else if (Stage().combiner == Combiner::kFold &&
                 lexer_.Accept("element")) {
        EMBER_RETURN_IF_ERROR(ParseElement());
      } else if (Stage().combiner == Combiner::kFold && lexer_.Accept("next")) {
        EMBER_RETURN_IF_ERROR(ParseNext());
      } else if (lexer_.Peek().kind == Token::kSigil) {
        EMBER_RETURN_IF_ERROR(ParseStore(/*whole_stage=*/false));
      } else {
        return lexer_.ExpectedError("'let', a store or '}'");
      }
    }
    if (Stage().results.size() != Stage().values.size() &&
        Stage().combiner == Combiner::kFold) {
      return lexer_.ExpectedError("'next' for each element");
    }
    return lexer_.Expect("}");
  }

  Status ParseLet() {
    EMBER_ASSIGN_OR_RETURN(const Token name, lexer_.ExpectSigil('%', "a name"));
    if (LooksLikeFoldValue(name.name())) {
      return ErrorAt(
          name,
          "expected a name that does not look like a fold value, found '" +
              std::string(name.text) + "'");
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
    EMBER_ASSIGN_OR_RETURN(const Expression value, expressions_.Parse());
    EMBER_ASSIGN_OR_RETURN(const NodeId node,
                           Resolve(value, {}, names_, draft_));
    return DefineName(names_.sigils, name, name.name(), node);
  }

  // Parses the declaration of an element of a fold, such as "element %e0: f32 =
  // value from initial".
  Status ParseElement() {
    DraftStage& stage = Stage();
    const size_t number = stage.values.size();
    EMBER_RETURN_IF_ERROR(lexer_.Expect("%e" + std::to_string(number)));
    EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
    EMBER_ASSIGN_OR_RETURN(const DType type, ParseType(lexer_));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
    EMBER_ASSIGN_OR_RETURN(const Expression value, expressions_.Parse());
    EMBER_RETURN_IF_ERROR(lexer_.Expect("from"));
    EMBER_ASSIGN_OR_RETURN(const Expression initial, expressions_.Parse());
    EMBER_ASSIGN_OR_RETURN(const NodeId value_node,
                           ResolveAs(value, type, names_, draft_));
    EMBER_ASSIGN_OR_RETURN(const NodeId initial_node,
                           ResolveAs(initial, type, names_, draft_));
    stage.values.push_back(value_node);
    stage.initial.push_back(initial_node);
    const auto add = [&](Opcode opcode, const char* prefix) {
      names_.sigils[prefix + std::to_string(number)] =
          draft_.pool.Intern(opcode, type, {}, number, names_.scope);
    };
    add(Opcode::kAccumulator, "a");
    add(Opcode::kElement, "e");
    return OkStatus();
  }

  // Parses the next value of an accumulator of a fold, such as "next %a0 =
  // value".
  Status ParseNext() {
    DraftStage& stage = Stage();
    const size_t number = stage.results.size();
    if (number >= stage.values.size())
      return lexer_.ExpectedError("no more 'next' than elements");
    EMBER_RETURN_IF_ERROR(lexer_.Expect("%a" + std::to_string(number)));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
    const DType type = draft_.pool[stage.values[number]].type;
    EMBER_ASSIGN_OR_RETURN(const Expression value, expressions_.Parse());
    EMBER_ASSIGN_OR_RETURN(const NodeId node,
                           ResolveAs(value, type, names_, draft_));
    stage.results.push_back(node);
    return OkStatus();
  }

  Lexer& lexer_;
  ExpressionParser expressions_;
  Draft draft_;
  NameScope header_;
  NameScope names_;  // names that are visible in the stage that is being parsed
};

}  // namespace

StatusOr<Dispatch> Parse(std::string_view text) {
  Lexer lexer(text);
  EMBER_ASSIGN_OR_RETURN(Dispatch dispatch, DispatchParser(lexer).Run());
  if (!lexer.AtEnd()) return lexer.ExpectedError("the end of the text");
  return dispatch;
}

StatusOr<std::vector<Dispatch>> ParseAll(std::string_view text) {
  Lexer lexer(text);
  std::vector<Dispatch> dispatches;
  while (!lexer.AtEnd()) {
    EMBER_ASSIGN_OR_RETURN(Dispatch dispatch, DispatchParser(lexer).Run());
    dispatches.push_back(std::move(dispatch));
  }
  return dispatches;
}

}  // namespace ember::tensor

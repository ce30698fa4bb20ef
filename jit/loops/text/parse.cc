#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/lexer.h"
#include "jit/loops/text/keywords.h"
#include "jit/loops/text/text.h"
#include "jit/loops/text/workgroup_text.h"
#include "jit/loops/walk.h"
#include "tensor/builder/draft.h"
#include "tensor/text/declaration_parser.h"
#include "tensor/text/expression_parser.h"
#include "tensor/text/tables.h"

namespace ember::loops {
namespace {

using tensor::Draft;
using tensor::DraftStore;
using tensor::Expression;
using tensor::NameScope;
using tensor::Opcode;

// The pool's scope number for nodes that depend on a variable or a load. Nodes
// of constants and parameters have scope 0.
constexpr int kBodyScope = 1;

// Returns the keyword's index in the list; nullopt if the token is not in the
// list.
template <size_t size>
std::optional<size_t> FindKeyword(const Token& token,
                                  const std::string_view (&keywords)[size]) {
  if (token.kind != Token::kIdentifier) return std::nullopt;
  for (size_t i = 0; i < size; ++i) {
    if (token.text == keywords[i]) return i;
  }
  return std::nullopt;
}

class NestParser {
 public:
  explicit NestParser(std::string_view text)
      : lexer_(text), expressions_(lexer_) {
    draft_.allows_raw = true;
  }

  StatusOr<LoopNest> Run() {
    EMBER_RETURN_IF_ERROR(ParseSignature());
    EMBER_RETURN_IF_ERROR(lexer_.Expect("{"));
    if (lexer_.Accept("extents")) {
      EMBER_ASSIGN_OR_RETURN(nest_.extents,
                             tensor::ParseExtents(lexer_, header_, draft_));
    }
    while (FindKeyword(lexer_.Peek(), kScopeKeywords)) {
      EMBER_RETURN_IF_ERROR(ParseLocalBuffer());
    }
    names_ = header_;
    names_.scope = kBodyScope;
    while (!lexer_.Accept("}")) EMBER_RETURN_IF_ERROR(ParsePhase());
    if (!lexer_.AtEnd()) return lexer_.ExpectedError("the end of the text");
    nest_.parameters = std::move(draft_.parameters);
    nest_.pool = std::move(draft_.pool);
    nest_.wide = std::move(draft_.wide);
    std::ranges::sort(nest_.wide);
    const auto rest = std::ranges::unique(nest_.wide);
    nest_.wide.erase(rest.begin(), rest.end());
    return std::move(nest_);
  }

 private:
  // --- signature ---

  Status ParseSignature() {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("loops"));
    EMBER_ASSIGN_OR_RETURN(
        const Token name,
        lexer_.ExpectSigil('@', "the name of the nest (@name)"));
    nest_.name = name.name();
    EMBER_RETURN_IF_ERROR(ParseHeader(lexer_, header_, draft_));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
    if (lexer_.Accept(")")) return OkStatus();
    while (true) {
      EMBER_RETURN_IF_ERROR(ParseBufferParameter());
      if (lexer_.Accept(")")) return OkStatus();
      if (!lexer_.Accept(",")) return lexer_.ExpectedError("',' or ')'");
    }
  }

  // Parses a buffer parameter: %x: input f32[N, 64]
  Status ParseBufferParameter() {
    EMBER_ASSIGN_OR_RETURN(const Token name, ParseNewBuffer(lexer_, draft_));
    EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
    if (lexer_.Accept("input"))
      return ParseBufferType(name, MemoryScope::kInput);
    if (lexer_.Accept("output"))
      return ParseBufferType(name, MemoryScope::kOutput);
    return lexer_.ExpectedError("'input' or 'output'");
  }

  // Parses the declaration of a buffer that is no parameter: task %t: f32[64]
  Status ParseLocalBuffer() {
    const Token keyword = lexer_.Next();
    const MemoryScope scope =
        static_cast<MemoryScope>(*FindKeyword(keyword, kScopeKeywords));
    if (scope == MemoryScope::kInput || scope == MemoryScope::kOutput) {
      return ErrorAt(keyword,
                     Concat({"expected '", keyword.text,
                             "' only among the parameters of the nest"}));
    }
    EMBER_ASSIGN_OR_RETURN(const Token name, ParseNewBuffer(lexer_, draft_));
    EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
    return ParseBufferType(name, scope);
  }

  Status ParseBufferType(const Token& name, MemoryScope scope) {
    // Any BufferKind would do: the parser of expressions needs it for stores,
    // and nests only load in expressions.
    EMBER_RETURN_IF_ERROR(ParseTypeAndExtents(
        lexer_, name, tensor::BufferKind::kTemporary, header_, draft_));
    const tensor::DraftBuffer& parsed = draft_.buffers.back();
    nest_.buffers.push_back(
        {parsed.name, parsed.type, scope, parsed.extents, {}, false});
    while (lexer_.Accept("shares")) {
      EMBER_ASSIGN_OR_RETURN(const Token input,
                             lexer_.ExpectSigil('%', "an input"));
      EMBER_ASSIGN_OR_RETURN(const uint32_t number, FindBuffer(input, draft_));
      nest_.buffers.back().shares.push_back(number);
    }
    nest_.buffers.back().is_shared = lexer_.Accept("shared");
    return OkStatus();
  }

  // --- Parsing phases and loops. ---

  Status ParsePhase() {
    if (lexer_.Accept("let")) return ParseLet();
    const bool is_prologue = lexer_.Peek().Is("prologue");
    if (!is_prologue && !lexer_.Peek().Is("phase")) {
      return lexer_.ExpectedError(
          "a buffer, 'prologue', 'phase', 'let' or '}'");
    }
    const Token keyword = lexer_.Next();
    if (is_prologue && !nest_.phases.empty()) {
      return ErrorAt(keyword, "expected 'prologue' before the first 'phase'");
    }
    Phase phase;
    EMBER_RETURN_IF_ERROR(ParseLoop(phase.task, phase.body, &phase.workgroup));
    (is_prologue ? nest_.prologue : nest_.phases).push_back(std::move(phase));
    return OkStatus();
  }

  // Parses a loop after its keyword: i < N { ... }. `workgroup`: not null for a
  // phase, whose body may begin with a description of the workgroup. `loop`:
  // not null for an invocation loop, which may bind a second variable, the
  // number of the subgroup.
  Status ParseLoop(NodeId& variable, Block& body,
                   Workgroup* workgroup = nullptr, Statement* loop = nullptr) {
    EMBER_ASSIGN_OR_RETURN(const Token name, ParseVariable(variable));
    if (lexer_.Accept(tensor::kWideWord)) draft_.wide.push_back(variable);
    Token of_subgroups;
    if (loop != nullptr && lexer_.Accept("subgroup")) {
      EMBER_ASSIGN_OR_RETURN(of_subgroups, ParseVariable(loop->subgroup));
      EMBER_RETURN_IF_ERROR(lexer_.Expect("of"));
      EMBER_ASSIGN_OR_RETURN(loop->subgroup_size,
                             lexer_.ExpectInteger("the size of a subgroup"));
    }
    EMBER_RETURN_IF_ERROR(ParseBlock(body, workgroup));
    names_.names.erase(names_.names.find(name.text));
    if (!of_subgroups.text.empty())
      names_.names.erase(names_.names.find(of_subgroups.text));
    return OkStatus();
  }

  // Parses a variable and its extent, and defines the name: i < N
  StatusOr<Token> ParseVariable(NodeId& variable) {
    EMBER_ASSIGN_OR_RETURN(
        const tensor::ParsedAxis axis,
        tensor::ParseAxis(lexer_, "a variable", names_, draft_));
    const std::string_view name = axis.name.text;
    variable = draft_.pool.Intern(Opcode::kAxis, DType::kI64, {&axis.extent, 1},
                                  VariableNumber(name), kBodyScope);
    EMBER_RETURN_IF_ERROR(
        tensor::DefineName(names_.names, axis.name, name, variable));
    return axis.name;
  }

  // Returns the number of the variable with this name. Loops that are not
  // nested may use the same name, which then has the same number.
  uint64_t VariableNumber(std::string_view name) {
    const auto [it, is_new] =
        variables_.emplace(std::string(name), nest_.variables.size());
    if (is_new) nest_.variables.emplace_back(name);
    return it->second;
  }

  // --- statements ---

  // Parses a block: '{' statements '}'. The names of its lets are known only
  // within it.
  Status ParseBlock(Block& block, Workgroup* workgroup = nullptr) {
    if (++nesting_ > kMaxNesting) {
      return ErrorAt(lexer_.Peek(), Concat({"expected at most ", kMaxNesting,
                                            " statements in each other"}));
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect("{"));
    if (workgroup != nullptr && lexer_.Peek().Is("workgroup")) {
      EMBER_ASSIGN_OR_RETURN(*workgroup, ParseWorkgroup(lexer_, draft_));
    }
    const auto outer = names_.sigils;
    while (!lexer_.Accept("}")) {
      if (lexer_.Accept("let")) {
        EMBER_RETURN_IF_ERROR(ParseLet());
        continue;
      }
      Statement statement;
      EMBER_RETURN_IF_ERROR(ParseStatement(statement));
      block.push_back(std::move(statement));
    }
    names_.sigils = outer;
    --nesting_;
    return OkStatus();
  }

  Status ParseLet() {
    EMBER_ASSIGN_OR_RETURN(const Token name, lexer_.ExpectSigil('%', "a name"));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
    EMBER_ASSIGN_OR_RETURN(const Expression value, expressions_.Parse());
    EMBER_ASSIGN_OR_RETURN(const NodeId node,
                           Resolve(value, {}, names_, draft_));
    return tensor::DefineName(names_.sigils, name, name.name(), node);
  }

  Status ParseStatement(Statement& statement) {
    EMBER_RETURN_IF_ERROR(ParseMarks(statement));
    const Token start = lexer_.Peek();
    if (const auto loop = FindKeyword(start, kLoopKeywords)) {
      lexer_.Next();
      statement.kind = Statement::Kind::kFor;
      statement.loop = static_cast<LoopKind>(*loop);
      const bool is_invocations = statement.loop == LoopKind::kInvocation;
      EMBER_RETURN_IF_ERROR(ParseLoop(statement.variable, statement.body,
                                      /*workgroup=*/nullptr,
                                      is_invocations ? &statement : nullptr));
      return statement.box == nullptr ? OkStatus() : FindBuffers(statement);
    }
    if (lexer_.Accept("if")) {
      statement.kind = Statement::Kind::kIf;
      EMBER_ASSIGN_OR_RETURN(const Expression condition, expressions_.Parse());
      EMBER_ASSIGN_OR_RETURN(
          statement.condition,
          ResolveAs(condition, DType::kBool, names_, draft_));
      return ParseBlock(statement.body);
    }
    if (lexer_.Accept("first")) {
      statement.kind = Statement::Kind::kFirst;
      return ParseBlock(statement.body);
    }
    if (lexer_.Accept("fill")) return ParseSlot(SlotStep::kFill, statement);
    if (lexer_.Accept("release"))
      return ParseSlot(SlotStep::kRelease, statement);
    if (lexer_.Accept("check")) return ParseCheck(statement);
    if (lexer_.Accept("prefetch")) return ParsePrefetch(statement);
    if (lexer_.Accept("await")) return ParseAwait(statement);
    if (lexer_.Accept("barrier")) return ParseBarrier(statement);
    statement.kind = Statement::Kind::kStore;
    if (start.kind == Token::kSigil || start.text == "async" ||
        start.text == "once" || FindKeyword(start, kCombiningKeywords) ||
        tensor::VectorWidth(start.text) != 0) {
      return ParseStore(statement.stores);
    }
    if (!lexer_.Accept("{")) {
      return lexer_.ExpectedError(
          "a loop, 'if', 'first', 'check', 'prefetch', 'await', 'barrier', "
          "'fill', 'release', 'let', a store (%name[...] = ...) or '}'");
    }
    while (!lexer_.Accept("}")) {
      EMBER_RETURN_IF_ERROR(ParseStore(statement.stores));
    }
    return OkStatus();
  }

  // Parses the marks before a statement of a device nest: producer, in_flight,
  // box.
  Status ParseMarks(Statement& statement) {
    statement.of_producer = lexer_.Accept("producer");
    if (lexer_.Accept("box")) {
      EMBER_ASSIGN_OR_RETURN(CopiedBox box, ParseBox(lexer_));
      statement.box = std::make_shared<CopiedBox>(std::move(box));
      if (!lexer_.Peek().Is("invocation"))
        return lexer_.ExpectedError("'invocation'");
    }
    statement.stays_in_flight = lexer_.Accept("in_flight");
    if (statement.stays_in_flight && !lexer_.Peek().Is("subgroup"))
      return lexer_.ExpectedError("'subgroup'");
    const bool may_be = lexer_.Peek().Is("if") || lexer_.Peek().Is("await") ||
                        lexer_.Peek().Is("fill") ||
                        FindKeyword(lexer_.Peek(), kLoopKeywords);
    if (statement.of_producer && !may_be)
      return lexer_.ExpectedError("a loop, 'if', 'await' or 'fill'");
    return OkStatus();
  }

  // Parses the rest of a slot's step after its keyword: fill ring 0 slot mod(k,
  // 4)
  Status ParseSlot(SlotStep step, Statement& statement) {
    statement.kind = Statement::Kind::kSlot;
    statement.step = step;
    EMBER_RETURN_IF_ERROR(lexer_.Expect("ring"));
    EMBER_ASSIGN_OR_RETURN(const int64_t ring,
                           lexer_.ExpectInteger("the number of a ring"));
    statement.slot.ring = static_cast<uint32_t>(ring);
    EMBER_RETURN_IF_ERROR(lexer_.Expect("slot"));
    EMBER_ASSIGN_OR_RETURN(const Expression slot, expressions_.ParseSum());
    EMBER_ASSIGN_OR_RETURN(statement.slot.slot,
                           ResolveAs(slot, DType::kI64, names_, draft_));
    return OkStatus();
  }

  // Sets the buffers of a loop's box: the buffer that its asynchronous store
  // reads, and the one that it stores to. The text of a box does not name them.
  Status FindBuffers(Statement& loop) {
    const Store* const store = FirstStore(loop);
    if (store == nullptr) {
      return lexer_.ExpectedError(
          "a store in the loop that copies a box before");
    }
    CopiedBox box = *loop.box;
    box.to = store->buffer;
    box.from = draft_.pool[store->value].buffer;
    loop.box = std::make_shared<CopiedBox>(std::move(box));
    return OkStatus();
  }

  // Parses a store: %y[i] += value
  Status ParseStore(std::vector<Store>& stores) {
    const bool is_async = lexer_.Accept("async");
    const auto combining = FindKeyword(lexer_.Peek(), kCombiningKeywords);
    if (combining) lexer_.Next();
    const bool rounds_once = lexer_.Accept("once");
    const uint32_t vector = tensor::VectorWidth(lexer_.Peek().text);
    if (vector != 0) lexer_.Next();
    EMBER_ASSIGN_OR_RETURN(DraftStore store,
                           tensor::ParseStore(lexer_, names_, draft_));
    EMBER_ASSIGN_OR_RETURN(store.update, tensor::ParseUpdate(lexer_));
    EMBER_ASSIGN_OR_RETURN(const Expression value, expressions_.Parse());
    const DType type = draft_.buffers[store.buffer].type;
    EMBER_ASSIGN_OR_RETURN(const NodeId node,
                           ResolveAs(value, type, names_, draft_));
    stores.push_back(
        {store.buffer, std::move(store.indices), node, store.update, is_async,
         static_cast<Combining>(combining.value_or(0)), vector, rounds_once});
    return OkStatus();
  }

  // Parses an await: await 2, await ring 0 slot 1
  Status ParseAwait(Statement& statement) {
    if (lexer_.Peek().Is("ring")) return ParseSlot(SlotStep::kAwait, statement);
    statement.kind = Statement::Kind::kAwait;
    EMBER_ASSIGN_OR_RETURN(statement.groups,
                           lexer_.ExpectInteger("a number of groups"));
    return OkStatus();
  }

  // Parses a barrier: barrier orders stores
  Status ParseBarrier(Statement& statement) {
    statement.kind = Statement::Kind::kBarrier;
    statement.orders_stores = lexer_.Accept("orders");
    return statement.orders_stores ? lexer_.Expect("stores") : OkStatus();
  }

  // Parses a check: check %x.0 index < extent
  Status ParseCheck(Statement& statement) {
    statement.kind = Statement::Kind::kCheck;
    EMBER_RETURN_IF_ERROR(ParseBufferAndDim(statement));
    EMBER_ASSIGN_OR_RETURN(const Expression index, expressions_.ParseSum());
    EMBER_ASSIGN_OR_RETURN(statement.index,
                           ResolveAs(index, DType::kI64, names_, draft_));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("<"));
    EMBER_ASSIGN_OR_RETURN(const Expression extent, expressions_.ParseSum());
    EMBER_ASSIGN_OR_RETURN(statement.extent,
                           ResolveAs(extent, DType::kI64, names_, draft_));
    if (const auto test = tensor::FindTest(lexer_.Peek())) {
      lexer_.Next();
      statement.test = static_cast<BoundsTest>(*test);
    }
    return OkStatus();
  }

  // Parses a prefetch: prefetch %x index
  Status ParsePrefetch(Statement& statement) {
    statement.kind = Statement::Kind::kPrefetch;
    EMBER_ASSIGN_OR_RETURN(const Token buffer,
                           lexer_.ExpectSigil('%', "a buffer"));
    EMBER_ASSIGN_OR_RETURN(statement.buffer, FindBuffer(buffer, draft_));
    EMBER_ASSIGN_OR_RETURN(const Expression index, expressions_.ParseSum());
    EMBER_ASSIGN_OR_RETURN(statement.index,
                           ResolveAs(index, DType::kI64, names_, draft_));
    return OkStatus();
  }

  // Parses a buffer and a dim: %x.0, which is one token.
  Status ParseBufferAndDim(Statement& statement) {
    EMBER_ASSIGN_OR_RETURN(
        const Token token,
        lexer_.ExpectSigil('%', "a buffer and a dim (%name.0)"));
    const size_t dot = token.text.rfind('.');
    if (dot == std::string_view::npos) {
      return ErrorAt(token, Concat({"expected a dim behind the buffer (",
                                    token.text, ".0), found none"}));
    }
    Token buffer = token, dim = token;
    buffer.text = token.text.substr(0, dot);
    dim.text = token.text.substr(dot + 1);
    EMBER_ASSIGN_OR_RETURN(statement.buffer, FindBuffer(buffer, draft_));
    const size_t rank = draft_.buffers[statement.buffer].extents.size();
    for (size_t i = 0; i < rank; ++i) {
      if (dim.text != std::to_string(i)) continue;
      statement.dim = static_cast<uint32_t>(i);
      return OkStatus();
    }
    return ErrorAt(token, Concat({"expected a dim below ", rank, ", found '",
                                  dim.text, "'"}));
  }

  Lexer lexer_;
  tensor::ExpressionParser expressions_;
  LoopNest nest_;
  // The pool, parameters and buffers that parsed expressions refer to.
  Draft draft_;
  NameScope header_;
  // The names of variables and lets that are known at the current point of the
  // text.
  NameScope names_;
  std::map<std::string, uint64_t> variables_;
  int nesting_ = 0;
};

}  // namespace

StatusOr<LoopNest> Parse(std::string_view text) {
  return NestParser(text).Run();
}

}  // namespace ember::loops

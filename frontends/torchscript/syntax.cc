#include "frontends/torchscript/syntax.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/one_line.h"
#include "frontends/torchscript/tokens.h"

namespace ember::torchscript {
namespace {

using Kind = Expression::Kind;

// Binary operators in ascending order of precedence.
constexpr std::array<std::array<std::string_view, 7>, 8> kOperators = {{
    {"or"},
    {"and"},
    {"==", "!=", "<", "<=", ">", ">=", "is"},
    {"|"},
    {"^"},
    {"&"},
    {"+", "-"},
    {"*", "/", "//", "%", "@"},
}};

class Parser {
 public:
  explicit Parser(const std::vector<Token>& tokens) : tokens_(tokens) {}

  StatusOr<SourceFile> Run() {
    SourceFile file;
    while (ok() && Now().kind != Token::Kind::kEnd) {
      if (IsName("class")) {
        Class parsed = ParseClass();
        std::string name = parsed.name;
        file.classes.emplace(std::move(name), std::move(parsed));
      } else if (IsName("def")) {
        Function function = ParseFunction();
        std::string name = function.name;
        file.functions.emplace(std::move(name), std::move(function));
      } else {
        // The line "op_version_set = 1" and imports are skipped. They are not
        // needed, as the code always uses full names.
        while (ok() && Now().kind != Token::Kind::kLineEnd &&
               Now().kind != Token::Kind::kEnd)
          Advance();
        Expect(Token::Kind::kLineEnd, "the end of a line");
      }
    }
    if (!ok()) return DataLossError(error_);
    return file;
  }

 private:
  bool ok() const { return error_.empty(); }
  void Fail(const std::string& expected) {
    if (!ok()) return;
    std::string found = "'" + OnOneLine(Now().text.substr(0, 40)) + "'";
    if (Now().kind == Token::Kind::kLineEnd) found = "the end of the line";
    if (Now().kind == Token::Kind::kIndent) found = "a deeper block";
    if (Now().kind == Token::Kind::kDedent) found = "the end of the block";
    if (Now().kind == Token::Kind::kEnd) found = "the end of the text";
    error_ = "line " + std::to_string(Now().line) + ": expected " + expected +
             ", found " + found;
  }
  const Token& Now() const { return tokens_[at_]; }
  void Advance() {
    if (Now().kind != Token::Kind::kEnd) ++at_;
  }
  bool IsSign(std::string_view sign) const {
    return Now().kind == Token::Kind::kSign && Now().text == sign;
  }
  bool IsName(std::string_view name) const {
    return Now().kind == Token::Kind::kName && Now().text == name;
  }
  bool TakeSign(std::string_view sign) {
    if (!IsSign(sign)) return false;
    Advance();
    return true;
  }
  bool TakeName(std::string_view name) {
    if (!IsName(name)) return false;
    Advance();
    return true;
  }
  void ExpectSign(std::string_view sign) {
    if (!TakeSign(sign)) Fail("'" + std::string(sign) + "'");
  }
  void Expect(Token::Kind kind, const std::string& what) {
    if (Now().kind != kind)
      Fail(what);
    else
      Advance();
  }
  std::string Name() {
    std::string name = Now().text;
    Expect(Token::Kind::kName, "a name");
    return name;
  }

  // Increases the parser's nesting depth while the object exists. The
  // constructor fails the parser if the depth exceeds kMaxNesting.
  class Deeper {
   public:
    explicit Deeper(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kMaxNesting) {
        parser_.Fail("at most " + std::to_string(kMaxNesting) +
                     " levels of nesting");
      }
    }
    ~Deeper() { --parser_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    Parser& parser_;
  };

  Expression Make(Kind kind) const {
    Expression made;
    made.kind = kind;
    made.line = Now().line;
    return made;
  }
  void Adopt(Expression& parent, Expression part) {
    parent.depth = std::max(parent.depth, part.depth + 1);
    if (parent.depth > kMaxNesting)
      Fail("at most " + std::to_string(kMaxNesting) + " levels of nesting");
    parent.parts.push_back(std::move(part));
  }

  // Parses one expression, or several that are separated by commas, which are a
  // tuple without brackets.
  Expression ParseTupleOrOne() {
    Expression first = ParseExpression();
    if (!IsSign(",")) return first;
    Expression tuple = Make(Kind::kTuple);
    Adopt(tuple, std::move(first));
    while (ok() && TakeSign(",")) {
      if (IsSign("=") || Now().kind == Token::Kind::kLineEnd) break;
      Adopt(tuple, ParseExpression());
    }
    return tuple;
  }

  Expression ParseExpression() {
    const Deeper deeper(*this);
    if (!ok()) return {};
    Expression value = ParseBinary(0);
    if (ok() && IsName("if")) {
      Expression choice = Make(Kind::kConditional);
      Advance();
      Adopt(choice, std::move(value));
      Adopt(choice, ParseBinary(0));
      if (!TakeName("else")) Fail("'else'");
      Adopt(choice, ParseExpression());
      return choice;
    }
    return value;
  }

  // Consumes an operator of this level of precedence and returns it ("<", "is
  // not"); "" if there is none.
  std::string TakeOperator(size_t level) {
    if (Now().kind != Token::Kind::kSign && Now().kind != Token::Kind::kName)
      return "";
    for (const std::string_view text : kOperators[level]) {
      if (text.empty() || Now().text != text) continue;
      Advance();
      if (text == "is" && TakeName("not")) return "is not";
      return std::string(text);
    }
    return "";
  }

  Expression ParseBinary(size_t level) {
    if (level == kOperators.size()) return ParseUnary();
    Expression left = ParseBinary(level + 1);
    while (ok()) {
      Expression whole = Make(Kind::kBinary);
      whole.text = TakeOperator(level);
      if (whole.text.empty()) break;
      Adopt(whole, std::move(left));
      Adopt(whole, ParseBinary(level + 1));
      left = std::move(whole);
    }
    return left;
  }

  Expression ParseUnary() {
    if (!IsSign("-") && !IsSign("+") && !IsName("not")) return ParsePostfix();
    const Deeper deeper(*this);
    if (!ok()) return {};
    Expression unary = Make(Kind::kUnary);
    unary.text = Now().text;
    Advance();
    Expression value = ParseUnary();
    if (unary.text == "+") return value;
    if (unary.text == "-" && value.kind == Kind::kInteger) {
      value.integer =
          static_cast<int64_t>(-static_cast<uint64_t>(value.integer));
      return value;
    }
    if (unary.text == "-" && value.kind == Kind::kFloat) {
      value.number = -value.number;
      return value;
    }
    Adopt(unary, std::move(value));
    return unary;
  }

  Expression ParsePostfix() {
    Expression value = ParseAtom();
    while (ok()) {
      if (IsSign(".")) {
        Expression member = Make(Kind::kAttribute);
        Advance();
        member.text = Name();
        Adopt(member, std::move(value));
        value = std::move(member);
      } else if (IsSign("[")) {
        Expression element = Make(Kind::kSubscript);
        Advance();
        Adopt(element, std::move(value));
        Adopt(element, ParseSubscript());
        ExpectSign("]");
        value = std::move(element);
      } else if (IsSign("(")) {
        Expression call = Make(Kind::kCall);
        Adopt(call, std::move(value));
        ParseArguments(call);
        value = std::move(call);
      } else {
        break;
      }
    }
    return value;
  }

  Expression ParseSubscript() {
    Expression none;
    Expression first = IsSign(":") ? none : ParseSequence("]");
    if (!IsSign(":")) return first;
    Expression slice = Make(Kind::kSlice);
    Adopt(slice, std::move(first));
    while (ok() && TakeSign(":"))
      Adopt(slice, IsSign(":") || IsSign("]") ? none : ParseExpression());
    while (slice.parts.size() < 3) slice.parts.emplace_back();
    if (slice.parts.size() > 3) Fail("a slice of at most three parts");
    return slice;
  }

  // Parses one expression or the items of a tuple, up to a closing bracket,
  // which stays unread.
  Expression ParseSequence(std::string_view closing) {
    Expression tuple = Make(Kind::kTuple);
    if (IsSign(closing)) return tuple;
    Expression first = ParseExpression();
    if (!IsSign(",")) return first;
    Adopt(tuple, std::move(first));
    while (ok() && TakeSign(",")) {
      if (IsSign(closing)) break;
      Adopt(tuple, ParseExpression());
    }
    return tuple;
  }

  void ParseArguments(Expression& call) {
    ExpectSign("(");
    while (ok() && !IsSign(")")) {
      if (Now().kind == Token::Kind::kName &&
          tokens_[at_ + 1].kind == Token::Kind::kSign &&
          tokens_[at_ + 1].text == "=") {
        call.keywords.push_back(Name());
        Advance();
      } else if (!call.keywords.empty()) {
        Fail("a keyword before the argument");
      }
      Adopt(call, ParseExpression());
      if (!TakeSign(",")) break;
    }
    ExpectSign(")");
  }

  Expression ParseAtom() {
    Expression atom = Make(Kind::kName);
    const Token& token = Now();
    switch (token.kind) {
      case Token::Kind::kInteger:
        atom.kind = Kind::kInteger;
        atom.integer = token.integer;
        Advance();
        return atom;
      case Token::Kind::kFloat:
        atom.kind = Kind::kFloat;
        atom.number = token.number;
        Advance();
        return atom;
      case Token::Kind::kString:
        atom.kind = Kind::kString;
        while (Now().kind == Token::Kind::kString) {
          atom.text += Now().text;
          Advance();
        }
        return atom;
      case Token::Kind::kName:
        return ParseNamed(std::move(atom));
      default:
        break;
    }
    const Deeper deeper(*this);
    if (!ok()) return atom;
    if (TakeSign("(")) {
      atom = ParseSequence(")");
      ExpectSign(")");
      return atom;
    }
    if (TakeSign("[")) {
      atom.kind = Kind::kList;
      while (ok() && !IsSign("]")) {
        Adopt(atom, ParseExpression());
        if (!TakeSign(",")) break;
      }
      ExpectSign("]");
      return atom;
    }
    if (TakeSign("{")) {
      atom.kind = Kind::kDict;
      while (ok() && !IsSign("}")) {
        Adopt(atom, ParseExpression());
        ExpectSign(":");
        Adopt(atom, ParseExpression());
        if (!TakeSign(",")) break;
      }
      ExpectSign("}");
      return atom;
    }
    Fail("an expression");
    return atom;
  }

  Expression ParseNamed(Expression atom) {
    atom.text = Now().text;
    Advance();
    if (atom.text == "None") atom.kind = Kind::kNone;
    if (atom.text == "True" || atom.text == "False") {
      atom.kind = Kind::kBool;
      atom.integer = atom.text == "True" ? 1 : 0;
    }
    if (atom.text == "inf" || atom.text == "nan") {
      atom.kind = Kind::kFloat;
      atom.number = atom.text == "inf"
                        ? std::numeric_limits<double>::infinity()
                        : std::numeric_limits<double>::quiet_NaN();
    }
    return atom;
  }

  std::vector<Statement> ParseBlock() {
    std::vector<Statement> block;
    ExpectSign(":");
    // After the colon there may be a single statement on the same line.
    if (Now().kind != Token::Kind::kLineEnd) {
      block.push_back(ParseStatement());
      return block;
    }
    Advance();
    // A function without statements has no indented block.
    if (Now().kind != Token::Kind::kIndent) return block;
    const Deeper deeper(*this);
    Advance();
    while (ok() && Now().kind != Token::Kind::kDedent)
      block.push_back(ParseStatement());
    Expect(Token::Kind::kDedent, "the end of the block");
    return block;
  }

  Statement ParseStatement() {
    Statement statement;
    statement.line = Now().line;
    if (TakeName("if")) {
      ParseIf(statement);
      return statement;
    }
    if (TakeName("while")) {
      statement.kind = Statement::Kind::kWhile;
      statement.value = ParseExpression();
      statement.body = ParseBlock();
      return statement;
    }
    if (TakeName("for")) {
      statement.kind = Statement::Kind::kFor;
      statement.targets.push_back(ParsePostfix());
      if (!TakeName("in")) Fail("'in'");
      statement.value = ParseExpression();
      statement.body = ParseBlock();
      return statement;
    }
    if (TakeName("with")) {
      statement.kind = Statement::Kind::kWith;
      statement.value = ParseExpression();
      if (TakeName("as")) statement.targets.push_back(ParsePostfix());
      statement.body = ParseBlock();
      return statement;
    }
    if (IsName("def")) {
      // A function that is defined within another function. It has no
      // parameters.
      Function function = ParseFunction();
      statement.kind = Statement::Kind::kDefine;
      Expression& name = statement.targets.emplace_back();
      name.kind = Kind::kName;
      name.line = statement.line;
      name.text = std::move(function.name);
      statement.body = std::move(function.body);
      return statement;
    }
    ParseSimple(statement);
    Expect(Token::Kind::kLineEnd, "the end of the line");
    return statement;
  }

  void ParseIf(Statement& statement) {
    statement.kind = Statement::Kind::kIf;
    statement.value = ParseExpression();
    statement.body = ParseBlock();
    if (TakeName("else")) {
      statement.otherwise = ParseBlock();
    } else if (IsName("elif")) {
      const Deeper deeper(*this);
      Statement inner;
      inner.line = Now().line;
      Advance();
      if (ok()) ParseIf(inner);
      statement.otherwise.push_back(std::move(inner));
    }
  }

  void ParseSimple(Statement& statement) {
    if (TakeName("pass")) return;
    const bool is_return = IsName("return");
    if (is_return || IsName("raise") || IsName("assert")) {
      statement.kind = is_return         ? Statement::Kind::kReturn
                       : IsName("raise") ? Statement::Kind::kRaise
                                         : Statement::Kind::kAssert;
      Advance();
      if (Now().kind != Token::Kind::kLineEnd)
        statement.value = ParseTupleOrOne();
      return;
    }
    Expression first = ParseTupleOrOne();
    // A type annotation ("x: Tensor = …") is parsed and dropped.
    if (TakeSign(":")) ParseExpression();
    if (!TakeSign("=")) {
      statement.kind = Statement::Kind::kExpression;
      statement.value = std::move(first);
      return;
    }
    statement.kind = Statement::Kind::kAssign;
    statement.targets.push_back(std::move(first));
    statement.value = ParseTupleOrOne();
  }

  Function ParseFunction() {
    Function function;
    function.line = Now().line;
    Advance();  // def
    function.name = Name();
    ExpectSign("(");
    while (ok() && !IsSign(")")) {
      Parameter parameter;
      // A "*" in the list of parameters separates those that are given by name
      // only; it is no parameter itself.
      if (TakeSign("*")) {
        if (!TakeSign(",")) break;
        continue;
      }
      parameter.name = Name();
      if (TakeSign(":")) parameter.type = ParseExpression();
      if (TakeSign("=")) parameter.standard = ParseExpression();
      function.parameters.push_back(std::move(parameter));
      if (!TakeSign(",")) break;
    }
    ExpectSign(")");
    if (TakeSign("->")) function.result_type = ParseExpression();
    function.body = ParseBlock();
    return function;
  }

  Class ParseClass() {
    Class parsed;
    Advance();  // class
    parsed.name = Name();
    if (TakeSign("(")) {
      if (!IsSign(")")) parsed.base = ParsePostfix().text;
      ExpectSign(")");
    }
    ExpectSign(":");
    Expect(Token::Kind::kLineEnd, "the end of the line");
    // A class without members has no indented block.
    if (Now().kind != Token::Kind::kIndent) return parsed;
    Advance();
    while (ok() && Now().kind != Token::Kind::kDedent) {
      if (IsName("def")) {
        Function method = ParseFunction();
        std::string name = method.name;
        parsed.methods.emplace(std::move(name), std::move(method));
        continue;
      }
      ParseMember(parsed);
      Expect(Token::Kind::kLineEnd, "the end of the line");
    }
    Expect(Token::Kind::kDedent, "the end of the class");
    return parsed;
  }

  void ParseMember(Class& parsed) {
    if (TakeName("pass")) return;
    Class::Attribute attribute;
    Expression target = ParsePostfix();
    const bool is_annotation = target.kind == Kind::kSubscript &&
                               target.parts[0].is_name("__annotations__") &&
                               target.parts[1].kind == Kind::kString;
    // The form __annotations__["0"] = TYPE declares an attribute whose name is
    // no Python identifier.
    if (is_annotation) {
      attribute.name = target.parts[1].text;
      ExpectSign("=");
      attribute.type = ParseExpression();
    } else {
      if (target.kind != Kind::kName) Fail("an attribute of the class");
      attribute.name = target.text;
      if (TakeSign(":")) attribute.type = ParseExpression();
      if (TakeSign("=")) attribute.value = ParseExpression();
    }
    parsed.attributes.push_back(std::move(attribute));
  }

  const std::vector<Token>& tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string error_;
};

}  // namespace

StatusOr<SourceFile> ParseSource(std::string_view text) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<Token> tokens, Tokenize(text));
  return Parser(tokens).Run();
}

std::string TypeText(const Expression& type) {
  switch (type.kind) {
    case Kind::kName:
      return type.text;
    case Kind::kNone:
      return "None";
    case Kind::kAttribute:
      return TypeText(type.parts[0]) + "." + type.text;
    case Kind::kSubscript:
      return TypeText(type.parts[0]) + "[" + TypeText(type.parts[1]) + "]";
    case Kind::kTuple: {
      std::string text;
      for (const Expression& part : type.parts)
        text += (text.empty() ? "" : ", ") + TypeText(part);
      return text;
    }
    default:
      return "?";
  }
}

}  // namespace ember::torchscript

#include "frontends/stablehlo/parser.h"

#include <utility>

#include "base/one_line.h"
#include "frontends/stablehlo/operation_parser.h"

namespace ember::stablehlo {
namespace {

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text)
      : attributes_(text), lexer_(attributes_.lexer()) {}

  StatusOr<Module> Parse() {
    while (!lexer_.AtEnd()) EMBER_RETURN_IF_ERROR(ParseTop(0));
    return std::move(module_);
  }

 private:
  // Parses a module, a function, an alias or a section of resources.
  Status ParseTop(int depth) {
    if (depth > kMaxDepth)
      return lexer_.ExpectedError("fewer modules in each other");
    const Token token = lexer_.Peek();
    if (IsSigil(token, '#') || IsSigil(token, '!'))
      return attributes_.ParseAlias();
    if (token.Is("{-#")) return attributes_.ParseResources(module_);
    if (token.text == "module" || token.text == "builtin.module")
      return ParseModuleOperation(depth);
    if (token.text == "\"builtin.module\"") return ParseGenericModule(depth);
    if (token.text == "func.func" || token.text == "func")
      return ParseFunction();
    if (token.text == "\"func.func\"") return ParseGenericFunction();
    if (token.text == "sdy.mesh") {
      // A mesh arranges devices. Ember runs a program on one device, so a mesh
      // is skipped.
      lexer_.Next();
      lexer_.Next();
      EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
      if (!lexer_.Peek().Is("<")) return lexer_.ExpectedError("'<'");
      return lexer_.SkipBalanced().status();
    }
    return lexer_.ExpectedError("a module or a function");
  }

  Status ParseModuleOperation(int depth) {
    lexer_.Next();
    if (IsSigil(lexer_.Peek(), '@')) {
      EMBER_ASSIGN_OR_RETURN(const Attribute name,
                             attributes_.ParseAttribute());
      if (depth == 0) module_.name = name.text;
    }
    if (lexer_.Accept("attributes")) {
      EMBER_ASSIGN_OR_RETURN(AttributeList attributes,
                             attributes_.ParseAttributes());
      if (depth == 0) module_.attributes = std::move(attributes);
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect("{"));
    while (!lexer_.Accept("}")) {
      if (lexer_.AtEnd()) return lexer_.ExpectedError("'}'");
      EMBER_RETURN_IF_ERROR(ParseTop(depth + 1));
    }
    return attributes_.SkipLocation();
  }

  // Parses a module in generic form: "builtin.module"() <{sym_name = "f"}> ({ …
  // }) {…} : () -> ().
  Status ParseGenericModule(int depth) {
    lexer_.Next();
    AttributeList attributes;
    EMBER_RETURN_IF_ERROR(ParseGenericHead(attributes));
    if (IsSigil(lexer_.Peek(), '^')) {
      lexer_.Next();
      EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
    }
    while (!lexer_.Accept("}")) {
      if (lexer_.AtEnd()) return lexer_.ExpectedError("'}'");
      EMBER_RETURN_IF_ERROR(ParseTop(depth + 1));
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
    EMBER_RETURN_IF_ERROR(ParseGenericTail(attributes));
    if (depth > 0) return OkStatus();
    for (auto& [key, value] : attributes) {
      if (key == "sym_name") {
        module_.name = value.text;
      } else {
        module_.attributes.emplace_back(key, std::move(value));
      }
    }
    return OkStatus();
  }

  // () <{properties}> ({
  Status ParseGenericHead(AttributeList& attributes) {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
    EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
    if (lexer_.Accept("<")) {
      EMBER_ASSIGN_OR_RETURN(attributes, attributes_.ParseAttributes());
      EMBER_RETURN_IF_ERROR(lexer_.Expect(">"));
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
    return lexer_.Expect("{");
  }

  // Parses the end of a generic module or function: {…} : () -> () loc(…).
  Status ParseGenericTail(AttributeList& attributes) {
    if (lexer_.Peek().Is("{")) {
      EMBER_ASSIGN_OR_RETURN(AttributeList more, attributes_.ParseAttributes());
      for (auto& entry : more) attributes.push_back(std::move(entry));
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
    EMBER_RETURN_IF_ERROR(attributes_.ParseType().status());
    return attributes_.SkipLocation();
  }

  Status AddFunction(Function function, const Token& at) {
    function.type.kind = Type::Kind::kFunction;
    const std::string name = OnOneLine(function.name);
    if (module_.Add(std::move(function))) return OkStatus();
    return ErrorAt(at, "expected one function '" + name + "', found two");
  }

  Status ParseFunction() {
    const Token at = lexer_.Next();
    Function function;
    for (const std::string_view visibility : {"public", "private", "nested"}) {
      if (lexer_.Accept(visibility))
        function.is_private = visibility != "public";
    }
    if (!IsSigil(lexer_.Peek(), '@'))
      return lexer_.ExpectedError("a function's name");
    EMBER_ASSIGN_OR_RETURN(Attribute name, attributes_.ParseAttribute());
    function.name = std::move(name.text);
    OperationParser body(attributes_, function);
    EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
    while (!lexer_.Accept(")")) {
      if (!function.type.inputs.empty())
        EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
      const Token argument = lexer_.Peek();
      if (IsSigil(argument, '%')) {
        lexer_.Next();
        EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
      }
      EMBER_ASSIGN_OR_RETURN(Type type, attributes_.ParseType());
      if (IsSigil(argument, '%')) {
        EMBER_ASSIGN_OR_RETURN(const int value, body.Define(argument, type));
        function.body.arguments.push_back(value);
      }
      function.type.inputs.push_back(std::move(type));
      function.argument_attributes.emplace_back();
      EMBER_RETURN_IF_ERROR(
          ParseOwnAttributes(function.argument_attributes.back()));
    }
    if (lexer_.Accept("->")) EMBER_RETURN_IF_ERROR(ParseResults(function));
    if (lexer_.Accept("attributes"))
      EMBER_RETURN_IF_ERROR(attributes_.ParseAttributes().status());
    if (lexer_.Peek().Is("{")) {
      if (function.body.arguments.size() != function.type.inputs.size())
        return ErrorAt(at, "expected a name for each argument");
      function.has_body = true;
      EMBER_RETURN_IF_ERROR(body.ParseBody(function.body));
    }
    EMBER_RETURN_IF_ERROR(attributes_.SkipLocation());
    return AddFunction(std::move(function), at);
  }

  Status ParseOwnAttributes(AttributeList& attributes) {
    if (lexer_.Peek().Is("{")) {
      EMBER_ASSIGN_OR_RETURN(attributes, attributes_.ParseAttributes());
    }
    return attributes_.SkipLocation();
  }

  Status ParseResults(Function& function) {
    const bool several = lexer_.Accept("(");
    while (!several || !lexer_.Accept(")")) {
      if (!function.type.results.empty())
        EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
      EMBER_ASSIGN_OR_RETURN(function.type.results.emplace_back(),
                             attributes_.ParseType());
      function.result_attributes.emplace_back();
      // A function with a single result may be written "-> type": without
      // parentheses and without attributes of the result, so a following '{'
      // begins the function's body.
      if (!several) break;
      EMBER_RETURN_IF_ERROR(
          ParseOwnAttributes(function.result_attributes.back()));
    }
    return OkStatus();
  }

  // Parses a function in generic form: "func.func"() <{function_type = …,
  // sym_name = "f"}> ({ … }) : () -> ().
  Status ParseGenericFunction() {
    const Token at = lexer_.Next();
    Function function;
    OperationParser body(attributes_, function);
    AttributeList attributes;
    EMBER_RETURN_IF_ERROR(ParseGenericHead(attributes));
    EMBER_RETURN_IF_ERROR(body.ParseBlock(function.body));
    function.has_body = !function.body.operations.empty();
    EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
    EMBER_RETURN_IF_ERROR(ParseGenericTail(attributes));
    for (auto& [key, value] : attributes) {
      if (key == "sym_name") {
        function.name = value.text;
      } else if (key == "function_type") {
        function.type = value.type;
      } else if (key == "sym_visibility") {
        function.is_private = value.text != "public";
      } else if (key == "arg_attrs" || key == "res_attrs") {
        auto& lists = key == "arg_attrs" ? function.argument_attributes
                                         : function.result_attributes;
        for (Attribute& list : value.array)
          lists.push_back(std::move(list.entries));
      }
    }
    if (function.type.kind != Type::Kind::kFunction)
      return ErrorAt(at, "expected a function_type");
    if (function.has_body &&
        function.body.arguments.size() != function.type.inputs.size())
      return ErrorAt(at,
                     "expected as many arguments of the body as the "
                     "function's type has");
    for (size_t i = 0; i < function.body.arguments.size(); ++i) {
      const auto& value =
          function.values[static_cast<size_t>(function.body.arguments[i])];
      if (value.type != function.type.inputs[i])
        return ErrorAt(at, "argument " + std::to_string(i) + ": expected " +
                               ToString(function.type.inputs[i]) + ", found " +
                               ToString(value.type));
    }
    function.argument_attributes.resize(function.type.inputs.size());
    function.result_attributes.resize(function.type.results.size());
    return AddFunction(std::move(function), at);
  }

  AttributeParser attributes_;
  MlirLexer& lexer_;
  Module module_;
};

}  // namespace

StatusOr<Module> ParseModule(std::string_view text) {
  return ModuleParser(text).Parse();
}

}  // namespace ember::stablehlo

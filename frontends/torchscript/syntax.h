// Parses the code of a TorchScript archive: the part of Python's syntax in
// which PyTorch writes a model's classes and functions, as trees.
//
//   EMBER_ASSIGN_OR_RETURN(
//       const SourceFile file,
//       ParseSource("def f(x: Tensor) -> Tensor:\n  return torch.relu(x)\n"));
//   file.functions.at("f").body[0].kind == Statement::Kind::kReturn;
//
// Trees are at most kMaxNesting deep, so that code may walk them by recursion.
// Errors are one line with the line of the text. Thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_SYNTAX_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_SYNTAX_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::torchscript {

inline constexpr int kMaxNesting = 200;

struct Expression {
  enum class Kind : uint8_t {
    kName,       // text
    kInteger,    // integer
    kFloat,      // number
    kString,     // text
    kBool,       // integer
    kNone,       // no members
    kList,       // parts
    kTuple,      // parts
    kDict,       // `parts` alternate between keys and values
    kAttribute,  // parts[0].text
    kSubscript,  // parts[0][parts[1]]
    // The slice start:end:step. `parts` has these three; a missing one is
    // kNone.
    kSlice,
    // The call parts[0](parts[1], …). The last arguments are named by
    // `keywords`.
    kCall,
    // A unary operator: `text` ("-" or "not") applied to parts[0].
    kUnary,
    // A binary operator: parts[0] `text` parts[1], where `text` is "+", "==",
    // "and" ….
    kBinary,
    kConditional,  // The expression "parts[0] if parts[1] else parts[2]".
  };
  Kind kind = Kind::kNone;
  int line = 0;
  int depth = 1;
  int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<Expression> parts;
  std::vector<std::string> keywords;

  bool is_name(std::string_view name) const {
    return kind == Kind::kName && text == name;
  }
};

struct Statement {
  enum class Kind : uint8_t {
    // The assignment "targets[0] = value". A target is a name, an attribute or
    // a tuple.
    kAssign,
    kExpression,  // value
    kIf,          // value, body, otherwise
    kWhile,       // value, body
    kFor,         // The loop "for targets[0] in value: body".
    // The statement "with value as targets[0]: body"; `targets` may be empty.
    kWith,
    kDefine,  // def targets[0](): body
    kReturn,  // value
    kPass,
    kRaise,   // value
    kAssert,  // value
  };
  Kind kind = Kind::kPass;
  int line = 0;
  std::vector<Expression> targets;
  Expression value;
  std::vector<Statement> body, otherwise;
};

struct Parameter {
  std::string name;
  std::optional<Expression> type, standard;  // annotation and default
};

struct Function {
  std::string name;
  std::vector<Parameter> parameters;
  std::optional<Expression> result_type;
  std::vector<Statement> body;
  int line = 0;
};

struct Class {
  std::string name;
  // The base class: Module, NamedTuple, Enum or Interface; "" for a class
  // without a base.
  std::string base;
  struct Attribute {
    std::string name;
    std::optional<Expression> type, value;
  };
  std::vector<Attribute> attributes;  // in their order
  std::map<std::string, Function, std::less<>> methods;
};

struct SourceFile {
  std::map<std::string, Class, std::less<>> classes;
  std::map<std::string, Function, std::less<>> functions;
};

StatusOr<SourceFile> ParseSource(std::string_view text);

// Returns a type annotation as text, such as "List[Tensor]".
std::string TypeText(const Expression& type);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_SYNTAX_H_

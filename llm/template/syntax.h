// The syntax trees of templates. Their depth is limited by kMaxSyntaxDepth, so
// that recursive functions and destructors need little stack.
#ifndef EMBER_LLM_TEMPLATE_SYNTAX_H_
#define EMBER_LLM_TEMPLATE_SYNTAX_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "llm/template/value.h"

namespace ember::llm {

inline constexpr int kMaxSyntaxDepth = 128;

struct Expression {
  enum class Kind : uint8_t {
    kConstant,     // A constant is in `value`.
    kName,         // A variable's name is in `name`.
    kList,         // A list's children are its items.
    kTuple,        // A tuple's children are its items.
    kDict,         // A dict's children are its keys and values in turn: key,
                   // value, key, value, ...
    kUnary,        // A unary operator is in `name` ("-", "+" or "not"); it has
                   // one child.
    kBinary,       // A binary operator is in `name`; it has two children.
    kAnd,          // The operator "and" has two children.
    kOr,           // The operator "or" has two children.
    kCompare,      // A comparison's children are its operands; `operators` has
                   // one entry fewer.
    kConcat,       // A concatenation ("~") has its operands as children.
    kConditional,  // A conditional's children are the condition, the value, and
                   // the value after "else", if there is one.
    kAttribute,    // An attribute's name is in `name`; its child is the object.
    kItem,         // An item's children are the object and the key.
    kSlice,        // A slice's children are the object, begin, end and step,
                   // each of which may be null except the object.
    kCall,         // A call's children are the function and the arguments.
    kFilter,       // A filter's name is in `name`; its children are the object
                   // and the arguments.
    kTest,         // A test's name is in `name`; its children are the object
                   // and the arguments.
  };
  Kind kind = Kind::kConstant;
  int line = 0;
  int depth = 1;  // depth of the tree: one more than that of its deepest child
  std::string name;
  Value value;
  std::vector<std::unique_ptr<Expression>> children;
  // The name of each argument of a call: "" for a positional one, "*" or "**"
  // for a list or dict of arguments.
  std::vector<std::string> argument_names;
  std::vector<std::string> operators;
};

using ExpressionPointer = std::unique_ptr<Expression>;

struct Statement;
using Statements = std::vector<Statement>;

// A target of an assignment or a loop: a variable, or an attribute of a
// namespace.
struct AssignTarget {
  std::string name;
  std::string attribute;  // name of the attribute; empty if the target is a
                          // variable
};

struct Statement {
  enum class Kind : uint8_t {
    kText,         // The text outside of tags is in `text`.
    kOutput,       // expressions[0] is written to the output.
    kIf,           // An if statement: expressions[i] is the condition of
                   // bodies[i]; the body of an else has none.
    kFor,          // A for statement: targets; expressions: items and filter
                   // (may be null); bodies: of the loop and of its else.
    kSet,          // A set statement: targets; expressions: the value.
    kSetBlock,     // A set block: targets; expressions: the filters, which
                   // apply to kBlockInput; bodies: one.
    kMacro,        // A macro: its name is in `text`; parameters; bodies: one.
    kCallBlock,    // A call block: expressions: the call; parameters; bodies:
                   // one.
    kFilterBlock,  // A filter block: expressions: the filters, which apply to
                   // kBlockInput; bodies: one.
    kWith,         // A with statement: targets, with an expression each;
                   // bodies: one.
    kGroup,        // A group of statements is in bodies[0].
    kBreak,
    kContinue,
  };
  Kind kind = Kind::kText;
  int line = 0;
  bool is_recursive = false;  // kFor
  std::string text;
  std::vector<AssignTarget> targets;
  std::vector<ExpressionPointer> expressions;
  std::vector<Statements> bodies;
  // Names of parameters, each with its default value, which is null if there is
  // none.
  std::vector<std::pair<std::string, ExpressionPointer>> parameters;
};

// In the expressions of kSetBlock and kFilterBlock, a variable of this name
// holds the text of the block. No template can use such a name.
inline constexpr std::string_view kBlockInput = "<block>";

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_SYNTAX_H_

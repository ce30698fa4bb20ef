// The syntax trees of templates.
//
// Trees have a limited depth (kMaxSyntaxDepth), so that walking and destroying
// them takes little stack.
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
    kConstant,     // value
    kName,         // name
    kList,         // children
    kTuple,        // children
    kDict,         // children: key, value, key, value, ...
    kUnary,        // name: "-", "+" or "not"; one child
    kBinary,       // name: the operator; two children
    kAnd,          // two children
    kOr,           // two children
    kCompare,      // children: operands; operators: one fewer
    kConcat,       // children
    kConditional,  // children: condition, value, other value (may be absent)
    kAttribute,    // name; child: object
    kItem,         // children: object, key
    kSlice,        // children: object, begin, end, step; each may be null
    kCall,         // children: function, arguments
    kFilter,       // name; children: object, arguments
    kTest,         // name; children: object, arguments
  };
  Kind kind = Kind::kConstant;
  int line = 0;
  int depth = 1;  // One more than the deepest child's.
  std::string name;
  Value value;
  std::vector<std::unique_ptr<Expression>> children;
  // For each argument its name: "" if it is positional, "*" and "**" if it is
  // a list or dict of arguments.
  std::vector<std::string> argument_names;
  std::vector<std::string> operators;
};

using ExpressionPointer = std::unique_ptr<Expression>;

struct Statement;
using Statements = std::vector<Statement>;

// The target of an assignment or a loop: a name, an attribute of a
// namespace, or several of these.
struct AssignTarget {
  std::string name;
  std::string attribute;  // Empty if the target is no attribute.
};

struct Statement {
  enum class Kind : uint8_t {
    kText,         // text
    kOutput,       // expressions[0]
    kIf,           // expressions[i] is the condition of bodies[i]; an else body
                   // has none
    kFor,          // targets; expressions: items, filter (may be null);
                   // bodies: loop, else
    kSet,          // targets; expressions: value
    kSetBlock,     // targets; expressions: filters of kBlockInput; bodies: one
    kMacro,        // text: name; parameters; bodies: one
    kCallBlock,    // expressions: a call; parameters; bodies: one
    kFilterBlock,  // expressions: filters of kBlockInput; bodies: one
    kWith,         // targets with expressions; bodies: one
    kGroup,        // bodies: one
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
  // Names with default values, which may be null.
  std::vector<std::pair<std::string, ExpressionPointer>> parameters;
};

// The name of the text of the block in the expressions of
// kSetBlock and kFilterBlock. No template can write it.
inline constexpr std::string_view kBlockInput = "<block>";

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_SYNTAX_H_

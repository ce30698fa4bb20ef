// Executes the syntax tree of a template.
//
//   Evaluator evaluator(limits);
//   evaluator.SetGlobal("messages", messages);
//   EMBER_ASSIGN_OR_RETURN(std::string text, evaluator.Run(statements));
//
// Templates come from strangers. Each node that is evaluated, item that is
// visited and byte that is created is charged against a limit in advance. The
// depth of nested calls is limited so that 512 KiB of stack are enough. A
// template that exceeds a limit gets an error that names it. Errors begin with
// "line N: ".
//
// The statements must outlive the evaluator, which runs one template once.
// Thread-compatible. Source: the documentation of Jinja.
#ifndef EMBER_LLM_TEMPLATE_EVALUATOR_H_
#define EMBER_LLM_TEMPLATE_EVALUATOR_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/template/syntax.h"
#include "llm/template/value.h"

namespace ember::llm {

struct TemplateLimits {
  uint64_t steps = 20'000'000;           // Limit on the number of evaluated
                                         // nodes and visited items.
  uint64_t bytes = uint64_t{256} << 20;  // Limit on all bytes created, even if
                                         // they were freed.
  uint64_t output_bytes = uint64_t{16} << 20;
  int depth = 500;       // Limit on nested nodes, across calls of macros.
  int value_depth = 64;  // limit on the nesting of lists and other values
};

// The state of a for statement, which the template sees as the variable "loop".
struct Value::Loop {
  std::shared_ptr<const Value::Items> items;
  size_t index = 0;
  int depth = 0;  // number of loops of the same (recursive) statement around
                  // this one
  // The arguments of the last call of loop.changed, printed as text after a
  // bracket. Empty: it was not called yet.
  std::string last_changed;
  // Runs the same loop for other items (a recursive for); empty if the
  // statement is not recursive.
  Value::Function recurse;
};

// Returns the undefined value of a variable or parameter of this name, whose
// use is an error.
Value UndefinedVariable(std::string_view name);

class Evaluator {
 public:
  explicit Evaluator(const TemplateLimits& limits);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  void SetGlobal(std::string_view name, Value value);
  StatusOr<std::string> Run(const Statements& statements);

  // The following functions are for filters, tests and functions of templates.
  // ChargeSteps and ChargeBytes charge work in advance; their error ends the
  // template.
  Status ChargeSteps(uint64_t steps);
  Status ChargeBytes(uint64_t bytes);
  // Make a value of the given contents, after charging its bytes.
  StatusOr<Value> MakeText(std::string text);
  StatusOr<Value> MakeList(Value::Items items);
  StatusOr<Value> MakeTuple(Value::Items items);
  StatusOr<Value> MakeDict(Dict dict);
  // Return value.ToText() or value.Repr(), after charging the bytes.
  StatusOr<std::string> TextOf(const Value& value);
  StatusOr<std::string> ReprOf(const Value& value);
  // Returns the result of Python's a == b.
  StatusOr<bool> Equals(const Value& a, const Value& b);
  // Returns the result of Python's "item in container".
  StatusOr<bool> Contains(const Value& container, const Value& item);
  Value MakeNamespace();
  // Returns the items over which Python's iter() iterates: those of a list, the
  // keys of a dict, the characters of a text.
  StatusOr<Value::Items> ItemsOf(const Value& value);
  StatusOr<Value> Call(const Value& function, const Arguments& arguments);
  // Return object.name or object["name"] (Attribute), or object[key] (Item); an
  // undefined value if it does not exist.
  StatusOr<Value> Attribute(const Value& object, std::string_view name);
  StatusOr<Value> Item(const Value& object, const Value& key);
  // Apply the filter or test of this name to an object.
  StatusOr<Value> ApplyFilter(std::string_view name, const Value& object,
                              const Arguments& arguments);
  StatusOr<bool> ApplyTest(std::string_view name, const Value& object,
                           const Arguments& arguments);

 private:
  // The variables of a body of statements. Variables of the parent scopes are
  // visible, too.
  struct Scope {
    Scope* parent = nullptr;
    std::map<std::string, Value, std::less<>> variables;
    // True if a macro may refer to this scope, which must then outlive its
    // body.
    bool is_captured = false;
  };
  enum class Flow : uint8_t { kNext, kBreak, kContinue };
  // An object of this class counts as one level of nesting while it exists.
  class Nested {
   public:
    explicit Nested(Evaluator* evaluator) : depth_(&evaluator->depth_) {
      ++*depth_;
    }
    ~Nested() { --*depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    int* depth_;
  };

  Status CheckDepth() const;
  // Returns an error if a value would be too large to print or is nested too
  // deeply.
  Status CheckValue(const Value& value) const;
  Scope* PushScope(Scope* parent);
  void PopScope(Scope* scope);
  // Keeps a scope and the scopes around it until the end of the run, because a
  // macro refers to it.
  static void Capture(Scope* scope);
  const Value* Lookup(std::string_view name, const Scope* scope) const;

  StatusOr<Flow> Execute(const Statements& statements, Scope* scope,
                         std::string* output);
  StatusOr<Flow> ExecuteOne(const Statement& statement, Scope* scope,
                            std::string* output);
  StatusOr<Flow> ExecuteIf(const Statement& statement, Scope* scope,
                           std::string* output);
  StatusOr<Flow> ExecuteFor(const Statement& statement, Scope* scope,
                            std::string* output);
  Status RunLoop(const Statement& statement, const Value& items, int depth,
                 Scope* scope, std::string* output);
  Status ExecuteSetBlock(const Statement& statement, Scope* scope);
  Status ExecuteCallBlock(const Statement& statement, Scope* scope,
                          std::string* output);
  Status ExecuteFilterBlock(const Statement& statement, Scope* scope,
                            std::string* output);
  StatusOr<Flow> ExecuteWith(const Statement& statement, Scope* scope,
                             std::string* output);
  Status Write(std::string_view text, std::string* output);
  Status Assign(const std::vector<AssignTarget>& targets, const Value& value,
                Scope* scope);
  Status AssignOne(const AssignTarget& target, const Value& value,
                   Scope* scope);
  StatusOr<Value> MakeMacro(const Statement& statement, Scope* scope);
  Status BindParameters(const Statement& statement, const Arguments& arguments,
                        Scope* scope);
  // Executes the body of a set or filter block, and applies the block's filters
  // to the text that it writes.
  StatusOr<Value> FilteredBlock(const Statement& statement, Scope* scope);

  StatusOr<Value> Evaluate(const Expression& expression, Scope* scope);
  StatusOr<Value> EvaluateKind(const Expression& expression, Scope* scope);
  StatusOr<Value> EvaluateUnary(const Expression& expression, Scope* scope);
  StatusOr<Value> EvaluateBinary(const Expression& expression, Scope* scope);
  StatusOr<Value> EvaluateCompare(const Expression& expression, Scope* scope);
  StatusOr<Value> EvaluateConcat(const Expression& expression, Scope* scope);
  StatusOr<Value> EvaluateConditional(const Expression& expression,
                                      Scope* scope);
  StatusOr<Value> EvaluateDict(const Expression& expression, Scope* scope);
  StatusOr<Value> EvaluateSlice(const Expression& expression, Scope* scope);
  StatusOr<Value> EvaluateFilter(const Expression& expression, Scope* scope);
  StatusOr<Value> EvaluateTest(const Expression& expression, Scope* scope);
  StatusOr<Value::Items> EvaluateAll(const Expression& expression,
                                     Scope* scope);
  StatusOr<Arguments> EvaluateArguments(const Expression& expression,
                                        Scope* scope);

  TemplateLimits limits_;
  uint64_t steps_ = 0;
  uint64_t bytes_ = 0;
  int depth_ = 0;
  std::vector<std::unique_ptr<Scope>> scopes_;
  Scope* globals_;
  // All namespaces of the run. They may refer to each other in cycles, so the
  // destructor clears them.
  std::vector<std::shared_ptr<Value::Namespace>> namespaces_;
};

// Computes a binary arithmetic operation with Python's rules: "+", "-", "*",
// "/", "//", "%" or "**".
StatusOr<Value> Compute(std::string_view operation, const Value& a,
                        const Value& b, Evaluator& evaluator);

// Returns the number of characters of a UTF-8 text.
size_t CharacterCount(std::string_view text);

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_EVALUATOR_H_

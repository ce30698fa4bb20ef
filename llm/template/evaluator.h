// Executes the syntax tree of a template.
//
//   Evaluator evaluator(limits);
//   evaluator.SetGlobal("messages", messages);
//   EMBER_ASSIGN_OR_RETURN(std::string text, evaluator.Run(statements));
//
// Templates come from strangers. Each evaluated node, visited item and created
// byte is charged against a limit before it is done, and calls nest only so
// deep that 512 KiB of stack suffice. A template that exceeds a limit gets an
// error that names it. Errors begin with "line N: ".
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
  uint64_t steps = 20'000'000;           // Nodes and visited items.
  uint64_t bytes = uint64_t{256} << 20;  // Created bytes, freed or not.
  uint64_t output_bytes = uint64_t{16} << 20;
  int depth = 500;       // Nested nodes, over all calls of macros.
  int value_depth = 64;  // Lists in lists.
};

// The state of a for statement: what the template sees as "loop".
struct Value::Loop {
  std::shared_ptr<const Value::Items> items;
  size_t index = 0;
  int depth = 0;  // Loops of the same statement around this one.
  // The values of the last call of loop.changed, printed, and a bracket before
  // them; empty before the first call.
  std::string last_changed;
  // Calls the loop again for other items; empty if it is not recursive.
  Value::Function recurse;
};

// Returns an undefined value for a variable or parameter.
Value UndefinedVariable(std::string_view name);

class Evaluator {
 public:
  explicit Evaluator(const TemplateLimits& limits);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  void SetGlobal(std::string_view name, Value value);
  StatusOr<std::string> Run(const Statements& statements);

  // For filters, tests and functions.
  // Charge what a function is about to do; an error ends the template.
  Status ChargeSteps(uint64_t steps);
  Status ChargeBytes(uint64_t bytes);
  // Make values, and charge their bytes.
  StatusOr<Value> MakeText(std::string text);
  StatusOr<Value> MakeList(Value::Items items);
  StatusOr<Value> MakeTuple(Value::Items items);
  StatusOr<Value> MakeDict(Dict dict);
  // Return value.ToText() and value.Repr().
  StatusOr<std::string> TextOf(const Value& value);
  StatusOr<std::string> ReprOf(const Value& value);
  // Returns a == b.
  StatusOr<bool> Equals(const Value& a, const Value& b);
  // Returns Python's "item in container".
  StatusOr<bool> Contains(const Value& container, const Value& item);
  Value MakeNamespace();
  // Returns what Python's iter() yields: the items of a list, the keys of a
  // dict, the characters of a text.
  StatusOr<Value::Items> ItemsOf(const Value& value);
  StatusOr<Value> Call(const Value& function, const Arguments& arguments);
  // Returns object.name or object["name"]; undefined if it has neither.
  StatusOr<Value> Attribute(const Value& object, std::string_view name);
  StatusOr<Value> Item(const Value& object, const Value& key);
  // Apply a filter or a test by its name.
  StatusOr<Value> ApplyFilter(std::string_view name, const Value& object,
                              const Arguments& arguments);
  StatusOr<bool> ApplyTest(std::string_view name, const Value& object,
                           const Arguments& arguments);

 private:
  // Variables of a body; the parent's are visible.
  struct Scope {
    Scope* parent = nullptr;
    std::map<std::string, Value, std::less<>> variables;
    // True if a macro may refer to this scope, which must then outlive its
    // body.
    bool is_captured = false;
  };
  enum class Flow : uint8_t { kNext, kBreak, kContinue };
  // Counts a nested node while it exists.
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
  // Returns an error if a value is too large or too deep.
  Status CheckValue(const Value& value) const;
  Scope* PushScope(Scope* parent);
  void PopScope(Scope* scope);
  // Keeps a scope and those around it until the end.
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
  // Executes the first body of a block whose filters then change its text.
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
  // All namespaces, so that cycles of them are broken at the end.
  std::vector<std::shared_ptr<Value::Namespace>> namespaces_;
};

// Arithmetic of Python on values: "+", "-", "*", "/", "//", "%" and "**".
StatusOr<Value> Compute(std::string_view operation, const Value& a,
                        const Value& b, Evaluator& evaluator);

// Returns the number of characters of a UTF-8 text.
size_t CharacterCount(std::string_view text);

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_EVALUATOR_H_

// Runs a model's code once, over values that are known or are tensors of a
// graph. The resulting graph is the model with all calls inlined, loops of
// known length unrolled and decided branches taken. Branches and loops that are
// decided at run time become branches and loops of the graph.
//
//   Interpreter interpreter(machine, code, {});
//   Value result = interpreter.CallMethod(net, "forward", {x});
//
// Files, threads and randomness are not available: a model can only name
// operators of the table and its own code. The work is bounded: kMaxSteps
// statements and expressions, kMaxCalls nested calls.
//
// Errors stay in the machine, and name the object and line that caused them.
// Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_INTERPRETER_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_INTERPRETER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/torchscript/code.h"
#include "frontends/torchscript/machine.h"
#include "frontends/torchscript/operator_caller.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

struct InterpreterOptions {
  CallerOptions operators;
  std::vector<Value> constants;  // CONSTANTS.c0, c1 …
};

class Interpreter {
 public:
  static constexpr int64_t kMaxSteps = 2'000'000;
  static constexpr int kMaxCalls = 60;
  // Largest nesting depth of expressions, blocks and calls.
  static constexpr int kMaxDepth = 500;

  Interpreter(Machine& machine, CodeLibrary& code, InterpreterOptions options)
      : machine_(machine),
        code_(code),
        options_(std::move(options)),
        caller_(machine, options_.operators) {}

  Value CallMethod(Object& object, std::string_view name,
                   std::vector<Value> arguments);
  // Returns the name of the first operator that the code called although the
  // operator table does not have it; empty if there is none.
  const std::string& unknown() const { return caller_.unknown(); }
  // Returns the message of the exception that the code raised; nullopt if it
  // raised none.
  const std::optional<std::string>& raised() const { return raised_; }
  // Evaluates the expression that a parameter has as its default value.
  Value Standard(const Expression& expression);

 private:
  using Kind = Value::Kind;

  struct Frame {
    std::map<std::string, Value, std::less<>> variables;
    // Functions that are defined inside the running function, by their names.
    std::map<std::string, const Statement*, std::less<>> closures;
    Value result;
    bool returned = false;
    // Name for errors: the object whose method runs, or the function.
    std::string where;
  };
  // An object that counts a nesting level of calls, blocks or expressions while
  // it exists. Too many levels are an error of the machine.
  class Level;

  // Counts a statement or expression. Returns false, with an error, after
  // kMaxSteps of them: the limit ends endless loops.
  bool CountStep();
  Value CallFunction(const Function& function, const std::string& where,
                     const std::vector<Argument>& arguments);
  Value CallOperator(const std::string& name,
                     const std::vector<Argument>& arguments);

  // Expressions (expressions.cc).
  Value Evaluate(const Expression& expression, Frame& frame);
  Value EvaluateName(const Expression& expression, Frame& frame);
  Value EvaluateAttribute(const Expression& expression, Frame& frame);
  Value EvaluateSubscript(const Expression& expression, Frame& frame);
  Value EvaluateBinary(const Expression& expression, Frame& frame);
  Value EvaluateCall(const Expression& expression, Frame& frame);
  std::optional<Value> CallBuiltin(const Expression& call, Frame& frame);
  std::optional<Value> CallMember(const Expression& call, Frame& frame);
  Value CallClosure(const Statement& definition, const Frame& frame);
  Value CallNamed(const std::string& name,
                  const std::vector<Argument>& arguments);
  std::vector<Argument> Arguments(const Expression& call, Frame& frame);
  Value Attribute(const Value& value, const std::string& name);
  Value Convert(const Value& value, const Expression& type);
  // Returns the full name, such as "torch.nn.relu", if an expression is a chain
  // of attributes that starts with the name of a module; else an empty text.
  std::string QualifiedName(const Expression& expression,
                            const Frame& frame) const;

  // Statements (statements.cc).
  void Execute(const std::vector<Statement>& block, Frame& frame);
  void Execute(const Statement& statement, Frame& frame);
  void Assign(const Expression& target, const Value& value, Frame& frame);
  void ExecuteIf(const Statement& statement, Frame& frame);
  void ExecuteFor(const Statement& statement, Frame& frame);
  void ExecuteWhile(const Statement& statement, Frame& frame);
  // Converts a condition to a bool, as Python does. The bool is known, or a
  // scalar that the program computes.
  Value Truth(const Value& value);

  // The functions below execute branches and loops that are decided at run time
  // (branches.cc, loops.cc).
  struct Branch;
  void ExecuteBoth(const Value& decided, const Statement& statement,
                   Frame& frame);
  void RunBranch(const std::vector<Statement>& block, graph::Region& region,
                 Frame& frame, Branch& branch);
  // Merges the variables and writes of two branches; the bool `decided` is the
  // condition. If the bool only tests if a dim is 0, and a tensor has another
  // rank or element type in one branch than in the other, it changes nothing,
  // sets `conflict` to the tensor's name, and returns false.
  bool MergeBranches(const Value& decided, graph::IfRegions& regions,
                     Branch& then, Branch& otherwise, Frame& frame,
                     std::string& conflict);
  Value Frozen(const Value& value, int depth);
  void ExecuteOpenLoop(const Statement& statement, const Value& count,
                       Frame& frame);
  class Loop;

  Machine& machine_;
  CodeLibrary& code_;
  InterpreterOptions options_;
  OperatorCaller caller_;
  int64_t steps_ = 0;
  int calls_ = 0, depth_ = 0;
  int line_ = 0;
  std::string where_;
  // Message of the exception that the code has raised; nullopt if there is
  // none. It ends the execution of statements.
  std::optional<std::string> raised_;
};

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_INTERPRETER_H_

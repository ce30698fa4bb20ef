// Calls operators of the table by name: finds the row that takes what is given,
// tells who wants to know of it, and runs it.
//
//   OperatorCaller caller(machine, {.version = 9});
//   Value y = caller.Call("aten::relu", {{"", x}}, "encoder, line 3 (relu)");
//
// x.op_(…) without a row of its own is what op gives, written to x.
//
// Errors stick in the machine and name the origin. Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_OPERATOR_CALLER_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_OPERATOR_CALLER_H_

#include <string>
#include <string_view>
#include <vector>

#include "frontends/import_steps.h"
#include "frontends/torchscript/machine.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

struct CallerOptions {
  int version = 10;  // of operators
  // Told of each operator; null: nobody.
  frontends::ImportSteps* steps = nullptr;
};

class OperatorCaller {
 public:
  OperatorCaller(Machine& machine, CallerOptions options)
      : machine_(machine), options_(options) {}

  // origin: what the operations of the graph, and errors, are called.
  Value Call(const std::string& name, const std::vector<Argument>& arguments,
             const std::string& origin);
  // The first operator that the table does not have; empty: none.
  const std::string& unknown() const { return unknown_; }

 private:
  Value RunRow(const TableEntry& entry, std::vector<Value> values);
  Value CallInto(const std::string& name, std::vector<Argument> arguments,
                 const std::string& origin);
  Value WriteBack(const Value& target, const Value& result);
  void FailUnknown(const std::string& name, std::string_view reason);
  void FailArguments(const std::string& name,
                     const std::vector<Argument>& arguments);

  Machine& machine_;
  CallerOptions options_;
  std::string unknown_;
};

// Whether an operator of this name, or the one that its '_' stands behind, has
// a row with a function. reason: why not, if the table says so.
bool IsSupportedOperator(const std::string& name,
                         std::string_view* reason = nullptr);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_OPERATOR_CALLER_H_

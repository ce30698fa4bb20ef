// Calls operators of the table by name: finds the row that accepts the
// arguments, reports the operator to the import's steps, and runs the row.
//
//   OperatorCaller caller(machine, {.version = 9});
//   Value y = caller.Call("aten::relu", {{"", x}}, "encoder, line 3 (relu)");
//
// If x.op_(…) has no row of its own, the result of op is written to x. If op
// only changes the shape, x becomes the view that op returns.
//
// Errors stay in the machine and name the origin. Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_OPERATOR_CALLER_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_OPERATOR_CALLER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/import_steps.h"
#include "frontends/torchscript/machine.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

struct CallerOptions {
  // Version of PyTorch's operators for which the archive was written.
  int version = 10;
  // Receives the name of each operator that is called; may be null.
  frontends::ImportSteps* steps = nullptr;
};

class OperatorCaller {
 public:
  OperatorCaller(Machine& machine, CallerOptions options)
      : machine_(machine), options_(options) {}

  // Calls an operator. `origin`: description of the call for errors and for the
  // operations of the graph.
  Value Call(const std::string& name, const std::vector<Argument>& arguments,
             const std::string& origin);
  // Returns the name of the first called operator that the operator table does
  // not have; empty if there is none.
  const std::string& unknown() const { return unknown_; }

 private:
  // Returns the number that a traced constant holds (Cell::is_traced_number);
  // nullopt if code has written to the tensor.
  std::optional<Value> NumberOf(const Value& constant);
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

// True if an operator of this name, or of the name without its final '_', has a
// row with a function in the operator table. `reason`: receives the reason for
// which it has no function, if the table states one.
bool IsSupportedOperator(const std::string& name,
                         std::string_view* reason = nullptr);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_OPERATOR_CALLER_H_

// What nodes of a program call, in the names of frontends/torchscript's
// operator table.
//
//   OperatorOfTarget("torch.ops.aten.add.Tensor") == "aten::add"
//   OperatorOfTarget("_operator.floordiv") == "aten::floordiv"
//
// Thread-safe.
#ifndef EMBER_FRONTENDS_TORCH_EXPORT_TARGETS_H_
#define EMBER_FRONTENDS_TORCH_EXPORT_TARGETS_H_

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "frontends/torch_export/program.h"

namespace ember::torch_export {

// Empty: none. Overloads have one name: the table tells them by what is given.
std::string OperatorOfTarget(std::string_view target);

// Functions of Python on the ints, floats and booleans that a program computes,
// each with the operator that it is.
struct NumberFunction {
  std::string_view target, op;
};
std::span<const NumberFunction> NumberFunctions();

// Operators that take graphs ("torch.ops.higher_order.cond").
enum class HigherOrder {
  kNone,
  kCond,
  kWhile,
  kMap,
  kScan,
  // Runs one graph, which stands behind so many other arguments.
  kInvoke,
  kWrapWithSetGrad,
  kWrapWithAutocast,
};
struct HigherOrderRow {
  std::string_view target;
  HigherOrder kind;
};
std::span<const HigherOrderRow> HigherOrderRows();
HigherOrder HigherOrderOfTarget(std::string_view target);

// One error that lists all that the graph, and those in it, call and that is
// not supported.
Status CheckTargets(const Graph& graph);

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_TARGETS_H_

// Converts the targets of a program's nodes to the names of
// frontends/torchscript's operator table.
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

// Returns the table's name for the target of a node; empty if there is none.
// The overload is not part of the name: the table selects the row by the
// arguments.
std::string OperatorOfTarget(std::string_view target);

// A Python function on numbers, such as math.floor, as the target of a node,
// and the operator of the table that computes it. Programs call such functions
// on extents.
struct NumberFunction {
  std::string_view target, op;
};
std::span<const NumberFunction> NumberFunctions();

// The higher-order operators, which have graphs as arguments, such as
// "torch.ops.higher_order.cond".
enum class HigherOrder {
  kNone,
  kCond,
  kWhile,
  kMap,
  kScan,
  // An operator that only runs one graph. The graph follows a fixed number of
  // other arguments.
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

// Returns one error that lists all unsupported targets in the graph and in
// nested graphs.
Status CheckTargets(const Graph& graph);

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_TARGETS_H_

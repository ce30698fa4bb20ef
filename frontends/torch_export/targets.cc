#include "frontends/torch_export/targets.h"

#include "frontends/model_errors.h"
#include "frontends/torchscript/operator_caller.h"

namespace ember::torch_export {
namespace {

constexpr std::string_view kOperators = "torch.ops.";

constexpr NumberFunction kFunctions[] = {
    {"_operator.add", "aten::add"},
    {"_operator.sub", "aten::sub"},
    {"_operator.mul", "aten::mul"},
    {"_operator.truediv", "aten::div"},
    {"_operator.floordiv", "aten::floordiv"},
    {"_operator.mod", "aten::remainder"},
    {"_operator.pow", "aten::pow"},
    {"_operator.neg", "aten::neg"},
    {"_operator.pos", "aten::IntImplicit"},
    {"_operator.eq", "aten::eq"},
    {"_operator.ne", "aten::ne"},
    {"_operator.lt", "aten::lt"},
    {"_operator.le", "aten::le"},
    {"_operator.gt", "aten::gt"},
    {"_operator.ge", "aten::ge"},
    {"_operator.and_", "aten::__and__"},
    {"_operator.or_", "aten::__or__"},
    {"_operator.not_", "aten::__not__"},
    {"_operator.getitem", "aten::__getitem__"},
    {"math.ceil", "aten::ceil"},
    {"math.floor", "aten::floor"},
    {"math.trunc", "aten::Int"},
    {"math.sqrt", "aten::sqrt"},
    {"builtins.abs", "prim::abs"},
    {"builtins.max", "prim::max"},
    {"builtins.min", "prim::min"},
    {"builtins.round", "aten::round"},
    {"builtins.int", "aten::Int"},
    {"builtins.float", "aten::Float"},
    {"torch.sym_int", "aten::Int"},
    {"torch.sym_float", "aten::Float"},
    {"torch.sym_max", "prim::max"},
    {"torch.sym_min", "prim::min"},
    {"torch.sym_not", "aten::__not__"},
    {"torch.sym_sum", "aten::sum"},
    {"torch._sym_sqrt", "aten::sqrt"},
    {"torch.sym_sqrt", "aten::sqrt"},
};

constexpr HigherOrderRow kHigherOrder[] = {
    {"torch.ops.higher_order.cond", HigherOrder::kCond},
    {"torch.ops.higher_order.while_loop", HigherOrder::kWhile},
    {"torch.ops.higher_order.map_impl", HigherOrder::kMap},
    {"torch.ops.higher_order.scan", HigherOrder::kScan},
    {"torch.ops.higher_order.invoke_subgraph", HigherOrder::kInvoke},
    {"torch.ops.higher_order.strict_mode", HigherOrder::kInvoke},
    {"torch.ops.higher_order.wrap_with_set_grad_enabled",
     HigherOrder::kWrapWithSetGrad},
    {"torch.ops.higher_order.wrap_with_autocast",
     HigherOrder::kWrapWithAutocast},
};

void Collect(const Graph& graph, frontends::UnsupportedParts& parts);

void Collect(const Argument& argument, frontends::UnsupportedParts& parts) {
  if (argument.graph != nullptr) Collect(*argument.graph, parts);
}

void Collect(const Graph& graph, frontends::UnsupportedParts& parts) {
  for (const Node& node : graph.nodes) {
    for (const NamedArgument& input : node.inputs) Collect(input.value, parts);
    if (HigherOrderOfTarget(node.target) != HigherOrder::kNone) continue;
    const std::string op = OperatorOfTarget(node.target);
    std::string_view reason;
    if (!op.empty() && torchscript::IsSupportedOperator(op, &reason)) continue;
    std::string_view shown = node.target;
    if (shown.starts_with(kOperators)) shown.remove_prefix(kOperators.size());
    parts.Add(std::string(shown), node.name, reason);
  }
}

}  // namespace

std::span<const NumberFunction> NumberFunctions() { return kFunctions; }
std::span<const HigherOrderRow> HigherOrderRows() { return kHigherOrder; }

std::string OperatorOfTarget(std::string_view target) {
  for (const NumberFunction& function : kFunctions)
    if (function.target == target) return std::string(function.op);
  if (!target.starts_with(kOperators)) return "";
  // After the prefix, the target has the form NAMESPACE.NAME.OVERLOAD. The name
  // in the table is that without the overload, with "::" after the namespace.
  target.remove_prefix(kOperators.size());
  const size_t first = target.find('.');
  const size_t last = target.rfind('.');
  if (first == std::string_view::npos || first == last) return "";
  std::string op = std::string(target.substr(0, first)) + "::" +
                   std::string(target.substr(first + 1, last - first - 1));
  // NAME_copy returns a copy of the result of the view operator NAME. If the
  // table has no row NAME_copy, NAME is used instead. In a program that does
  // not write in place both give the same results.
  constexpr std::string_view kCopy = "_copy";
  if (op.ends_with(kCopy) && torchscript::FindOperator(op).empty() &&
      torchscript::IsSupportedOperator(op.substr(0, op.size() - kCopy.size())))
    op.resize(op.size() - kCopy.size());
  return op;
}

HigherOrder HigherOrderOfTarget(std::string_view target) {
  for (const HigherOrderRow& row : kHigherOrder)
    if (row.target == target) return row.kind;
  return HigherOrder::kNone;
}

Status CheckTargets(const Graph& graph) {
  frontends::UnsupportedParts parts("operators", "node");
  Collect(graph, parts);
  return parts.ToStatus();
}

}  // namespace ember::torch_export

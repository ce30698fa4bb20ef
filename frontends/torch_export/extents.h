// Parses extents, as SymPy prints them, into dims.
//
//   EMBER_ASSIGN_OR_RETURN(const graph::Dim dim, ParseExtent("2*s0 + 1"));
//
// PyTorch 2.6 and later write trees instead: "Symbol('s0', positive=True)"
// (printed_tree.h).
//
// Supported are integers, symbols, + - * // and powers of symbols, parentheses,
// and the functions that PyTorch's printer uses for integers: Mod, PythonMod,
// Max, Min, FloorDiv, CleanDiv, CeilDiv. Errors are one line. Thread-safe.
//
// Source: torch/utils/_sympy/functions.py.
#ifndef EMBER_FRONTENDS_TORCH_EXPORT_EXTENTS_H_
#define EMBER_FRONTENDS_TORCH_EXPORT_EXTENTS_H_

#include <string_view>

#include "base/status.h"
#include "compiler/graph/dim.h"

namespace ember::torch_export {

StatusOr<graph::Dim> ParseExtent(std::string_view text);

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_EXTENTS_H_

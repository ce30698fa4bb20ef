// Parses the trees by which PyTorch 2.6 and later print extents: SymPy's form
// srepr.
//
//   IsPrintedTree("Add(Symbol('s0', positive=True), Integer(1))") == true
//   EMBER_ASSIGN_OR_RETURN(const graph::Dim dim, ParsePrintedTree(text));
//
// Supported are Integer, Symbol (its assumptions are ignored), Add, Mul, Pow
// with a power from 1 to 8, Max, Min, Mod, PythonMod, FloorDiv, CleanDiv and
// CeilDiv. Errors are one line. The parser does not recurse deeper than 100
// calls. Thread-safe.
//
// Source: sympy/printing/repr.py; torch/_export/serde/serialize.py
// (_print_sympy).
#ifndef EMBER_FRONTENDS_TORCH_EXPORT_PRINTED_TREE_H_
#define EMBER_FRONTENDS_TORCH_EXPORT_PRINTED_TREE_H_

#include <string_view>

#include "base/status.h"
#include "compiler/graph/dim.h"

namespace ember::torch_export {

// True if the text is a printed tree: only such trees contain a call of Symbol
// or Integer.
bool IsPrintedTree(std::string_view text);

// Parses a printed tree. The result may be an invalid dim (Dim::is_valid) if a
// number exceeds 64 bits.
StatusOr<graph::Dim> ParsePrintedTree(std::string_view text);

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_PRINTED_TREE_H_

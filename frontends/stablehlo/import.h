// StableHLO becomes a graph.
//
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph,
//                          ImportModel("model.mlir", {}));
//
// The entry is the function `main`, or the only public one, or that which the
// options name. Inputs are called as the program says (jax.arg_info, else the
// argument's name, else arg0 …), outputs as jax.result_info says, else
// result0 …
//
// Errors are one line with the operation, its line and column. Thread-safe.
#ifndef EMBER_FRONTENDS_STABLEHLO_IMPORT_H_
#define EMBER_FRONTENDS_STABLEHLO_IMPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"

namespace ember::stablehlo {

StatusOr<graph::Graph> ImportModel(const std::string& path,
                                   const frontends::ImportOptions& options);
// The same of a file's contents, which may go afterwards; `name` is for errors.
StatusOr<graph::Graph> ImportModelContents(
    std::string_view contents, const frontends::ImportOptions& options,
    std::string_view name = "model");

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    const std::string& path, const frontends::ImportOptions& options);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_IMPORT_H_

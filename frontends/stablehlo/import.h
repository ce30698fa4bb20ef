// StableHLO programs become graphs.
//
//   frontends::ModelFile file("model.mlir");
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel(file, {}));
//
// The entry is the function that the options name, or `main`, or the only
// public function. Inputs have the names in the program (jax.arg_info, else the
// argument's name, else arg0 …), outputs those of jax.result_info, else result0
// …
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

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options);
// Imports a file's contents, which may be freed afterwards; `name` is for
// errors.
StatusOr<graph::Graph> ImportModelContents(
    std::string_view contents, const frontends::ImportOptions& options,
    std::string_view name = "model");

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& options);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_IMPORT_H_

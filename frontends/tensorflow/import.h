// Imports TensorFlow models as graphs.
//
//   frontends::ModelFile file("m.pb");
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel(file, {}));
//
// Files: GraphDef (.pb, .pbtxt) and SavedModel (saved_model.pb or .pbtxt, with
// the variables in the same folder). Every operator is decomposed into the few
// operators of the graph; tensors keep the model's order of dims. Inputs and
// outputs have the names of a signature, else those of their nodes (entry.h).
// Dims that the model leaves open are symbols (INPUT_AXIS). Variables that the
// model assigns are state (graph_importer.h).
//
// Errors are one line. All unsupported operators that the entry needs are
// listed at once; malformed files are refused with what was expected and found.
// Thread-safe.
#ifndef EMBER_FRONTENDS_TENSORFLOW_IMPORT_H_
#define EMBER_FRONTENDS_TENSORFLOW_IMPORT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"

namespace ember::tensorflow {

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options);

// Imports a model from memory. `name`: the name of the model in errors.
// `folder`: where the variables of a SavedModel are; empty if there are none.
StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        const frontends::ImportOptions& options,
                                        std::string_view name = "model",
                                        const std::string& folder = "");

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_IMPORT_H_

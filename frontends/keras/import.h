// Keras models become graphs: .h5 (HDF5 with the model's configuration) and
// .keras (ZIP with config.json, metadata.json and model.weights.h5).
//
//   frontends::ModelFile file("m.keras");
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel(file, {}));
//
// Every layer is decomposed into the few operators of the graph, as it computes
// outside of training. Weights stay in the mapped file where elements are
// aligned in it. Inputs have the names of the input layers, outputs those of
// the layers that produce them. The batch is the symbol N for all inputs, other
// open dims are INPUT_AXIS. The state of a stateful layer becomes inputs and
// results of the graph (frontends/frontend.h).
//
// Errors are one line. All unsupported layers of a model are listed at once.
// Malformed files are refused with what was expected and found. Thread-safe.
#ifndef EMBER_FRONTENDS_KERAS_IMPORT_H_
#define EMBER_FRONTENDS_KERAS_IMPORT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"

namespace ember::keras {

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options);

// Imports from memory. `owner` keeps the bytes alive; if it is null, they are
// copied. `name` is the model's name in errors.
StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name = "model");

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& options);

// True for HDF5, and for a ZIP archive with a config.json.
bool IsModel(std::string_view contents);

}  // namespace ember::keras

#endif  // EMBER_FRONTENDS_KERAS_IMPORT_H_

// TensorFlow Lite models become graphs.
//
//   frontends::ModelFile file("m.tflite");
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel(file, {}));
//
// Every operator is decomposed into the few operators of the graph. Weights
// stay in the mapped file. Inputs and outputs have the names in the signature,
// else those of their tensors (entry.h); quantized ones are the stored
// integers. Dims that the model leaves open are symbols (INPUT_AXIS). If the
// operators cannot leave them open, they have the extents of the model's
// shapes. State becomes inputs and results of its own (graph_importer.h).
//
// Errors are one line. All unsupported operators of a model are listed at once.
// Malformed files are refused with what was expected and found. Thread-safe.
#ifndef EMBER_FRONTENDS_TFLITE_IMPORT_H_
#define EMBER_FRONTENDS_TFLITE_IMPORT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"

namespace ember::tflite {

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

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_IMPORT_H_

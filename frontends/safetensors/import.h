// Models of Hugging Face's transformers become graphs: a folder with
// config.json and model.safetensors, or shards with
// model.safetensors.index.json (language_models/build_model.h has the graph's
// inputs and results).
//
//   frontends::ModelFile file("folder/model.safetensors");
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel(file, {}));
//
// The model's file is the safetensors file or the index; the other files are
// looked for in its folder and nowhere else. Weights stay in the mapped files,
// except for those that are stored in another order.
//
// Errors are one line. Thread-safe.
#ifndef EMBER_FRONTENDS_SAFETENSORS_IMPORT_H_
#define EMBER_FRONTENDS_SAFETENSORS_IMPORT_H_

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"

namespace ember::safetensors {

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options);
StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& options);

// Imports one safetensors file from memory, with the text of its config.json.
// `owner` keeps the bytes alive; if it is null, they are copied.
StatusOr<graph::Graph> ImportModelBytes(std::string_view config,
                                        std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name = "model");

}  // namespace ember::safetensors

#endif  // EMBER_FRONTENDS_SAFETENSORS_IMPORT_H_

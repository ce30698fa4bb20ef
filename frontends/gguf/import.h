// GGUF files of language models become graphs (language_models/build_model.h
// has their inputs and results).
//
//   frontends::ModelFile file("model.gguf");
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel(file, {}));
//
// Weights keep their own layout, and stay in the mapped file if they are
// aligned there. Texts and numbers of the metadata "general.*" become metadata
// of the graph, but arrays do not.
//
// Errors are one line. Thread-safe.
#ifndef EMBER_FRONTENDS_GGUF_IMPORT_H_
#define EMBER_FRONTENDS_GGUF_IMPORT_H_

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"

namespace ember::gguf {

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options);
StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& options);

// Imports from memory. `owner` keeps the bytes alive; if it is null, they are
// copied.
StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name = "model");

}  // namespace ember::gguf

#endif  // EMBER_FRONTENDS_GGUF_IMPORT_H_

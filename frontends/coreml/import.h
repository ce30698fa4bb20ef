// Core ML's models become graphs.
//
//   frontends::ModelFile file("m.mlmodel");  // or "m.mlpackage"
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel(file, {}));
//
// Inputs and outputs have the names in the description. Images are u8 [1,
// height, width, channels], channels in the model's order of colors. Numbers
// and texts are columns: [1], or [N] for N rows if all inputs are columns. More
// than kMaxColumns numbers become one input `features` f64 [N, count] with a
// column for each. A classifier's label is i64 or a text; its probabilities are
// numbers in the order of the labels. Networks give f32, whatever the
// description says. A size that the model lets vary becomes its default size,
// unless ImportOptions::input_shapes gives another one.
//
// Weights stay in the mapped file where they are aligned there. Errors are one
// line. All unsupported layers and operations are listed at once. Thread-safe.
#ifndef EMBER_FRONTENDS_COREML_IMPORT_H_
#define EMBER_FRONTENDS_COREML_IMPORT_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"

namespace ember::coreml {

inline constexpr size_t kMaxColumns = 256;

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options);
StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& options);

// True if models of a kind (model.h: ModelField) are imported.
bool ReadsKind(uint64_t kind);

// Imports from memory. `owner` keeps the bytes alive; if it is null, they are
// copied.
StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name = "model");

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_IMPORT_H_

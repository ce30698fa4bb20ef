// Core ML's models become graphs.
//
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel("m.mlmodel", {}));
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel("m.mlpackage", {}));
//
// Inputs and outputs are called as the description calls them. Images are u8
// [1, height, width, channels], channels in the model's order of colors.
// Numbers and texts are columns: [1], or [N] where all inputs are such; of more
// than kMaxColumns of them one input `features` f64 [N, count] is made, a
// column for each. A classifier's label is i64 or a text, its probabilities are
// numbers in the order of the labels. Networks give f32 whatever the
// description says. Sizes that vary are the model's default, which
// ImportOptions::input_shapes replace.
//
// Weights stay in the mapped file where they are aligned there. Errors are one
// line; all unsupported layers and operations are listed at once. Thread-safe.
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

StatusOr<graph::Graph> ImportModel(const std::string& path,
                                   const frontends::ImportOptions& options);
StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    const std::string& path, const frontends::ImportOptions& options);

// Whether models of a kind (model.h: ModelField) are imported.
bool ReadsKind(uint64_t kind);

// From memory, which `owner` keeps; null: it is copied.
StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name = "model");

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_IMPORT_H_

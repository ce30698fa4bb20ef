// Imports archives of torch.export as graphs: NAME.pt2 as torch.export.save
// writes it.
//
//   frontends::ModelFile file("net.pt2");
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel(file, {}));
//
// Inputs have the names, types and dims of the program. Open dims are its
// symbols ("s0"); dims that are expressions of symbols ("2*s0") are open, too.
// The program that Ember makes checks these expressions, and the ranges that
// the model states for symbols. Results have the names of the values that the
// program returns. If the program changes an input, the new contents are a
// result INPUT_after.
//
// Buffers that the program changes are state: inputs and results of the logical
// type frontends::kStateType. If a buffer is not all zeros before the first
// call, there is a further state, the bool `started`, which is false in the
// first call only.
//
// If an archive has several programs, the options' entry selects one.
//
// Errors are one line. All unsupported operators of the program are listed at
// once. Thread-safe.
#ifndef EMBER_FRONTENDS_TORCH_EXPORT_IMPORT_H_
#define EMBER_FRONTENDS_TORCH_EXPORT_IMPORT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"

namespace ember::torch_export {

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options);

// Imports an archive from memory. `owner`: keeps the bytes alive; if null, they
// are copied. `name`: the name of the model in errors.
StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name = "model");

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& options);

// True if a file is an archive of torch.export.
bool IsArchive(std::string_view contents);

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_IMPORT_H_

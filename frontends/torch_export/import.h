// Archives of torch.export become graphs: NAME.pt2 as torch.export.save writes
// it.
//
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel("net.pt2", {}));
//
// Inputs are called as the program calls them, and have its types and dims:
// open ones are its symbols ("s0"); those that are expressions of others
// ("2*s0") are open, too. The run checks them, and the ranges that the program
// gives. Results are called as the values that the program returns; new
// contents of an input that the program changes are a result INPUT_after.
//
// Buffers that the program changes are state: inputs and results of the logical
// type frontends::kStateType. Where one is not all zeros before the first call,
// a bool `started` says whether it is that.
//
// Of archives with several programs, the options' entry names one.
//
// Errors are one line. All operators of the program that are not supported are
// listed at once. Thread-safe.
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

StatusOr<graph::Graph> ImportModel(const std::string& path,
                                   const frontends::ImportOptions& options);

// From memory. owner: keeps the bytes; null: they are copied. `name` is what
// errors call the model.
StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name = "model");

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    const std::string& path, const frontends::ImportOptions& options);

// Whether a file is an archive of torch.export.
bool IsArchive(std::string_view contents);

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_IMPORT_H_

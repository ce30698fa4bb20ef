// MXNet models become graphs: NAME-symbol.json, with NAME-0000.params in the
// same folder.
//
//   frontends::ModelFile file("net-symbol.json");
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel(file, {}));
//
// If there are several NAME-NNNN.params, the highest epoch is used. If the path
// names a file such as "net-0007.params", that file is used, with the symbol in
// its folder.
//
// Variables without parameters are inputs, except labels, which prediction does
// not need. If the symbol has no __shape__ for an input whose first layer is a
// convolution, that layer determines rank and channels; otherwise the shape
// must be given. Results have the names in MXNet's list: "softmax_output",
// "split_output1". Weights stay in the mapped file where elements are aligned
// in it.
//
// Errors are one line. All unsupported operators of a model are listed at once.
// Malformed files are refused with what was expected and found. Thread-safe.
#ifndef EMBER_FRONTENDS_MXNET_IMPORT_H_
#define EMBER_FRONTENDS_MXNET_IMPORT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"

namespace ember::mxnet {

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options);

// Imports from memory. `owner` keeps the parameters' bytes alive; if it is
// null, they are copied. `name` is the model's name in errors.
StatusOr<graph::Graph> ImportModelBytes(std::string_view symbol,
                                        std::span<const uint8_t> params,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name = "model");

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& options);

}  // namespace ember::mxnet

#endif  // EMBER_FRONTENDS_MXNET_IMPORT_H_

// MXNet models become graphs: NAME-symbol.json with NAME-0000.params beside it.
//
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph,
//                          ImportModel("net-symbol.json", {}));
//
// Of several NAME-NNNN.params the one of the highest epoch is taken;
// ImportModel("net-0007.params", {}) takes that one, and the symbol beside it.
//
// Variables without parameters are inputs, but for labels, which nothing needs
// when predicting. Where the symbol has no __shape__ for an input, and its
// first layer is a convolution, that tells rank and channels; otherwise the
// shape must be given. Results are called as MXNet lists them:
// "softmax_output", "split_output1". Weights stay in the mapped file where
// elements are aligned in it.
//
// Errors are one line. All unsupported operators of a model are listed at once;
// malformed files are refused with what was expected and found. Thread-safe.
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

StatusOr<graph::Graph> ImportModel(const std::string& path,
                                   const frontends::ImportOptions& options);

// From memory. owner: keeps the parameters' bytes; null: they are copied.
// `name` is what errors call the model.
StatusOr<graph::Graph> ImportModelBytes(std::string_view symbol,
                                        std::span<const uint8_t> params,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name = "model");

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    const std::string& path, const frontends::ImportOptions& options);

}  // namespace ember::mxnet

#endif  // EMBER_FRONTENDS_MXNET_IMPORT_H_

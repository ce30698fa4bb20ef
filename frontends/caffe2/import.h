// Caffe2's nets become graphs.
//
//   frontends::ModelFile file("predict_net.pb");
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel(file, {}));
//
// A model is two nets, and the path of either names it: one that fills the
// weights (init_net.pb, X_init.pb, X_init_net.pb), and one that predicts, with
// "predict" in place of "init" in its name. Each is binary or text (.pbtxt).
//
// Inputs are the blobs that the predict net reads and no net fills. A
// value_info.json in the same folder gives their types and shapes. Without one,
// the weights of a convolution that an input reaches determine its rank and
// channels; otherwise the shape must be given. Inputs are f32, but indices (of
// Gather, BatchGather and OneHot) are i64. Some tools fill the data, too: if no
// blob is open, the predict net's first external input is the input, with the
// shape that it is filled with. Results are the predict net's external outputs;
// without any, the blobs that none of its operators reads. Weights of f32 stay
// in the parsed net.
//
// Errors are one line. All unsupported operators of a model are listed at once.
// Malformed files are refused with what was expected and found. Thread-safe.
#ifndef EMBER_FRONTENDS_CAFFE2_IMPORT_H_
#define EMBER_FRONTENDS_CAFFE2_IMPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"

namespace ember::caffe2 {

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options);

// Imports from memory. `name` is the model's name in errors, and value_info the
// contents of a value_info.json, if there is one.
StatusOr<graph::Graph> ImportModelBytes(std::string_view predict_net,
                                        std::string_view init_net,
                                        const frontends::ImportOptions& options,
                                        std::string_view name = "model",
                                        std::string_view value_info = "");

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& options);

}  // namespace ember::caffe2

#endif  // EMBER_FRONTENDS_CAFFE2_IMPORT_H_

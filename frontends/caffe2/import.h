// Caffe2's nets become graphs.
//
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph,
//                          ImportModel("predict_net.pb", {}));
//
// A model is two nets, either of which names it: one that fills the weights
// (init_net.pb, X_init.pb, X_init_net.pb) and one that predicts, called the
// same with "predict" for "init"; each binary or text (.pbtxt).
//
// Inputs are what the predict net takes and no net fills. A value_info.json
// beside the nets tells their types and shapes; without one, where an input
// reaches a convolution, its weights tell rank and channels, and otherwise the
// shape must be given. They are f32, but for indices
// (of Gather, BatchGather and OneHot), which are i64. Where nothing is open, as
// some tools fill the data, too, the predict net's first external input is the
// input, with the shape that it is filled with. Results are the predict net's
// external outputs; without any, what none of its operators takes. Weights of
// f32 stay where the parsed net has them.
//
// Errors are one line. All unsupported operators of a model are listed at once;
// malformed files are refused with what was expected and found. Thread-safe.
#ifndef EMBER_FRONTENDS_CAFFE2_IMPORT_H_
#define EMBER_FRONTENDS_CAFFE2_IMPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"

namespace ember::caffe2 {

StatusOr<graph::Graph> ImportModel(const std::string& path,
                                   const frontends::ImportOptions& options);

// From memory; `name` is what errors call the model, and value_info a
// value_info.json, if there is one.
StatusOr<graph::Graph> ImportModelBytes(std::string_view predict_net,
                                        std::string_view init_net,
                                        const frontends::ImportOptions& options,
                                        std::string_view name = "model",
                                        std::string_view value_info = "");

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    const std::string& path, const frontends::ImportOptions& options);

}  // namespace ember::caffe2

#endif  // EMBER_FRONTENDS_CAFFE2_IMPORT_H_

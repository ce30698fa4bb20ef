// Caffe's nets become graphs.
//
//   frontends::ModelFile file("a.prototxt");
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel(file, {}));
//
// A model is a prototxt with a caffemodel (of its name, or the only one in its
// folder), or a caffemodel alone if it has the whole net. A prototxt of a
// caffemodel's name is preferred to the net inside. Weights stay in the mapped
// file where they are aligned there.
//
// Inputs have the names and dims of the net and are f32;
// ImportOptions::input_shapes replaces the dims, as Caffe's Reshape does.
// Results are the blobs that no layer reads, in the order of their names. The
// values that LSTM and RNN keep between runs are state.
//
// Errors are one line. All unsupported layers of a net are listed at once.
// Thread-safe.
#ifndef EMBER_FRONTENDS_CAFFE_IMPORT_H_
#define EMBER_FRONTENDS_CAFFE_IMPORT_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/caffe/weights.h"
#include "frontends/frontend.h"
#include "third_party/caffe/caffe.pb.h"

namespace ember::caffe {

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options);
StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& options);

// Imports from memory: a prototxt and a caffemodel, either of which may be
// empty. The prototxt's net is used if there is one. `owner` keeps the
// caffemodel alive; if it is null, the bytes are copied.
StatusOr<graph::Graph> ImportModelBytes(std::string_view prototxt,
                                        std::span<const uint8_t> caffemodel,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name = "model");

}  // namespace ember::caffe

#endif  // EMBER_FRONTENDS_CAFFE_IMPORT_H_

// Imports the layers of a Caffe net one after the other, and so builds the
// graph.
#ifndef EMBER_FRONTENDS_CAFFE_NET_IMPORTER_H_
#define EMBER_FRONTENDS_CAFFE_NET_IMPORTER_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/graph/builder/builder.h"
#include "frontends/caffe/layer_context.h"
#include "frontends/caffe/layer_table.h"
#include "frontends/frontend.h"
#include "frontends/import_steps.h"

namespace ember::caffe {

// An input of a net, from a layer of type Input or MemoryData.
struct NetInput {
  std::string name;
  bool has_rank = true;
  std::vector<int64_t> dims;
};

// Returns the inputs in the order of the layers. Fails for an invalid shape.
StatusOr<std::vector<NetInput>> InputsOf(
    const std::vector<LayerParameter>& layers);

// Returns one error for all layers that cannot be imported.
Status CheckLayers(const std::vector<LayerParameter>& layers);

class NetImporter {
 public:
  // All arguments must outlive the importer.
  NetImporter(const std::vector<LayerParameter>& layers, const Weights& weights,
              const frontends::ImportOptions& options)
      : layers_(layers),
        weights_(weights),
        options_(options),
        builder_("main", options.operation_limit),
        steps_(options.progress) {}

  // Imports the net. Call it once per importer.
  StatusOr<graph::Graph> Import();

 private:
  Status AddInputs();
  Status ImportLayer(const LayerParameter& layer, int index);
  // Sets the blob of a layer's top. The name must be new unless the layer works
  // in place.
  Status SetBlob(const LayerParameter& layer, const std::string& name,
                 Tensor value);
  Status AddOutputs();

  const std::vector<LayerParameter>& layers_;
  const Weights& weights_;
  const frontends::ImportOptions& options_;
  graph::GraphBuilder builder_;
  frontends::ImportSteps steps_;
  std::map<std::string, Tensor> blobs_;
  std::set<std::string> inputs_;
  // Names of the blobs that no layer has read yet. At the end they are the
  // results of the net.
  std::set<std::string> available_;
  std::vector<LayerContext::State> states_;
};

}  // namespace ember::caffe

#endif  // EMBER_FRONTENDS_CAFFE_NET_IMPORTER_H_

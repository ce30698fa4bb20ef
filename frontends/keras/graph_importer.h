// Walks the calls of a model and builds the graph. Calls are made where their
// operands are ready, whatever the order of the file; a layer that is called
// several times has one set of weights.
#ifndef EMBER_FRONTENDS_KERAS_GRAPH_IMPORTER_H_
#define EMBER_FRONTENDS_KERAS_GRAPH_IMPORTER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/graph/builder.h"
#include "frontends/frontend.h"
#include "frontends/import_steps.h"
#include "frontends/keras/layer_context.h"
#include "frontends/keras/network.h"
#include "frontends/keras/weights.h"

namespace ember::keras {

// Calls of a model, those of models within it counted for each of theirs, with
// their arguments. The layers, inputs and outputs of a model count whenever it
// is called, whether it calls them or not.
inline constexpr int64_t kMaximumCalls = 1 << 20;

// What InputLayers say of a model's inputs, by their names.
struct NetworkInput {
  std::string name;
  const Layer* layer = nullptr;
};
std::vector<NetworkInput> InputsOf(const Network& network);
// Nullopt: its rank is not in the file.
std::optional<size_t> RankOf(const Layer& input);

class GraphImporter : public Host {
 public:
  // All must outlive the importer. error: of the document, where configurations
  // leave theirs.
  GraphImporter(const Network& network, const Weights& weights,
                int major_version, const frontends::ImportOptions& options,
                const Status& error);

  // Once per importer.
  StatusOr<graph::Graph> Import();

  Tensor FindWeight(const std::string& path,
                    graph::GraphBuilder& builder) override;
  Tensor State(const std::string& name, DType dtype,
               const Shape& shape) override;
  void SetState(const std::string& name, Tensor value) override;
  std::vector<Signal> CallLayer(const Layer& layer, const std::string& path,
                                const std::vector<Signal>& inputs,
                                int depth) override;
  int major_version() const override { return major_version_; }

 private:
  using Results = std::vector<Signal>;  // of a call

  StatusOr<std::vector<Signal>> AddInputs();
  // The network's outputs, in order.
  std::vector<Signal> CallNetwork(const Network& network,
                                  const std::string& path,
                                  const std::vector<Signal>& inputs, int depth);
  Results MakeCall(const Layer& layer, const Call& call,
                   const std::string& path,
                   const std::vector<std::vector<Results>>& values, int depth);
  // False, and an error, if there may not be as many more.
  bool TakeCalls(size_t count);
  Results Run(LayerContext& c);
  void AddOutputs(const std::vector<Signal>& outputs);
  void Fail(const Status& status) { builder_.Fail(status); }

  const Network& network_;
  const Weights& weights_;
  int major_version_;
  const frontends::ImportOptions& options_;
  const Status& error_;
  graph::GraphBuilder builder_;
  frontends::ImportSteps steps_;
  int64_t calls_left_ = kMaximumCalls;
  std::map<std::string, Tensor> constants_;  // weights, by path
  struct Kept {
    std::string name;
    Tensor value;
  };
  std::vector<Kept> states_;
};

}  // namespace ember::keras

#endif  // EMBER_FRONTENDS_KERAS_GRAPH_IMPORTER_H_

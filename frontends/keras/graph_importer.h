// Imports the calls of a Keras model's layers and so builds the graph. A call
// is imported as soon as its operands exist, whatever the order in the file. A
// layer that is called several times has one set of weights.
#ifndef EMBER_FRONTENDS_KERAS_GRAPH_IMPORTER_H_
#define EMBER_FRONTENDS_KERAS_GRAPH_IMPORTER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/graph/builder/builder.h"
#include "frontends/frontend.h"
#include "frontends/import_steps.h"
#include "frontends/keras/layer_context.h"
#include "frontends/keras/network.h"
#include "frontends/keras/weights.h"

namespace ember::keras {

// Largest number of calls, with their arguments, that a model may make. The
// calls of an inner model count each time it is called, and so do its layers,
// inputs and outputs, even those that it does not use.
inline constexpr int64_t kMaxCalls = 1 << 20;

// A model's input, by name, with the InputLayer that describes it.
struct NetworkInput {
  std::string name;
  const Layer* layer = nullptr;
};
std::vector<NetworkInput> InputsOf(const Network& network);
// Returns the rank of the input that an input layer describes; nullopt if the
// file does not state it.
std::optional<size_t> RankOf(const Layer& input);

class GraphImporter : public Host {
 public:
  // All arguments must outlive the importer. error: the document's error, which
  // reading a configuration may set.
  GraphImporter(const Network& network, const Weights& weights,
                int major_version, const frontends::ImportOptions& options,
                const Status& error);

  // Imports the model. Call it once per importer.
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
  using Results = std::vector<Signal>;  // The results of one call of a layer.

  StatusOr<std::vector<Signal>> AddInputs();
  // Imports a call of a network, and returns the network's outputs, in order.
  std::vector<Signal> CallNetwork(const Network& network,
                                  const std::string& path,
                                  const std::vector<Signal>& inputs, int depth);
  Results MakeCall(const Layer& layer, const Call& call,
                   const std::string& path,
                   const std::vector<std::vector<Results>>& values, int depth);
  // Charges `count` calls; false, with an error, if fewer are left.
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
  int64_t calls_left_ = kMaxCalls;
  std::map<std::string, Tensor> constants_;  // Weights by path.
  struct Kept {
    std::string name;
    Tensor value;
  };
  std::vector<Kept> states_;
};

}  // namespace ember::keras

#endif  // EMBER_FRONTENDS_KERAS_GRAPH_IMPORTER_H_

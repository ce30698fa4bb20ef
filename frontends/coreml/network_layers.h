// Imports the layers of a neural network, including the layers inside of its
// branches and loops.
//
//   Scope blobs(context.builder);
//   blobs.Set("x", {.tensor = x});
//   EMBER_RETURN_IF_ERROR(ImportLayers(context, network, blobs));
//   blobs.Find("y")->tensor
//
// A branch or a loop has no outputs of its own: the blobs that its layers
// produce are visible after it (NeuralNetwork.proto, BranchLayerParams and
// LoopLayerParams). Errors are one line and name the layer. Not thread-safe.
#ifndef EMBER_FRONTENDS_COREML_NETWORK_LAYERS_H_
#define EMBER_FRONTENDS_COREML_NETWORK_LAYERS_H_

#include "base/status.h"
#include "frontends/coreml/importer.h"
#include "frontends/coreml/scope.h"
#include "frontends/model_errors.h"

namespace ember::coreml {

// Number of the field that holds the layers of a NeuralNetwork message.
inline constexpr uint64_t kLayers = 1;
inline constexpr uint64_t kLayerOutput = 3;

Status ImportLayers(ModelContext& context, const ProtobufView& network,
                    Scope& blobs);

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_NETWORK_LAYERS_H_

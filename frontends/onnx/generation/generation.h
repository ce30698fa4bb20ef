// com.microsoft's operators that hold a whole text generation: GreedySearch,
// Sampling and BeamSearch. The node's decoder (a subgraph) runs over the prompt
// once, then in a loop of the graph, one token per row at a time. The loop ends
// when every row has produced the end token, or at max_length. Rows that have
// ended are padded.
//
//   if (const GenerationImporter import = FindGeneration(domain, name)) {
//     import(context, run_subgraph);   // sets the context's outputs
//   }
//
// Supported decoders: GPT (model_type 0), for all three; an encoder with a
// decoder (model_type 1, like T5), for BeamSearch. Past keys and values grow
// with the tokens. Refused are decoders that share a buffer between past and
// present, Whisper's (model_type 2), and Sampling's second output
// (filtered_logits). Sampling draws the numbers that ONNX Runtime draws on
// Linux for the same seed (draws.h), so it gives the same tokens each time.
//
// Errors stay in the context's builder. Not thread-safe.
#ifndef EMBER_FRONTENDS_ONNX_GENERATION_GENERATION_H_
#define EMBER_FRONTENDS_ONNX_GENERATION_GENERATION_H_

#include <functional>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/builder/control_flow.h"
#include "frontends/onnx/node/context.h"

namespace ember::onnx {

// Imports a subgraph of the node, and returns its outputs. The nodes of the
// subgraph are added to the region or, if `region` is null, to the graph that
// contains the node. The inputs must be values of the graph to which the nodes
// are added.
using SubgraphImporter = std::function<StatusOr<std::vector<Tensor>>(
    const GraphProto& graph, const std::vector<Tensor>& inputs,
    graph::Region* region)>;

using GenerationImporter = void (*)(NodeContext& c,
                                    const SubgraphImporter& run);

// Returns the importer of GreedySearch, Sampling or BeamSearch; null for every
// other operator.
GenerationImporter FindGeneration(std::string_view domain,
                                  std::string_view name);

void ImportGreedySearch(NodeContext& c, const SubgraphImporter& run);
void ImportSampling(NodeContext& c, const SubgraphImporter& run);
void ImportBeamSearch(NodeContext& c, const SubgraphImporter& run);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_GENERATION_GENERATION_H_

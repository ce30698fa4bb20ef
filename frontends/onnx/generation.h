// com.microsoft's operators that hold a whole text generation: GreedySearch,
// Sampling and BeamSearch. The node's decoder (a subgraph) runs over the prompt
// once, then in a loop of the graph, one token per row at a time, until every
// row met the end token or max_length is reached; rows that ended are padded.
//
//   if (const GenerationImporter import = FindGeneration(domain, name)) {
//     import(context, run_subgraph);   // sets the context's outputs
//   }
//
// Decoders: of GPT (model_type 0), for all three; an encoder with a decoder
// (model_type 1, as of T5), for BeamSearch. Past keys and values grow with the
// tokens: decoders that share a buffer between past and present are refused, as
// are Whisper's (model_type 2) and vocabularies whose size is not known to
// Sampling, which draws what ONNX Runtime draws on Linux for the same seed
// (generation_draws.h): the same tokens each time.
//
// Errors stick to the context's builder. Not thread-safe.
#ifndef EMBER_FRONTENDS_ONNX_GENERATION_H_
#define EMBER_FRONTENDS_ONNX_GENERATION_H_

#include <functional>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/control_flow.h"
#include "frontends/onnx/node_context.h"

namespace ember::onnx {

// The outputs of a subgraph of the node, its nodes imported into the region, or
// where the node stands if that is null. The inputs are values of that place.
using SubgraphRunner = std::function<StatusOr<std::vector<Tensor>>(
    const GraphProto& graph, const std::vector<Tensor>& inputs,
    graph::Region* region)>;

using GenerationImporter = void (*)(NodeContext& c, const SubgraphRunner& run);

// Null for every other operator.
GenerationImporter FindGeneration(std::string_view domain,
                                  std::string_view name);

void ImportGreedySearch(NodeContext& c, const SubgraphRunner& run);
void ImportSampling(NodeContext& c, const SubgraphRunner& run);
void ImportBeamSearch(NodeContext& c, const SubgraphRunner& run);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_GENERATION_H_

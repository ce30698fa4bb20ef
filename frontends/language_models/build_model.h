// Builds the graph of a language model from its numbers and tensors. One
// builder serves all architectures and file formats.
//
//   GgufTensors source(file);                        // a TensorSource
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph,
//                          BuildModel(model_options, source, import_options));
//
// Inputs of a causal model:
//
//   tokens  i32 [batch, sequence]   ids of the new tokens
//   past    i64 [1], state          number of tokens before them
//   blk.N.key, blk.N.value, state   [batch, key heads, context, size], f32 or
//                                   ImportOptions::state_type
//   blk.N.convolution, state        of short convolutions
//
// Results: logits f32 [batch, 1, vocabulary] of the last position, and the
// state, with `sequence` added to `past`. The entry "all"
// (ImportOptions::entry) gives the logits of all positions, "hidden" the
// normalised values before the logits instead. batch, sequence and context are
// open dims: a run takes a prompt, a part of it, or one token, and a state of
// any length that holds past + sequence positions.
//
// Encoders have the input tokens only, and the result embedding, f32 [batch,
// width] or [batch, sequence, width], by the model's pooling.
//
// Errors are one line: a missing tensor, one of another shape, tensors without
// a known meaning. Thread-safe for different sources.
#ifndef EMBER_FRONTENDS_LANGUAGE_MODELS_BUILD_MODEL_H_
#define EMBER_FRONTENDS_LANGUAGE_MODELS_BUILD_MODEL_H_

#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"
#include "frontends/language_models/model_options.h"
#include "frontends/language_models/model_tensors.h"

namespace ember::language_models {

StatusOr<graph::Graph> BuildModel(const ModelOptions& options,
                                  TensorSource& source,
                                  const frontends::ImportOptions& import);

// Returns the inputs that BuildModel makes.
std::vector<frontends::InputInfo> ModelInputs(const ModelOptions& options);

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_BUILD_MODEL_H_

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
//                                   ImportOptions::state_type (f16, bf16, i8)
//   blk.N.key_scale, blk.N.value_scale, state, for i8: factors of the rows,
//                                   f32 [batch, key heads, context, 1]
//   blk.N.convolution, state        of short convolutions
//
// Results: logits f32 [batch, 1, vocabulary] of the last position, and the
// state, with `sequence` added to `past`. The entry "all"
// (ImportOptions::entry) gives the logits of all positions, "hidden" the
// normalised values before the logits instead. batch, sequence and context are
// open dims: a run takes a prompt, a part of it, or one token, and a state of
// any length that holds past + sequence positions.
//
// The entry "sequences:8" takes tokens of 8 sequences of different lengths, so
// that a run reads the weights once for all of them:
//
//   tokens  i32 [1, tokens]         new tokens, those of the first sequence first
//   past    i64 [8], state          number of tokens before them
//   blk.N.key.S, …, state           of sequence S, [1, key heads, context, size]
//   counts  i64 [8]                 number of new tokens of each, which may be 0
//
// The logits are f32 [1, 8, vocabulary], those of each sequence's last token.
// Those of a sequence without new tokens mean nothing.
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

// Returns the names of the inputs that BuildModel makes for the default entry
// and a state of floats.
std::vector<frontends::InputInfo> ModelInputs(const ModelOptions& options);

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_BUILD_MODEL_H_

// The values that all parts of a language model share while its graph is built.
//
//   Tensor y = c.Linear(x, "ffn_up", rows, columns);  // "blk.3.ffn_up.weight"
//   x = c.Normalize(x, "attn_norm", width);
//
// Activations are f32 [batch, sequence, elements]. Names are those of GGUF,
// without "blk.N." of the current layer. Errors stay in the graph builder. Does
// not own; not thread-safe.
#ifndef EMBER_FRONTENDS_LANGUAGE_MODELS_LAYER_CONTEXT_H_
#define EMBER_FRONTENDS_LANGUAGE_MODELS_LAYER_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/language_models/model_options.h"
#include "frontends/language_models/model_tensors.h"

namespace ember::language_models {

// Names of a layer's states, without the layer's prefix "blk.N.".
inline constexpr std::string_view kKeyState = "key";
inline constexpr std::string_view kValueState = "value";
inline constexpr std::string_view kConvolutionState = "convolution";

// Returns the name of the factors of keys or values of 8 bits.
inline std::string ScaleState(std::string_view name) {
  return std::string(name) + "_scale";
}

// Returns what the names of a layer's tensors and state begin with: "blk.3.".
inline std::string LayerPrefix(size_t layer) {
  return "blk." + std::to_string(layer) + ".";
}

// A sequence of which a run computes new tokens.
struct Sequence {
  // The sequence's new tokens are `count` of the run's tokens, from index
  // `begin` on.
  Dim begin, count;
  // Number of the sequence's tokens before this run.
  Dim past;
  // Suffix of the names of the sequence's states: "" if the run has one
  // sequence, ".3" for the fourth of several.
  std::string suffix = "";

  Dim end() const { return past + count; }
};

// The value of a state after a run.
struct NewState {
  std::string name;
  Tensor value;
};

struct LayerContext {
  const ModelOptions& options;
  ModelTensors& tensors;
  // `batch`: number of sequences of equal length that are computed alike.
  // `tokens`: number of new tokens in each. `context`: number of positions for
  // which the state has memory.
  Dim batch, tokens, context;
  // The sequences of the run. Their new tokens, one sequence after the other,
  // are the `tokens` of a batch element. If there are several sequences,
  // `batch` is 1.
  std::vector<Sequence> sequences = {};
  // Prefix of the names of the current layer's tensors, as LayerPrefix returns
  // it; "" outside of layers.
  std::string prefix = "";
  // The state before the run, by name, and the state after it.
  std::map<std::string, Tensor> old_states = {};
  std::vector<NewState> new_states = {};

  graph::GraphBuilder& builder() const { return tensors.builder(); }
  bool ok() const { return tensors.ok(); }
  const Architecture& architecture() const { return *options.architecture; }
  std::string Name(std::string_view name) const {
    return prefix + std::string(name);
  }

  // Multiplies x[…, columns] by NAME.weight[rows, columns] and adds NAME.bias
  // if there is one. `rows` may be kAnyExtent.
  Tensor Linear(Tensor x, std::string_view name, int64_t rows,
                int64_t columns) const;
  // Normalises the last dim by NAME.weight, and NAME.bias if there is one, as
  // the architecture does.
  Tensor Normalize(Tensor x, std::string_view name, int64_t size) const;
  // Normalises like Normalize if the model has NAME.weight; otherwise returns
  // x.
  Tensor NormalizeIfPresent(Tensor x, std::string_view name,
                            int64_t size) const;
  Tensor Activate(Tensor x) const;
  // Returns the layer's state of this name before the run.
  Tensor OldState(std::string_view name, const Sequence& sequence) const {
    return old_states.at(Name(name) + sequence.suffix);
  }
  // Sets the layer's state after the run.
  void SetState(std::string_view name, const Sequence& sequence, Tensor value) {
    new_states.push_back({Name(name) + sequence.suffix, value});
  }

  // Returns the new tokens of a sequence in x[batch, tokens, …].
  Tensor TokensOf(const Sequence& sequence, Tensor x) const;
  // Returns the positions of all new tokens in their sequences, i64 [tokens].
  Tensor TokenPositions() const;
};

// Concatenates the parts, one [batch, tokens, …] for each sequence, along their
// tokens (dim 1).
Tensor JoinTokens(const std::vector<Tensor>& parts);

// Returns x / sqrt(mean(x²) + epsilon) or (x - mean) / sqrt(variance +
// epsilon), over the last dim.
Tensor Standardize(Tensor x, Norm norm, double epsilon);

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_LAYER_CONTEXT_H_

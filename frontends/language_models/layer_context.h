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

// Names of the state of a layer, behind the layer's prefix.
inline constexpr std::string_view kKeyState = "key";
inline constexpr std::string_view kValueState = "value";
inline constexpr std::string_view kConvolutionState = "convolution";

// Returns what the names of a layer's tensors and state begin with: "blk.3.".
inline std::string LayerPrefix(size_t layer) {
  return "blk." + std::to_string(layer) + ".";
}

// The value of a state after a run.
struct NewState {
  std::string name;
  Tensor value;
};

struct LayerContext {
  const ModelOptions& options;
  ModelTensors& tensors;
  // Number of sequences; of new tokens of each; of tokens before them; of
  // positions that keys and values have memory for.
  Dim batch, sequence, past, context;
  // LayerPrefix of the layer; "" outside of layers.
  std::string prefix = "";
  // The state before the run, by its name, and after it.
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
  // Does the same if the model has NAME.weight; otherwise returns x.
  Tensor NormalizeIfPresent(Tensor x, std::string_view name,
                            int64_t size) const;
  Tensor Activate(Tensor x) const;
  // Returns the layer's state of this name before the run.
  Tensor OldState(std::string_view name) const {
    return old_states.at(Name(name));
  }
  // Sets the layer's state after the run.
  void SetState(std::string_view name, Tensor value) {
    new_states.push_back({Name(name), value});
  }
};

// Returns x / sqrt(mean(x²) + epsilon) or (x - mean) / sqrt(variance +
// epsilon), over the last dim.
Tensor Standardize(Tensor x, Norm norm, double epsilon);

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_LAYER_CONTEXT_H_

// The table of architectures of language models. A row says which of the parts
// that the graph builder has (build_model.h) an architecture combines; numbers,
// such as the count of layers, are the model's own (model_options.h). Parts
// that a model has or has not (biases, norms of queries and keys, experts,
// fused projections) have no column: the tensors of the file decide.
//
//   const Architecture* row = FindArchitecture("llama");
//   row->positions == Positions::kRotaryPairs
//
// Rows are constants of the program; thread-safe.
//
// Source: the papers and configurations of the models, and their graphs in
// llama.cpp and Hugging Face's transformers.
#ifndef EMBER_FRONTENDS_LANGUAGE_MODELS_ARCHITECTURES_H_
#define EMBER_FRONTENDS_LANGUAGE_MODELS_ARCHITECTURES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ember::language_models {

// A norm divides values by their root mean square (kRms), or centers them and
// divides them by their deviation (kLayer).
enum class Norm : uint8_t { kRms, kLayer };

// The encoding of the positions of tokens. Rotary embeddings rotate pairs
// of elements of each query and key: neighbours (kRotaryPairs), or elements
// that are half a head apart (kRotaryHalves). Learned positions are rows of a
// table that are added to the tokens.
enum class Positions : uint8_t { kRotaryPairs, kRotaryHalves, kLearned };

enum class Activation : uint8_t { kSilu, kGelu, kTanhGelu };

// The order of attention, feed-forward layer and norms. kSequential normalises
// before each of them; kParallel feeds both with the same normalised values,
// and so does kSequential in a model without second norms; kPostNorm normalises
// after each sum.
enum class Layout : uint8_t { kSequential, kParallel, kPostNorm };

struct Architecture {
  // The name in GGUF's general.architecture.
  std::string_view name;
  // Name of the class in Hugging Face's config.json; "" if Ember does not read
  // such models of this architecture.
  std::string_view hf_class;
  Norm norm = Norm::kRms;
  Positions positions = Positions::kRotaryHalves;
  Activation activation = Activation::kSilu;
  Layout layout = Layout::kSequential;
  // False for encoders, whose tokens see each other, and which give an
  // embedding instead of logits.
  bool is_causal = true;
  // True if embeddings are multiplied by the square root of their width.
  bool scales_embedding = false;
  // For models with a sliding window: of each `window_period` layers, all but
  // the last have the window. 1 means that all layers have it.
  int64_t window_period = 1;
  // Base of rotary positions in layers with a sliding window; 0 means the same
  // base as in the other layers.
  double window_rotary_base = 0;
  // Defaults of ModelOptions::score_cap and ModelOptions::logit_cap, for files
  // that do not state them.
  double score_cap = 0, logit_cap = 0;
  // True if the router's weights of a token's chosen experts are divided by
  // their sum.
  bool normalizes_experts = false;
};

std::span<const Architecture> Architectures();
// Finds a row by its GGUF name, or by the class of Hugging Face; null if there
// is none.
const Architecture* FindArchitecture(std::string_view name);
const Architecture* FindArchitectureOfClass(std::string_view hf_class);
// Returns the names of all rows for messages: "llama, qwen2, …".
std::string ArchitectureNames();

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_ARCHITECTURES_H_

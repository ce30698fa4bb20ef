#include "frontends/language_models/architectures.h"

namespace ember::language_models {
namespace {

constexpr Architecture kArchitectures[] = {
    {.name = "llama",
     .hf_class = "LlamaForCausalLM",
     .positions = Positions::kRotaryPairs,
     .normalizes_experts = true},
    {.name = "mistral",
     .hf_class = "MistralForCausalLM",
     .positions = Positions::kRotaryPairs},
    {.name = "mixtral",
     .hf_class = "MixtralForCausalLM",
     .positions = Positions::kRotaryPairs,
     .normalizes_experts = true},
    {.name = "qwen2", .hf_class = "Qwen2ForCausalLM"},
    {.name = "qwen2moe", .hf_class = "Qwen2MoeForCausalLM"},
    {.name = "qwen3", .hf_class = "Qwen3ForCausalLM"},
    {.name = "qwen3moe",
     .hf_class = "Qwen3MoeForCausalLM",
     .normalizes_experts = true},
    {.name = "gemma",
     .hf_class = "GemmaForCausalLM",
     .activation = Activation::kTanhGelu,
     .scales_embedding = true},
    {.name = "gemma2",
     .hf_class = "Gemma2ForCausalLM",
     .activation = Activation::kTanhGelu,
     .scales_embedding = true,
     .window_period = 2,
     .score_cap = 50,
     .logit_cap = 30},
    {.name = "gemma3",
     .hf_class = "Gemma3ForCausalLM",
     .activation = Activation::kTanhGelu,
     .scales_embedding = true,
     .window_period = 6,
     .window_rotary_base = 10000},
    {.name = "phi3", .hf_class = "Phi3ForCausalLM"},
    {.name = "gpt2",
     .hf_class = "GPT2LMHeadModel",
     .norm = Norm::kLayer,
     .positions = Positions::kLearned,
     .activation = Activation::kTanhGelu},
    {.name = "falcon",
     .hf_class = "FalconForCausalLM",
     .norm = Norm::kLayer,
     .activation = Activation::kGelu,
     .layout = Layout::kParallel},
    {.name = "stablelm",
     .hf_class = "StableLmForCausalLM",
     .norm = Norm::kLayer},
    {.name = "bert",
     .hf_class = "BertModel",
     .norm = Norm::kLayer,
     .positions = Positions::kLearned,
     .activation = Activation::kGelu,
     .layout = Layout::kPostNorm,
     .is_causal = false},
    {.name = "nomic-bert",
     .norm = Norm::kLayer,
     .layout = Layout::kPostNorm,
     .is_causal = false},
    {.name = "lfm2", .hf_class = "Lfm2ForCausalLM"},
};

}  // namespace

std::span<const Architecture> Architectures() { return kArchitectures; }

const Architecture* FindArchitecture(std::string_view name) {
  for (const Architecture& row : kArchitectures)
    if (row.name == name) return &row;
  return nullptr;
}

const Architecture* FindArchitectureOfClass(std::string_view hf_class) {
  if (hf_class.empty()) return nullptr;
  for (const Architecture& row : kArchitectures)
    if (row.hf_class == hf_class) return &row;
  return nullptr;
}

std::string ArchitectureNames() {
  std::string names;
  for (const Architecture& row : kArchitectures)
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

}  // namespace ember::language_models

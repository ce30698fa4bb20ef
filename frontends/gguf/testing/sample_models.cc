#include "frontends/gguf/testing/sample_models.h"

#include <cmath>
#include <utility>
#include <vector>

#include "frontends/gguf/testing/model_writer.h"

namespace ember::gguf {
namespace {

constexpr std::string_view kRmsKey = "attention.layer_norm_rms_epsilon";
constexpr std::string_view kLayerKey = "attention.layer_norm_epsilon";

std::vector<std::string> Layers(const ModelWriter& m) {
  std::vector<std::string> prefixes;
  for (int64_t i = 0; i < m.layers; ++i)
    prefixes.push_back("blk." + std::to_string(i) + ".");
  return prefixes;
}

struct AttentionParts {
  bool bias = false, output_bias = false, fused = false, qk_norm = false;
};

void Attention(ModelWriter& m, const std::string& b,
               const AttentionParts& parts = {}) {
  const int64_t q = m.heads * m.head;
  const int64_t k = m.kv_heads * m.head;
  if (parts.fused) {
    m.Linear(b + "attn_qkv", q + 2 * k, m.width, parts.bias);
  } else {
    m.Linear(b + "attn_q", q, m.width, parts.bias, 1.5f);
    m.Linear(b + "attn_k", k, m.width, parts.bias, 1.5f);
    m.Linear(b + "attn_v", k, m.width, parts.bias);
  }
  if (parts.qk_norm) {
    m.Norm(b + "attn_q_norm", m.head);
    m.Norm(b + "attn_k_norm", m.head);
  }
  m.Linear(b + "attn_output", m.width, q, parts.output_bias);
}

void Gated(ModelWriter& m, const std::string& b) {
  m.Linear(b + "ffn_gate", m.hidden, m.width);
  m.Linear(b + "ffn_down", m.width, m.hidden);
  m.Linear(b + "ffn_up", m.hidden, m.width);
}

constexpr int64_t kExperts = 4;

void WriteExpertCounts(ModelWriter& m) {
  m.Integer("expert_count", kExperts);
  m.Integer("expert_used_count", 2);
}

void Experts(ModelWriter& m, const std::string& b) {
  m.Tensor(b + "ffn_gate_inp.weight", {kExperts, m.width},
           2 / std::sqrt(static_cast<float>(m.width)));
  m.Matrix(b + "ffn_gate_exps.weight", {kExperts, m.hidden, m.width});
  m.Matrix(b + "ffn_down_exps.weight", {kExperts, m.width, m.hidden});
  m.Matrix(b + "ffn_up_exps.weight", {kExperts, m.hidden, m.width});
}

// Writes the embedding matrix and, unless the output layer shares it
// (`is_tied`), the output layer's matrix.
void Embedding(ModelWriter& m, bool is_tied) {
  m.Matrix("token_embd.weight", {m.vocabulary, m.width},
           is_tied ? 2 : std::sqrt(static_cast<float>(m.width)));
  if (!is_tied) m.Matrix("output.weight", {m.vocabulary, m.width}, 2);
}

void WriteLlama(ModelWriter& m, std::string_view variant) {
  if (variant == "text") m.UseTextVocabulary();
  m.is_packed = variant == "packed";
  m.WriteCommon(kRmsKey);
  m.WriteRotary(m.head, 10000);
  if (variant == "linear" || variant == "yarn") {
    m.Text("rope.scaling.type", variant);
    m.Number("rope.scaling.factor", 4);
    m.Integer("rope.scaling.original_context_length", 128);
  }
  if (variant == "moe") WriteExpertCounts(m);
  Embedding(m, variant == "tied");
  m.Norm("output_norm", m.width);
  if (variant == "factors") m.Tensor("rope_freqs.weight", {m.head / 2}, 1, 3);
  const bool bias = variant == "bias";
  for (const std::string& b : Layers(m)) {
    m.Norm(b + "attn_norm", m.width);
    Attention(m, b, {.bias = bias, .output_bias = bias});
    m.Norm(b + "ffn_norm", m.width);
    if (variant == "moe") {
      Experts(m, b);
    } else {
      Gated(m, b);
    }
  }
}

void WriteQwen(ModelWriter& m, std::string_view generation, bool has_experts) {
  m.WriteCommon(kRmsKey);
  m.WriteRotary(m.head, 1e6f);
  if (generation == "qwen3") m.WriteHeadSizes();
  if (has_experts) {
    WriteExpertCounts(m);
    m.Integer("expert_feed_forward_length", m.hidden);
    m.Integer("expert_shared_feed_forward_length", m.hidden);
  }
  Embedding(m, false);
  m.Norm("output_norm", m.width);
  for (const std::string& b : Layers(m)) {
    m.Norm(b + "attn_norm", m.width);
    Attention(
        m, b,
        {.bias = generation == "qwen2", .qk_norm = generation == "qwen3"});
    m.Norm(b + "ffn_norm", m.width);
    if (!has_experts) {
      Gated(m, b);
      continue;
    }
    Experts(m, b);
    if (generation != "qwen2") continue;
    m.Tensor(b + "ffn_gate_inp_shexp.weight", {m.width}, 0.1f);
    m.Linear(b + "ffn_gate_shexp", m.hidden, m.width);
    m.Linear(b + "ffn_down_shexp", m.width, m.hidden);
    m.Linear(b + "ffn_up_shexp", m.hidden, m.width);
  }
}

void WriteGemma(ModelWriter& m, int generation) {
  m.layers = generation == 3 ? 6 : 2;
  m.WriteCommon(kRmsKey);
  m.WriteHeadSizes();
  m.WriteRotary(m.head, generation == 3 ? 1e6f : 10000);
  if (generation == 2) {
    m.Number("attn_logit_softcapping", 3);
    m.Number("final_logit_softcapping", 2);
  }
  if (generation > 1) m.Integer("attention.sliding_window", 3);
  if (generation == 3) {
    m.Text("rope.scaling.type", "linear");
    m.Number("rope.scaling.factor", 8);
  }
  m.Matrix("token_embd.weight", {m.vocabulary, m.width}, 0.7f);
  m.Norm("output_norm", m.width);
  for (const std::string& b : Layers(m)) {
    m.Norm(b + "attn_norm", m.width);
    Attention(m, b, {.qk_norm = generation == 3});
    if (generation > 1) m.Norm(b + "post_attention_norm", m.width);
    m.Norm(b + "ffn_norm", m.width);
    Gated(m, b);
    if (generation > 1) m.Norm(b + "post_ffw_norm", m.width);
  }
}

void WritePhi3(ModelWriter& m, bool is_long) {
  m.WriteCommon(kRmsKey);
  m.WriteRotary(m.head, 10000);
  if (is_long) {
    m.Integer("rope.scaling.original_context_length", 256);
    m.Number("rope.scaling.attn_factor", 1.19f);
  }
  Embedding(m, false);
  m.Norm("output_norm", m.width);
  if (is_long) {
    m.Tensor("rope_factors_long.weight", {m.head / 2}, 1, 4);
    m.Tensor("rope_factors_short.weight", {m.head / 2}, 0.2f, 1.5f);
  }
  for (const std::string& b : Layers(m)) {
    m.Norm(b + "attn_norm", m.width);
    Attention(m, b, {.fused = true});
    m.Norm(b + "ffn_norm", m.width);
    m.Linear(b + "ffn_down", m.width, m.hidden);
    m.Linear(b + "ffn_up", 2 * m.hidden, m.width);
  }
}

void WriteGpt2(ModelWriter& m) {
  m.kv_heads = m.heads;
  m.WriteCommon(kLayerKey);
  m.Matrix("token_embd.weight", {m.vocabulary, m.width}, 2);
  m.Tensor("position_embd.weight", {512, m.width}, 0.3f);
  m.Norm("output_norm", m.width, true);
  for (const std::string& b : Layers(m)) {
    m.Norm(b + "attn_norm", m.width, true);
    Attention(m, b, {.bias = true, .output_bias = true, .fused = true});
    m.Norm(b + "ffn_norm", m.width, true);
    m.Linear(b + "ffn_up", m.hidden, m.width, true);
    m.Linear(b + "ffn_down", m.width, m.hidden, true);
  }
}

void WriteFalcon(ModelWriter& m, bool has_two_norms) {
  m.WriteCommon(kLayerKey);
  m.WriteRotary(m.head, 10000);
  Embedding(m, false);
  m.Norm("output_norm", m.width, true);
  for (const std::string& b : Layers(m)) {
    m.Norm(b + "attn_norm", m.width, true);
    if (has_two_norms) m.Norm(b + "attn_norm_2", m.width, true);
    Attention(m, b, {.fused = true});
    m.Linear(b + "ffn_down", m.width, m.hidden);
    m.Linear(b + "ffn_up", m.hidden, m.width);
  }
}

void WriteStableLm(ModelWriter& m, bool is_parallel) {
  m.WriteCommon(kLayerKey);
  m.WriteRotary(m.head / 2, 10000);
  m.Bool("use_parallel_residual", is_parallel);
  Embedding(m, false);
  m.Norm("output_norm", m.width, true);
  for (const std::string& b : Layers(m)) {
    m.Norm(b + "attn_norm", m.width, true);
    Attention(m, b, {.bias = !is_parallel});
    if (is_parallel) {
      m.Tensor(b + "attn_q_norm.weight", {m.heads, m.head}, 0.1f, 1);
      m.Tensor(b + "attn_k_norm.weight", {m.kv_heads, m.head}, 0.1f, 1);
    } else {
      m.Norm(b + "ffn_norm", m.width, true);
    }
    Gated(m, b);
  }
}

void WriteBert(ModelWriter& m, bool is_nomic) {
  m.kv_heads = m.heads;
  m.WriteCommon(kLayerKey);
  m.Bool("attention.causal", false);
  m.Integer("pooling_type", 1);
  m.file().AddInteger("tokenizer.ggml.token_type_count", 2);
  m.Matrix("token_embd.weight", {m.vocabulary, m.width}, 5);
  m.Tensor("token_types.weight", {2, m.width}, 0.3f);
  m.Norm("token_embd_norm", m.width, true);
  if (is_nomic) {
    m.Number("rope.freq_base", 1000);
  } else {
    m.Tensor("position_embd.weight", {512, m.width}, 0.3f);
  }
  const bool bias = !is_nomic;
  for (const std::string& b : Layers(m)) {
    Attention(m, b, {.bias = bias, .output_bias = bias, .fused = is_nomic});
    m.Norm(b + "attn_output_norm", m.width, true);
    m.Linear(b + "ffn_up", m.hidden, m.width, bias);
    if (is_nomic) m.Linear(b + "ffn_gate", m.hidden, m.width);
    m.Linear(b + "ffn_down", m.width, m.hidden, bias);
    m.Norm(b + "layer_output_norm", m.width, true);
  }
}

void WriteLfm2(ModelWriter& m) {
  m.layers = 3;
  const std::vector<int32_t> kv_heads = {0, 2, 0};
  m.WriteCommon(kRmsKey);
  m.WriteRotary(m.head, 1e6f);
  m.file().AddIntegers("lfm2.attention.head_count_kv", kv_heads);
  m.Integer("shortconv.l_cache", 3);
  m.Matrix("token_embd.weight", {m.vocabulary, m.width}, 2);
  m.Norm("token_embd_norm", m.width);
  for (int64_t i = 0; i < m.layers; ++i) {
    const std::string b = "blk." + std::to_string(i) + ".";
    m.Norm(b + "attn_norm", m.width);
    if (kv_heads[static_cast<size_t>(i)] > 0) {
      Attention(m, b, {.qk_norm = true});
    } else {
      m.Linear(b + "shortconv.in_proj", 3 * m.width, m.width);
      m.Tensor(b + "shortconv.conv.weight", {m.width, 3}, 0.5f);
      m.Linear(b + "shortconv.out_proj", m.width, m.width);
    }
    m.Norm(b + "ffn_norm", m.width);
    Gated(m, b);
  }
}

void Write(ModelWriter& m, std::string_view name, std::string_view variant) {
  if (name == "llama") return WriteLlama(m, variant);
  if (name.starts_with("qwen")) {
    return WriteQwen(m, name.substr(0, 5), name.ends_with("moe"));
  }
  if (name == "gemma") return WriteGemma(m, 1);
  if (name == "gemma2") return WriteGemma(m, 2);
  if (name == "gemma3") return WriteGemma(m, 3);
  if (name == "phi3") return WritePhi3(m, variant == "longrope");
  if (name == "gpt2") return WriteGpt2(m);
  if (name == "falcon") return WriteFalcon(m, variant == "two_norms");
  if (name == "stablelm") return WriteStableLm(m, variant == "parallel");
  if (name == "lfm2") return WriteLfm2(m);
  WriteBert(m, name == "nomic-bert");
}

constexpr std::string_view kNames[] = {"llama",         "llama/linear",
                                       "llama/yarn",    "llama/factors",
                                       "llama/bias",    "llama/tied",
                                       "llama/moe",     "llama/packed",
                                       "qwen2",         "qwen3",
                                       "qwen2moe",      "qwen3moe",
                                       "gemma",         "gemma2",
                                       "gemma3",        "phi3",
                                       "phi3/longrope", "gpt2",
                                       "falcon",        "falcon/two_norms",
                                       "stablelm",      "stablelm/parallel",
                                       "bert",          "nomic-bert",
                                       "lfm2"};

}  // namespace

std::span<const std::string_view> SampleModelNames() { return kNames; }

std::string SampleModel(std::string_view name) {
  const size_t slash = name.find('/');
  const std::string_view architecture = name.substr(0, slash);
  ModelWriter m(architecture);
  Write(m, architecture,
        slash == std::string_view::npos ? "" : name.substr(slash + 1));
  return m.Build();
}

}  // namespace ember::gguf

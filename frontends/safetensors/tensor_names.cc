#include "frontends/safetensors/tensor_names.h"

#include <span>

namespace ember::safetensors {
namespace {

// A tensor's names in GGUF and in Hugging Face's files, without ".weight" and
// ".bias". '%' is the number of the layer, '#' that of an expert.
struct NameRow {
  std::string_view name;  // in GGUF
  std::string_view stored;
  Change change = Change::kNone;
};

constexpr NameRow kGemmaRows[] = {
    {"blk.%.post_attention_norm", "layers.%.post_attention_layernorm"},
    {"blk.%.ffn_norm", "layers.%.pre_feedforward_layernorm"},
    {"blk.%.post_ffw_norm", "layers.%.post_feedforward_layernorm"},
};

constexpr NameRow kGpt2Rows[] = {
    {"token_embd", "wte"},
    {"position_embd", "wpe"},
    {"output_norm", "ln_f"},
    {"blk.%.attn_norm", "h.%.ln_1"},
    {"blk.%.attn_qkv", "h.%.attn.c_attn", Change::kTranspose},
    {"blk.%.attn_output", "h.%.attn.c_proj", Change::kTranspose},
    {"blk.%.ffn_norm", "h.%.ln_2"},
    {"blk.%.ffn_up", "h.%.mlp.c_fc", Change::kTranspose},
    {"blk.%.ffn_down", "h.%.mlp.c_proj", Change::kTranspose},
};

constexpr NameRow kFalconRows[] = {
    {"token_embd", "word_embeddings"},
    {"output_norm", "ln_f"},
    {"blk.%.attn_norm", "h.%.input_layernorm"},
    {"blk.%.attn_norm", "h.%.ln_mlp"},
    {"blk.%.attn_norm_2", "h.%.ln_attn"},
    {"blk.%.attn_qkv", "h.%.self_attention.query_key_value", Change::kUngroup},
    {"blk.%.attn_output", "h.%.self_attention.dense"},
    {"blk.%.ffn_up", "h.%.mlp.dense_h_to_4h"},
    {"blk.%.ffn_down", "h.%.mlp.dense_4h_to_h"},
};

constexpr NameRow kBertRows[] = {
    {"token_embd", "embeddings.word_embeddings"},
    {"position_embd", "embeddings.position_embeddings"},
    {"token_types", "embeddings.token_type_embeddings"},
    {"token_embd_norm", "embeddings.LayerNorm"},
    {"blk.%.attn_q", "encoder.layer.%.attention.self.query"},
    {"blk.%.attn_k", "encoder.layer.%.attention.self.key"},
    {"blk.%.attn_v", "encoder.layer.%.attention.self.value"},
    {"blk.%.attn_output", "encoder.layer.%.attention.output.dense"},
    {"blk.%.attn_output_norm", "encoder.layer.%.attention.output.LayerNorm"},
    {"blk.%.ffn_up", "encoder.layer.%.intermediate.dense"},
    {"blk.%.ffn_down", "encoder.layer.%.output.dense"},
    {"blk.%.layer_output_norm", "encoder.layer.%.output.LayerNorm"},
};

constexpr NameRow kLfm2Rows[] = {
    {"output_norm", "embedding_norm"},
    {"blk.%.attn_norm", "layers.%.operator_norm"},
    {"blk.%.attn_output", "layers.%.self_attn.out_proj"},
    {"blk.%.attn_q_norm", "layers.%.self_attn.q_layernorm"},
    {"blk.%.attn_k_norm", "layers.%.self_attn.k_layernorm"},
    {"blk.%.shortconv.conv", "layers.%.conv.conv", Change::kSqueeze},
    {"blk.%.shortconv.in_proj", "layers.%.conv.in_proj"},
    {"blk.%.shortconv.out_proj", "layers.%.conv.out_proj"},
    {"blk.%.ffn_norm", "layers.%.ffn_norm"},
    {"blk.%.ffn_gate", "layers.%.feed_forward.w1"},
    {"blk.%.ffn_up", "layers.%.feed_forward.w3"},
    {"blk.%.ffn_down", "layers.%.feed_forward.w2"},
};

// Names that most decoder architectures share.
constexpr NameRow kCommonRows[] = {
    {"token_embd", "embed_tokens"},
    {"output_norm", "norm"},
    {"output", "lm_head"},
    {"blk.%.attn_norm", "layers.%.input_layernorm"},
    {"blk.%.attn_q", "layers.%.self_attn.q_proj"},
    {"blk.%.attn_k", "layers.%.self_attn.k_proj"},
    {"blk.%.attn_v", "layers.%.self_attn.v_proj"},
    {"blk.%.attn_qkv", "layers.%.self_attn.qkv_proj"},
    {"blk.%.attn_output", "layers.%.self_attn.o_proj"},
    {"blk.%.attn_q_norm", "layers.%.self_attn.q_norm"},
    {"blk.%.attn_k_norm", "layers.%.self_attn.k_norm"},
    {"blk.%.ffn_norm", "layers.%.post_attention_layernorm"},
    {"blk.%.ffn_gate", "layers.%.mlp.gate_proj"},
    {"blk.%.ffn_up", "layers.%.mlp.up_proj"},
    {"blk.%.ffn_up", "layers.%.mlp.gate_up_proj"},
    {"blk.%.ffn_down", "layers.%.mlp.down_proj"},
    {"blk.%.ffn_gate_inp", "layers.%.mlp.gate"},
    {"blk.%.ffn_gate_inp", "layers.%.block_sparse_moe.gate"},
    {"blk.%.ffn_gate_exps", "layers.%.mlp.experts.#.gate_proj", Change::kStack},
    {"blk.%.ffn_up_exps", "layers.%.mlp.experts.#.up_proj", Change::kStack},
    {"blk.%.ffn_down_exps", "layers.%.mlp.experts.#.down_proj", Change::kStack},
    {"blk.%.ffn_gate_exps", "layers.%.block_sparse_moe.experts.#.w1",
     Change::kStack},
    {"blk.%.ffn_up_exps", "layers.%.block_sparse_moe.experts.#.w3",
     Change::kStack},
    {"blk.%.ffn_down_exps", "layers.%.block_sparse_moe.experts.#.w2",
     Change::kStack},
    {"blk.%.ffn_gate_shexp", "layers.%.mlp.shared_expert.gate_proj"},
    {"blk.%.ffn_up_shexp", "layers.%.mlp.shared_expert.up_proj"},
    {"blk.%.ffn_down_shexp", "layers.%.mlp.shared_expert.down_proj"},
    {"blk.%.ffn_gate_inp_shexp", "layers.%.mlp.shared_expert_gate",
     Change::kSqueeze},
};

std::span<const NameRow> OwnRows(std::string_view architecture) {
  if (architecture == "gemma2" || architecture == "gemma3") return kGemmaRows;
  if (architecture == "gpt2") return kGpt2Rows;
  if (architecture == "falcon") return kFalconRows;
  if (architecture == "bert") return kBertRows;
  if (architecture == "lfm2") return kLfm2Rows;
  return {};
}

constexpr std::string_view kPrefixes[] = {"model.", "", "transformer.",
                                          "bert."};
constexpr std::string_view kLayer = "blk.";

// A name in its parts: "blk.", "3", ".attn_q" and ".weight".
struct NameParts {
  std::string pattern;  // "blk.%.attn_q"
  std::string layer;
  std::string suffix;
};

NameParts Split(std::string_view name) {
  NameParts parts;
  const size_t dot = name.rfind('.');
  if (dot != std::string_view::npos) {
    parts.suffix = std::string(name.substr(dot));
    name = name.substr(0, dot);
  }
  parts.pattern = std::string(name);
  if (!name.starts_with(kLayer)) return parts;
  const size_t end = name.find('.', kLayer.size());
  if (end == std::string_view::npos) return parts;
  parts.layer = std::string(name.substr(kLayer.size(), end - kLayer.size()));
  parts.pattern = std::string(kLayer) + "%" + std::string(name.substr(end));
  return parts;
}

std::string Filled(std::string_view pattern, std::string_view layer) {
  std::string text(pattern);
  if (const size_t at = text.find('%'); at != std::string::npos)
    text.replace(at, 1, layer);
  return text;
}

}  // namespace

std::vector<StoredName> StoredNames(std::string_view architecture,
                                    std::string_view name) {
  const NameParts parts = Split(name);
  const bool adds_one =
      architecture.starts_with("gemma") && parts.pattern.ends_with("norm");
  std::vector<StoredName> names;
  for (const std::span<const NameRow> rows :
       {OwnRows(architecture), std::span<const NameRow>(kCommonRows)}) {
    for (const NameRow& row : rows) {
      if (row.name != parts.pattern) continue;
      for (const std::string_view prefix : kPrefixes) {
        names.push_back({std::string(prefix) + Filled(row.stored, parts.layer) +
                             parts.suffix,
                         adds_one ? Change::kAddOne : row.change});
      }
    }
  }
  return names;
}

bool IsWithoutMeaning(std::string_view stored_name) {
  for (const std::string_view end :
       {".inv_freq", ".attn.bias", ".attn.masked_bias", ".position_ids"})
    if (stored_name.ends_with(end)) return true;
  return stored_name.find("pooler.") != std::string_view::npos ||
         stored_name.starts_with("cls.");
}

}  // namespace ember::safetensors

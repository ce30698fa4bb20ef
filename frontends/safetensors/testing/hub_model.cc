#include "frontends/safetensors/testing/hub_model.h"

#include <cstring>
#include <utility>

#include "base/byte_cursor.h"
#include "frontends/gguf/gguf_file.h"
#include "frontends/gguf/testing/file_builder.h"
#include "frontends/gguf/testing/sample_models.h"

namespace ember::safetensors {
namespace {

constexpr int64_t kWidth = 32, kHeads = 4, kKeyHeads = 2, kSize = 8;

struct NamePair {
  std::string_view gguf, hub;
};

// GGUF names and Hugging Face's names of tensors. The importer's table is not
// used here, so that the test finds mistakes in it. '%' is the number of the
// layer.
constexpr NamePair kLlamaNames[] = {
    {"token_embd", "model.embed_tokens"},
    {"output_norm", "model.norm"},
    {"output", "lm_head"},
    {"blk.%.attn_norm", "model.layers.%.input_layernorm"},
    {"blk.%.attn_q", "model.layers.%.self_attn.q_proj"},
    {"blk.%.attn_k", "model.layers.%.self_attn.k_proj"},
    {"blk.%.attn_v", "model.layers.%.self_attn.v_proj"},
    {"blk.%.attn_qkv", "model.layers.%.self_attn.qkv_proj"},
    {"blk.%.attn_output", "model.layers.%.self_attn.o_proj"},
    {"blk.%.attn_q_norm", "model.layers.%.self_attn.q_norm"},
    {"blk.%.attn_k_norm", "model.layers.%.self_attn.k_norm"},
    {"blk.%.ffn_norm", "model.layers.%.post_attention_layernorm"},
    {"blk.%.ffn_gate", "model.layers.%.mlp.gate_proj"},
    {"blk.%.ffn_up", "model.layers.%.mlp.up_proj"},
    {"blk.%.ffn_down", "model.layers.%.mlp.down_proj"},
    {"blk.%.ffn_gate_inp", "model.layers.%.mlp.gate"},
    {"blk.%.ffn_gate_inp_shexp", "model.layers.%.mlp.shared_expert_gate"},
    {"blk.%.ffn_gate_shexp", "model.layers.%.mlp.shared_expert.gate_proj"},
    {"blk.%.ffn_up_shexp", "model.layers.%.mlp.shared_expert.up_proj"},
    {"blk.%.ffn_down_shexp", "model.layers.%.mlp.shared_expert.down_proj"},
    {"blk.%.ffn_gate_exps", "model.layers.%.mlp.experts.#.gate_proj"},
    {"blk.%.ffn_up_exps", "model.layers.%.mlp.experts.#.up_proj"},
    {"blk.%.ffn_down_exps", "model.layers.%.mlp.experts.#.down_proj"},
};
constexpr NamePair kPhi3Names[] = {
    {"blk.%.ffn_up", "model.layers.%.mlp.gate_up_proj"},
};
constexpr NamePair kGemmaNames[] = {
    {"blk.%.post_attention_norm", "model.layers.%.post_attention_layernorm"},
    {"blk.%.ffn_norm", "model.layers.%.pre_feedforward_layernorm"},
    {"blk.%.post_ffw_norm", "model.layers.%.post_feedforward_layernorm"},
};
constexpr NamePair kGpt2Names[] = {
    {"token_embd", "transformer.wte"},
    {"position_embd", "transformer.wpe"},
    {"output_norm", "transformer.ln_f"},
    {"blk.%.attn_norm", "transformer.h.%.ln_1"},
    {"blk.%.attn_qkv", "transformer.h.%.attn.c_attn"},
    {"blk.%.attn_output", "transformer.h.%.attn.c_proj"},
    {"blk.%.ffn_norm", "transformer.h.%.ln_2"},
    {"blk.%.ffn_up", "transformer.h.%.mlp.c_fc"},
    {"blk.%.ffn_down", "transformer.h.%.mlp.c_proj"},
};
constexpr NamePair kFalconNames[] = {
    {"token_embd", "transformer.word_embeddings"},
    {"output_norm", "transformer.ln_f"},
    {"blk.%.attn_norm", "transformer.h.%.ln_mlp"},
    {"blk.%.attn_norm_2", "transformer.h.%.ln_attn"},
    {"blk.%.attn_qkv", "transformer.h.%.self_attention.query_key_value"},
    {"blk.%.attn_output", "transformer.h.%.self_attention.dense"},
    {"blk.%.ffn_up", "transformer.h.%.mlp.dense_h_to_4h"},
    {"blk.%.ffn_down", "transformer.h.%.mlp.dense_4h_to_h"},
};
constexpr NamePair kBertNames[] = {
    {"token_embd", "bert.embeddings.word_embeddings"},
    {"position_embd", "bert.embeddings.position_embeddings"},
    {"token_types", "bert.embeddings.token_type_embeddings"},
    {"token_embd_norm", "bert.embeddings.LayerNorm"},
    {"blk.%.attn_q", "bert.encoder.layer.%.attention.self.query"},
    {"blk.%.attn_k", "bert.encoder.layer.%.attention.self.key"},
    {"blk.%.attn_v", "bert.encoder.layer.%.attention.self.value"},
    {"blk.%.attn_output", "bert.encoder.layer.%.attention.output.dense"},
    {"blk.%.attn_output_norm",
     "bert.encoder.layer.%.attention.output.LayerNorm"},
    {"blk.%.ffn_up", "bert.encoder.layer.%.intermediate.dense"},
    {"blk.%.ffn_down", "bert.encoder.layer.%.output.dense"},
    {"blk.%.layer_output_norm", "bert.encoder.layer.%.output.LayerNorm"},
};
constexpr NamePair kLfm2Names[] = {
    {"token_embd_norm", "model.embedding_norm"},
    {"blk.%.attn_norm", "model.layers.%.operator_norm"},
    {"blk.%.attn_output", "model.layers.%.self_attn.out_proj"},
    {"blk.%.attn_q_norm", "model.layers.%.self_attn.q_layernorm"},
    {"blk.%.attn_k_norm", "model.layers.%.self_attn.k_layernorm"},
    {"blk.%.shortconv.conv", "model.layers.%.conv.conv"},
    {"blk.%.shortconv.in_proj", "model.layers.%.conv.in_proj"},
    {"blk.%.shortconv.out_proj", "model.layers.%.conv.out_proj"},
    {"blk.%.ffn_norm", "model.layers.%.ffn_norm"},
    {"blk.%.ffn_gate", "model.layers.%.feed_forward.w1"},
    {"blk.%.ffn_up", "model.layers.%.feed_forward.w3"},
    {"blk.%.ffn_down", "model.layers.%.feed_forward.w2"},
};

std::span<const NamePair> OwnNames(std::string_view model) {
  if (model == "phi3") return kPhi3Names;
  if (model.starts_with("gemma")) return kGemmaNames;
  if (model == "gpt2") return kGpt2Names;
  if (model.starts_with("falcon")) return kFalconNames;
  if (model == "bert") return kBertNames;
  if (model == "lfm2") return kLfm2Names;
  return {};
}

std::string Replaced(std::string_view text, char c, const std::string& by) {
  std::string result(text);
  if (const size_t at = result.find(c); at != std::string::npos)
    result.replace(at, 1, by);
  return result;
}

// Returns the hub's name of a tensor, with '#' for the number of an expert.
std::string HubName(std::string_view model, std::string_view name) {
  const size_t dot = name.rfind('.');
  const std::string suffix(name.substr(dot));
  std::string stem(name.substr(0, dot)), layer;
  if (stem.starts_with("blk.")) {
    const size_t end = stem.find('.', 4);
    layer = stem.substr(4, end - 4);
    stem = "blk.%" + stem.substr(end);
  }
  for (const std::span<const NamePair> names :
       {OwnNames(model), std::span<const NamePair>(kLlamaNames)}) {
    for (const NamePair& pair : names)
      if (pair.gguf == stem) return Replaced(pair.hub, '%', layer) + suffix;
  }
  return "unknown." + std::string(name);
}

HubTensor Transposed(const HubTensor& x) {
  HubTensor y{{x.dims[1], x.dims[0]}, std::vector<float>(x.values.size())};
  const auto rows = static_cast<size_t>(x.dims[0]);
  const auto columns = static_cast<size_t>(x.dims[1]);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      y.values[j * rows + i] = x.values[i * columns + j];
  return y;
}

// Returns rows [queries, keys, values] in the order of Falcon: for each group
// its queries, its key and its value.
HubTensor Grouped(const HubTensor& x) {
  HubTensor y{x.dims, {}};
  const auto row = x.values.size() / static_cast<size_t>(x.dims[0]);
  const size_t head = row * kSize;
  const auto append = [&](size_t index) {
    const auto begin =
        x.values.begin() + static_cast<std::ptrdiff_t>(index * head);
    y.values.insert(y.values.end(), begin,
                    begin + static_cast<std::ptrdiff_t>(head));
  };
  constexpr size_t kGroup = kHeads / kKeyHeads;
  for (size_t group = 0; group < kKeyHeads; ++group) {
    for (size_t i = 0; i < kGroup; ++i) append(group * kGroup + i);
    append(kHeads + group);
    append(kHeads + kKeyHeads + group);
  }
  return y;
}

// Adds a tensor as the hub stores it.
void AddTensor(std::string_view model, std::string_view name, HubTensor x,
               std::map<std::string, HubTensor>& tensors) {
  const std::string hub = HubName(model, name);
  if (hub.find('#') != std::string::npos) {
    const auto experts = static_cast<size_t>(x.dims[0]);
    const size_t size = x.values.size() / experts;
    for (size_t i = 0; i < experts; ++i) {
      const auto begin =
          x.values.begin() + static_cast<std::ptrdiff_t>(i * size);
      tensors[Replaced(hub, '#', std::to_string(i))] = {
          {x.dims[1], x.dims[2]},
          {begin, begin + static_cast<std::ptrdiff_t>(size)}};
    }
    return;
  }
  if (model == "gpt2" && x.dims.size() == 2 && name.starts_with("blk."))
    x = Transposed(x);
  if (model.starts_with("gemma") && name.ends_with("norm.weight"))
    for (float& value : x.values) value -= 1;
  if (model.starts_with("falcon") && name.find("qkv") != std::string_view::npos)
    x = Grouped(x);
  if (name.ends_with("shortconv.conv.weight"))
    x.dims.insert(x.dims.begin() + 1, 1);
  if (name.ends_with("inp_shexp.weight")) x.dims.insert(x.dims.begin(), 1);
  tensors[hub] = std::move(x);
}

struct HubConfig {
  std::string_view name, hf_class, text;
};

// `text`: the entries of config.json in which the model differs from the sample
// models' common ones.
constexpr HubConfig kConfigs[] = {
    {"qwen2", "Qwen2ForCausalLM", R"("rope_theta": 1000000.0)"},
    {"qwen3", "Qwen3ForCausalLM", R"("rope_theta": 1000000.0, "head_dim": 8)"},
    {"qwen2moe", "Qwen2MoeForCausalLM",
     R"("rope_theta": 1000000.0, "num_experts": 4, "num_experts_per_tok": 2,
        "norm_topk_prob": false)"},
    {"gemma2", "Gemma2ForCausalLM",
     R"("head_dim": 8, "attn_logit_softcapping": 3.0,
        "final_logit_softcapping": 2.0, "sliding_window": 3,
        "query_pre_attn_scalar": 8)"},
    {"gemma3", "Gemma3ForCausalLM",
     R"("head_dim": 8, "sliding_window": 3, "rope_theta": 1000000.0,
        "rope_local_base_freq": 10000.0,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0})"},
    {"phi3", "Phi3ForCausalLM", R"("rope_scaling": null)"},
    {"gpt2", "GPT2LMHeadModel",
     R"("n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 512,
        "layer_norm_epsilon": 1e-05)"},
    {"falcon/two_norms", "FalconForCausalLM",
     R"("new_decoder_architecture": true, "num_kv_heads": 2, "alibi": false)"},
    {"stablelm", "StableLmForCausalLM", R"("partial_rotary_factor": 0.5)"},
    {"bert", "BertModel", R"("layer_norm_eps": 1e-05)"},
    {"lfm2", "Lfm2ForCausalLM",
     R"("rope_theta": 1000000.0, "conv_L_cache": 3,
        "layer_types": ["conv", "full_attention", "conv"])"},
};

constexpr std::string_view kNames[] = {
    "qwen2", "qwen3", "qwen2moe",         "gemma2",   "gemma3", "phi3",
    "gpt2",  "bert",  "falcon/two_norms", "stablelm", "lfm2"};

std::string ConfigText(const HubConfig& config) {
  const bool is_plain_bert = config.name == "bert";
  const int layers = config.name == "gemma3" ? 6
                     : config.name == "lfm2" ? 3
                                             : 2;
  std::string text = "{\"architectures\": [\"" + std::string(config.hf_class) +
                     "\"], " + std::string(config.text);
  if (config.name != "gpt2") {
    text += ", \"hidden_size\": " + std::to_string(kWidth) +
            ", \"num_hidden_layers\": " + std::to_string(layers) +
            ", \"num_attention_heads\": " + std::to_string(kHeads) +
            ", \"max_position_embeddings\": 512, \"rms_norm_eps\": 1e-05";
    if (!is_plain_bert && config.name != "falcon/two_norms")
      text += ", \"num_key_value_heads\": " + std::to_string(kKeyHeads);
  }
  return text + "}";
}

}  // namespace

std::span<const std::string_view> HubModelNames() { return kNames; }

HubModel MakeHubModel(std::string_view name) {
  HubModel model;
  for (const HubConfig& config : kConfigs)
    if (config.name == name) model.config = ConfigText(config);
  const std::string gguf = gguf::SampleModel(name);
  const auto file = gguf::GgufFile::Open(AsBytes(gguf), nullptr);
  std::map<std::string, HubTensor> tensors;
  for (const gguf::GgufTensor& tensor : file->tensors()) {
    HubTensor x{tensor.dims, std::vector<float>(tensor.bytes.size() / 4)};
    std::memcpy(x.values.data(), tensor.bytes.data(), tensor.bytes.size());
    AddTensor(name, tensor.name, std::move(x), tensors);
  }
  model.weights = WriteSafetensors(tensors);
  return model;
}

std::string WriteSafetensors(const std::map<std::string, HubTensor>& tensors) {
  std::string header = "{\"__metadata__\": {\"format\": \"pt\"}", data;
  for (const auto& [name, tensor] : tensors) {
    const size_t begin = data.size();
    data.append(reinterpret_cast<const char*>(tensor.values.data()),
                tensor.values.size() * sizeof(float));
    header += ", \"" + name + "\": {\"dtype\": \"F32\", \"shape\": [";
    for (size_t i = 0; i < tensor.dims.size(); ++i)
      header += (i > 0 ? ", " : "") + std::to_string(tensor.dims[i]);
    header += "], \"data_offsets\": [" + std::to_string(begin) + ", " +
              std::to_string(data.size()) + "]}";
  }
  header += "}";
  // Spaces extend the header so that the tensors' data begin at a multiple of 8
  // bytes.
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return gguf::LittleEndian(header.size(), 8) + header + data;
}

}  // namespace ember::safetensors

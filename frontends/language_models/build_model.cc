#include "frontends/language_models/build_model.h"

#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "frontends/import_steps.h"
#include "frontends/inputs.h"
#include "frontends/language_models/attention.h"
#include "frontends/language_models/feed_forward.h"
#include "frontends/language_models/layer_context.h"
#include "frontends/language_models/packed_product.h"
#include "frontends/language_models/rotary.h"
#include "frontends/language_models/short_convolution.h"
#include "frontends/model_errors.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/functions.h"

namespace ember::language_models {
namespace {

using frontends::ImportOptions;
using frontends::ModelDim;
using frontends::ModelInput;
using ops::SliceAxis;

// The results of a causal model: logits of the last position, logits of all
// positions, or all values before the logits.
enum class Entry : uint8_t { kLast, kAll, kHidden };

constexpr std::string_view kTokens = "tokens";
constexpr std::string_view kPast = "past";

StatusOr<Entry> ReadEntry(const ModelOptions& options,
                          const ImportOptions& import) {
  if (!options.architecture->is_causal) {
    EMBER_RETURN_IF_ERROR(
        frontends::CheckNoEntry(import, "an encoder has one"));
    return Entry::kAll;
  }
  const std::array<std::string, 3> names = {"last", "all", "hidden"};
  if (import.entry.empty() || import.entry == names[0]) return Entry::kLast;
  if (import.entry == names[1]) return Entry::kAll;
  if (import.entry == names[2]) return Entry::kHidden;
  return frontends::NoSuchEntry("entries", names, import.entry);
}

ModelInput StateInput(std::string name, std::vector<ModelDim> dims,
                      DType type = DType::kF32) {
  return {.name = std::move(name),
          .dtype = type,
          .dims = std::move(dims),
          .logical_type = std::string(frontends::kStateType)};
}

// Returns the inputs of the model: first the tokens, then the inputs that hold
// state.
// state_type: the element type of keys and values.
std::vector<ModelInput> InputsOf(const ModelOptions& options,
                                 DType state_type) {
  const ModelDim batch{.symbol = "batch"};
  std::vector<ModelInput> inputs;
  inputs.push_back(
      {.name = std::string(kTokens),
       .dtype = DType::kI32,
       .dims = std::vector<ModelDim>{batch, {.symbol = "sequence"}}});
  if (!options.architecture->is_causal) return inputs;
  inputs.push_back(
      StateInput(std::string(kPast), {{.extent = 1}}, DType::kI64));
  for (size_t i = 0; i < options.layers.size(); ++i) {
    const LayerOptions& layer = options.layers[i];
    const std::string prefix = LayerPrefix(i);
    if (layer.kv_heads == 0) {
      inputs.push_back(StateInput(prefix + std::string(kConvolutionState),
                                  {batch,
                                   {.extent = options.convolution - 1},
                                   {.extent = options.width}}));
      continue;
    }
    const ModelDim heads{.extent = layer.kv_heads};
    const ModelDim context{.symbol = "context"};
    inputs.push_back(StateInput(
        prefix + std::string(kKeyState),
        {batch, heads, context, {.extent = options.key_size}}, state_type));
    inputs.push_back(StateInput(
        prefix + std::string(kValueState),
        {batch, heads, context, {.extent = options.value_size}}, state_type));
  }
  return inputs;
}

class Builder {
 public:
  Builder(const ModelOptions& options, TensorSource& source,
          const ImportOptions& import)
      : options_(options),
        import_(import),
        builder_(options.name, import.operation_limit),
        tensors_(source, builder_),
        steps_(import.progress),
        context_{.options = options, .tensors = tensors_} {}

  StatusOr<graph::Graph> Build();

 private:
  Status ReadInputs();
  Tensor Embed();
  Status BuildLayers();
  Tensor Layer(size_t number, Tensor x);
  Tensor SumsOf(Tensor x, Tensor normalized, Tensor mixed);
  Tensor Mix(const LayerOptions& layer, Tensor x);
  void Finish(Entry entry);
  void FinishEncoder();

  Tensor Wrap(graph::Value* value) { return {&builder_, value}; }

  const ModelOptions& options_;
  const ImportOptions& import_;
  graph::GraphBuilder builder_;
  ModelTensors tensors_;
  frontends::ImportSteps steps_;
  LayerContext context_;
  Tensor tokens_, x_;
  Weight embedding_;
  std::optional<RotaryTables> tables_, window_tables_;
};

Status Builder::ReadInputs() {
  const std::vector<ModelInput> inputs =
      InputsOf(options_, import_.state_type.value_or(DType::kF32));
  EMBER_ASSIGN_OR_RETURN(const std::vector<graph::Value*> values,
                         frontends::AddInputs(inputs, import_, builder_));
  tokens_ = Wrap(values[0]);
  context_.batch = tokens_.dim(0);
  context_.sequence = tokens_.dim(1);
  if (!options_.architecture->is_causal) return builder_.status();
  const std::vector<Dim> past = builder_.Extents(values[1]);
  if (!builder_.status().ok()) return builder_.status();
  context_.past = past[0];
  for (size_t i = 2; i < inputs.size(); ++i) {
    const Tensor state = Wrap(values[i]);
    context_.old_states.emplace(inputs[i].name, state);
    if (state.rank() == 4) context_.context = state.dim(2);
  }
  if (context_.context == Dim(0)) return builder_.status();
  const Tensor end =
      ops::DimScalar(builder_, context_.past + context_.sequence);
  const Tensor fits =
      ops::LessEqual(end, ops::DimScalar(builder_, context_.context));
  builder_.Require(fits.value(),
                   "context is full: expected past + sequence to be at most "
                   "the positions of the state; give a longer state, or fewer "
                   "tokens");
  return builder_.status();
}

Tensor Builder::Embed() {
  const int64_t width = options_.width;
  embedding_ = tensors_.Required("token_embd.weight", {kAnyExtent, width});
  Tensor x = GatherRows(embedding_, tokens_);
  if (options_.architecture->scales_embedding)
    x = x * std::sqrt(static_cast<double>(width));
  if (const Weight types =
          tensors_.Optional("token_types.weight", {kAnyExtent, width})) {
    // All tokens are of the first type.
    x = x + ops::Reshape(SliceAxis(types.Values(), 0, Dim(0), Dim(1)),
                         {Dim(width)});
  }
  if (options_.positions == Positions::kLearned) {
    const Weight rows =
        tensors_.Required("position_embd.weight", {kAnyExtent, width});
    Tensor position =
        ops::IotaVector(builder_, context_.sequence, DType::kI64) +
        ops::DimScalar(builder_, context_.past);
    x = x + GatherRows(rows, position);
  }
  if (options_.architecture->layout == Layout::kPostNorm)
    x = context_.NormalizeIfPresent(x, "token_embd_norm", width);
  return x;
}

Tensor Builder::Mix(const LayerOptions& layer, Tensor x) {
  if (layer.kv_heads == 0) return ShortConvolution(context_, x);
  if (options_.positions == Positions::kLearned)
    return Attend(context_, layer, nullptr, x);
  const bool is_windowed = layer.window > 0;
  std::optional<RotaryTables>& tables = is_windowed ? window_tables_ : tables_;
  if (!tables) {
    tables = MakeRotaryTables(
        context_, is_windowed ? options_.window_rotary : options_.rotary);
  }
  return Attend(context_, layer, &*tables, x);
}

// Joins a layer's input, its normalised input and the result of its attention.
Tensor Builder::SumsOf(Tensor x, Tensor normalized, Tensor mixed) {
  const int64_t width = options_.width;
  const Layout layout = options_.architecture->layout;
  if (layout == Layout::kPostNorm) {
    Tensor y = context_.Normalize(x + mixed, "attn_output_norm", width);
    return context_.Normalize(y + FeedForward(context_, y), "layer_output_norm",
                              width);
  }
  const bool has_second = tensors_.Has(context_.Name("ffn_norm.weight"));
  if (layout == Layout::kParallel || !has_second)
    return x + mixed + FeedForward(context_, normalized);
  Tensor y =
      x + context_.NormalizeIfPresent(mixed, "post_attention_norm", width);
  Tensor z = FeedForward(context_, context_.Normalize(y, "ffn_norm", width));
  return y + context_.NormalizeIfPresent(z, "post_ffw_norm", width);
}

Tensor Builder::Layer(size_t number, Tensor x) {
  const int64_t width = options_.width;
  context_.prefix = LayerPrefix(number);
  builder_.SetOrigin("blk." + std::to_string(number));
  Tensor normalized = x;
  if (options_.architecture->layout != Layout::kPostNorm)
    normalized = context_.Normalize(x, "attn_norm", width);
  // Falcon 40B normalises the attention's operand on its own.
  Tensor operand = tensors_.Has(context_.Name("attn_norm_2.weight"))
                       ? context_.Normalize(x, "attn_norm_2", width)
                       : normalized;
  if (!builder_.status().ok()) return x;
  Tensor mixed = Mix(options_.layers[number], operand);
  if (!builder_.status().ok()) return x;
  return SumsOf(x, normalized, mixed);
}

Status Builder::BuildLayers() {
  steps_.Expect(options_.layers.size());
  for (size_t i = 0; i < options_.layers.size(); ++i) {
    EMBER_RETURN_IF_ERROR(steps_.Begin("blk." + std::to_string(i)));
    x_ = Layer(i, x_);
    if (!builder_.status().ok()) return builder_.status();
  }
  context_.prefix.clear();
  builder_.SetOrigin("output");
  return OkStatus();
}

void Builder::Finish(Entry entry) {
  const int64_t width = options_.width;
  // These count as used, also if only the values before the logits are wanted.
  tensors_.Has("output.weight");
  tensors_.Has("output.bias");
  Tensor x = x_;
  if (entry == Entry::kLast)
    x = SliceAxis(x, 1, context_.sequence - Dim(1), Dim(1));
  // LFM2 gives the norm of the output another name.
  x = context_.Normalize(
      x, tensors_.Has("output_norm.weight") ? "output_norm" : "token_embd_norm",
      width);
  if (entry != Entry::kHidden) {
    const Weight output = tensors_.Optional(
        "output.weight",
        {embedding_.dim(0).AsConstant().value_or(kAnyExtent), width});
    x = TimesRows(x, output ? output : embedding_);
    if (const Weight bias = tensors_.Optional("output.bias", {kAnyExtent}))
      x = x + bias.Values();
    if (options_.logit_cap > 0)
      x = ops::Tanh(x / options_.logit_cap) * options_.logit_cap;
  }
  builder_.Output(entry == Entry::kHidden ? "hidden" : "logits", x.value());
  const std::string type(frontends::kStateType);
  builder_.Output(std::string(kPast),
                  builder_.ShapeValue({context_.past + context_.sequence}),
                  type);
  for (const NewState& state : context_.new_states)
    builder_.Output(state.name, state.value.value(), type);
}

void Builder::FinishEncoder() {
  Tensor x = x_;
  switch (options_.pooling) {
    case Pooling::kNone:
      break;
    case Pooling::kMean:
      x = ops::Mean(x, {1}, false);
      break;
    case Pooling::kFirst:
      x = ops::Squeeze(SliceAxis(x, 1, Dim(0), Dim(1)), {1});
      break;
    case Pooling::kLast:
      x = ops::Squeeze(SliceAxis(x, 1, context_.sequence - Dim(1), Dim(1)),
                       {1});
      break;
  }
  builder_.Output("embedding", x.value());
}

StatusOr<graph::Graph> Builder::Build() {
  EMBER_RETURN_IF_ERROR(CheckOptions(options_));
  EMBER_ASSIGN_OR_RETURN(const Entry entry, ReadEntry(options_, import_));
  EMBER_RETURN_IF_ERROR(ReadInputs());
  x_ = Embed();
  EMBER_RETURN_IF_ERROR(builder_.status());
  EMBER_RETURN_IF_ERROR(BuildLayers());
  if (options_.architecture->is_causal) {
    Finish(entry);
  } else {
    FinishEncoder();
  }
  EMBER_RETURN_IF_ERROR(builder_.status());
  EMBER_RETURN_IF_ERROR(tensors_.CheckAllUsed());
  return builder_.Finish();
}

}  // namespace

StatusOr<graph::Graph> BuildModel(const ModelOptions& options,
                                  TensorSource& source,
                                  const ImportOptions& import) {
  return Builder(options, source, import).Build();
}

std::vector<frontends::InputInfo> ModelInputs(const ModelOptions& options) {
  std::vector<frontends::InputInfo> infos;
  for (const ModelInput& input : InputsOf(options, DType::kF32))
    infos.push_back({.name = input.name});
  return infos;
}

}  // namespace ember::language_models

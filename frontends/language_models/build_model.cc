#include "frontends/language_models/build_model.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

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
constexpr std::string_view kCounts = "counts";
constexpr std::string_view kSequences = "sequences:";
// Largest number of sequences of an entry. The graph has a separate attention
// for each sequence in each layer, so it grows with this number.
constexpr int kMaxSequences = 64;

struct Call {
  Entry entry = Entry::kLast;
  // Number of sequences of different lengths ("sequences:8"). 0: the entry
  // takes a batch of sequences of equal length.
  int sequences = 0;
};

StatusOr<Call> ReadEntry(const ModelOptions& options,
                         const ImportOptions& import) {
  if (!options.architecture->is_causal) {
    EMBER_RETURN_IF_ERROR(
        frontends::CheckNoEntry(import, "an encoder has one"));
    return Call{.entry = Entry::kAll};
  }
  const std::string_view entry = import.entry;
  if (entry.starts_with(kSequences)) {
    const std::string_view digits = entry.substr(kSequences.size());
    Call call;
    const auto [end, error] = std::from_chars(
        digits.data(), digits.data() + digits.size(), call.sequences);
    if (error == std::errc() && end == digits.data() + digits.size() &&
        call.sequences >= 1 && call.sequences <= kMaxSequences)
      return call;
    return InvalidArgumentError("entry '" + import.entry + "': expected 1 to " +
                                std::to_string(kMaxSequences) +
                                " sequences, as in 'sequences:8'");
  }
  const std::array<std::string, 4> names = {"last", "all", "hidden",
                                            "sequences:8"};
  if (entry.empty() || entry == names[0]) return Call{};
  if (entry == names[1]) return Call{.entry = Entry::kAll};
  if (entry == names[2]) return Call{.entry = Entry::kHidden};
  return frontends::NoSuchEntry("entries", names, import.entry);
}

ModelInput StateInput(std::string name, std::vector<ModelDim> dims,
                      DType type = DType::kF32) {
  return {.name = std::move(name),
          .dtype = type,
          .dims = std::move(dims),
          .logical_type = std::string(frontends::kStateType)};
}

// Returns the endings of the names of the sequences' states.
std::vector<std::string> SuffixesOf(const Call& call) {
  if (call.sequences == 0) return {""};
  std::vector<std::string> suffixes;
  for (int i = 0; i < call.sequences; ++i)
    suffixes.push_back("." + std::to_string(i));
  return suffixes;
}

// Appends the inputs of a layer's state, in the order in which the layer sets
// it.
void AddStateInputs(const ModelOptions& options, size_t number,
                    DType state_type, const ModelDim& batch,
                    const std::string& suffix,
                    std::vector<ModelInput>& inputs) {
  const LayerOptions& layer = options.layers[number];
  const auto add = [&](std::string_view name, std::vector<ModelDim> dims,
                       DType type) {
    inputs.push_back(
        StateInput(LayerPrefix(number) + std::string(name) + suffix,
                   std::move(dims), type));
  };
  if (layer.kv_heads == 0) {
    add(kConvolutionState,
        {batch, {.extent = options.convolution - 1}, {.extent = options.width}},
        DType::kF32);
    return;
  }
  const ModelDim heads{.extent = layer.kv_heads}, context{.symbol = "context"};
  for (const auto& [name, size] :
       {std::pair(kKeyState, options.key_size),
        std::pair(kValueState, options.value_size)}) {
    add(name, {batch, heads, context, {.extent = size}}, state_type);
    if (state_type == DType::kI8)
      add(ScaleState(name), {batch, heads, context, {.extent = 1}},
          DType::kF32);
  }
}

// Returns the inputs of the model: first the tokens, then the inputs that hold
// state, and last the counts of several sequences.
// state_type: the element type of keys and values.
std::vector<ModelInput> InputsOf(const ModelOptions& options, const Call& call,
                                 DType state_type) {
  const bool has_sequences = call.sequences > 0;
  const ModelDim batch =
      has_sequences ? ModelDim{.extent = 1} : ModelDim{.symbol = "batch"};
  std::vector<ModelInput> inputs;
  inputs.push_back(
      {.name = std::string(kTokens),
       .dtype = DType::kI32,
       .dims = std::vector<ModelDim>{
           batch, {.symbol = has_sequences ? "tokens" : "sequence"}}});
  if (!options.architecture->is_causal) return inputs;
  const ModelDim count{.extent = std::max(1, call.sequences)};
  inputs.push_back(StateInput(std::string(kPast), {count}, DType::kI64));
  for (size_t i = 0; i < options.layers.size(); ++i) {
    for (const std::string& suffix : SuffixesOf(call))
      AddStateInputs(options, i, state_type, batch, suffix, inputs);
  }
  if (has_sequences) {
    inputs.push_back({.name = std::string(kCounts),
                      .dtype = DType::kI64,
                      .dims = std::vector<ModelDim>{count}});
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
  Status ReadInputs(const Call& call);
  Status ReadSequences(const Call& call, graph::Value* past,
                       graph::Value* counts);
  Tensor LastTokens(Tensor x);
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

// Reads the lengths of the sequences. counts: null if all tokens are those of
// one sequence.
Status Builder::ReadSequences(const Call& call, graph::Value* past,
                              graph::Value* counts) {
  const std::vector<Dim> before = builder_.Extents(past);
  const std::vector<Dim> fresh = counts == nullptr
                                     ? std::vector<Dim>{tokens_.dim(1)}
                                     : builder_.Extents(counts);
  if (!builder_.status().ok()) return builder_.status();
  const std::vector<std::string> suffixes = SuffixesOf(call);
  Dim begin(0);
  for (size_t i = 0; i < suffixes.size(); ++i) {
    context_.sequences.push_back({begin, fresh[i], before[i], suffixes[i]});
    begin = begin + fresh[i];
  }
  if (counts != nullptr) tokens_ = ops::WithDim(tokens_, 1, begin);
  return builder_.status();
}

Status Builder::ReadInputs(const Call& call) {
  const std::vector<ModelInput> inputs =
      InputsOf(options_, call, import_.state_type.value_or(DType::kF32));
  EMBER_ASSIGN_OR_RETURN(const std::vector<graph::Value*> values,
                         frontends::AddInputs(inputs, import_, builder_));
  tokens_ = Wrap(values[0]);
  if (!options_.architecture->is_causal) {
    context_.sequences = {{Dim(0), tokens_.dim(1), Dim(0)}};
  } else {
    EMBER_RETURN_IF_ERROR(ReadSequences(
        call, values[1], call.sequences > 0 ? values.back() : nullptr));
  }
  context_.batch = tokens_.dim(0);
  context_.tokens = tokens_.dim(1);
  if (!options_.architecture->is_causal) return builder_.status();
  const size_t end = values.size() - (call.sequences > 0 ? 1 : 0);
  for (size_t i = 2; i < end; ++i) {
    const Tensor state = Wrap(values[i]);
    context_.old_states.emplace(inputs[i].name, state);
    if (state.rank() == 4) context_.context = state.dim(2);
  }
  if (context_.context == Dim(0)) return builder_.status();
  for (const Sequence& sequence : context_.sequences) {
    const Tensor fits =
        ops::LessEqual(ops::DimScalar(builder_, sequence.end()),
                       ops::DimScalar(builder_, context_.context));
    builder_.Require(
        fits.value(),
        "context is full: expected past + sequence to be at most the positions "
        "of the state; give a longer state, or fewer tokens");
  }
  return builder_.status();
}

// Returns the last new token of each sequence in x[batch, tokens, …]; any token
// for a sequence without new ones.
Tensor Builder::LastTokens(Tensor x) {
  std::vector<Tensor> last;
  for (const Sequence& sequence : context_.sequences) {
    const Dim end = sequence.begin + sequence.count;
    const Dim index = context_.sequences.size() == 1
                          ? end - Dim(1)
                          : Maximum(end, Dim(1)) - Dim(1);
    last.push_back(SliceAxis(x, 1, index, Dim(1)));
  }
  return JoinTokens(last);
}

Tensor Builder::Embed() {
  const int64_t width = options_.width;
  embedding_ = tensors_.Required("token_embd.weight", {kAnyExtent, width});
  Tensor x = GatherRows(embedding_, tokens_);
  if (options_.architecture->scales_embedding)
    x = x * std::sqrt(static_cast<double>(width));
  if (const Weight types =
          tensors_.Optional("token_types.weight", {kAnyExtent, width})) {
    // Encoders such as BERT add an embedding of the token's type. All tokens
    // are taken to be of type 0.
    x = x + ops::Reshape(SliceAxis(types.Values(), 0, Dim(0), Dim(1)),
                         {Dim(width)});
  }
  if (options_.positions == Positions::kLearned) {
    const Weight rows =
        tensors_.Required("position_embd.weight", {kAnyExtent, width});
    x = x + GatherRows(rows, context_.TokenPositions());
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

// Returns a layer's output: adds the residuals and the feed-forward layer to
// the result of its attention (`mixed`). `normalized` is the layer's input x
// after its first norm.
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
  // Falcon 40B has a second norm of the layer's input, which is used for the
  // attention only.
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
  // Marks the output layer's tensors as used: an entry that stops before the
  // logits does not read them, but they are no unknown tensors.
  tensors_.Has("output.weight");
  tensors_.Has("output.bias");
  Tensor x = x_;
  if (entry == Entry::kLast) x = LastTokens(x);
  // The norm before the output layer is "output_norm", except in files of LFM2.
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
  Shape ends;
  for (const Sequence& sequence : context_.sequences)
    ends.push_back(sequence.end());
  builder_.Output(std::string(kPast), builder_.ShapeValue(ends), type);
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
      x = ops::Squeeze(LastTokens(x), {1});
      break;
  }
  builder_.Output("embedding", x.value());
}

StatusOr<graph::Graph> Builder::Build() {
  EMBER_RETURN_IF_ERROR(CheckOptions(options_));
  EMBER_ASSIGN_OR_RETURN(const Call call, ReadEntry(options_, import_));
  EMBER_RETURN_IF_ERROR(ReadInputs(call));
  x_ = Embed();
  EMBER_RETURN_IF_ERROR(builder_.status());
  EMBER_RETURN_IF_ERROR(BuildLayers());
  if (options_.architecture->is_causal) {
    Finish(call.entry);
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
  for (const ModelInput& input : InputsOf(options, {}, DType::kF32))
    infos.push_back({.name = input.name});
  return infos;
}

}  // namespace ember::language_models

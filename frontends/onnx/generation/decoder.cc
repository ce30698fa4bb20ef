#include "frontends/onnx/generation/decoder.h"

#include <string>
#include <utility>

#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

using graph::Region;

std::string NameOf(const ValueInfoProto& value) {
  return "'" + value.name() + "'";
}

// Casts a value that the subgraph takes as input (such as token ids) to the
// integer type that the subgraph declares.
Tensor AsDeclared(const ValueInfoProto& declared, Tensor value) {
  const int32_t type = declared.type().tensor_type().elem_type();
  const StatusOr<DType> dtype = DTypeFromOnnx(type);
  return dtype.ok() && type != TensorProto::UNDEFINED ? Cast(value, *dtype)
                                                      : value;
}

// Returns the past with `length` as the extent of dim `axis`. Each value that a
// loop carries has a symbol of its own for that extent, although all of them
// equal `length`.
Tensor WithLength(Tensor past, int axis, const Dim& length) {
  if (past.dim(axis) == length || past.dim(axis).is_constant()) return past;
  Shape shape = past.shape();
  shape[static_cast<size_t>(axis)] = length;
  return Reshape(past, shape);
}

// A GPT decoder. The subgraph's inputs are input_ids, position_ids,
// attention_mask, past_0 …; its outputs are logits, present_0 ….
class GptDecoder final : public Decoder {
 public:
  GptDecoder(NodeContext& c, const SubgraphImporter& run, Tensor attention_mask)
      : Decoder(c, run), mask_(attention_mask), graph_(c.Subgraph("decoder")) {
    if (c.HasAttribute("init_decoder"))
      init_graph_ = c.Subgraph("init_decoder");
    prompt_ = Cast(c.Input(0), DType::kI32);
    if (c.CheckRank(0, 2, 2) && c.ok()) CheckInputs();
  }

  int RowAxis(size_t index) const override { return index == 0 ? 0 : 1; }

  Tensor Start() override {
    if (!c_.ok()) return c_.Wrap(nullptr);
    const GraphProto& graph = init_graph_ != nullptr ? *init_graph_ : *graph_;
    const auto pad = static_cast<double>(c_.Integer("pad_token_id", -1));
    const Tensor counts = Cast(NotEqual(prompt_, pad), DType::kI32);
    const Tensor mask = mask_ ? Cast(mask_, DType::kI32) : counts;
    std::vector<Tensor> inputs = {prompt_, Positions(counts), mask};
    for (int i = kFirstPast; i < graph.input_size(); ++i)
      inputs.push_back(EmptyPast(graph.input(i), 1, 3, prompt_.dim(0)));
    std::vector<Tensor> outputs = RunDecoder(graph, std::move(inputs), nullptr);
    if (outputs.empty()) return c_.Wrap(nullptr);
    state_ = {mask};
    state_.insert(state_.end(), outputs.begin() + 1, outputs.end());
    fixed_ = {Reduce(counts, "sum", {1}, true)};
    return LastLogits(outputs[0]);
  }

  Tensor Step(const DecoderStep& step, std::vector<Tensor>& state) override {
    const Dim rows = step.tokens.dim(0);
    const Tensor position =
        Inside(step.region, fixed_[0]) + Cast(step.iteration, DType::kI32);
    const Dim length = state[0].dim(1);
    state[0] =
        Concat({state[0], Broadcast(state[0].Like(1), {rows, Dim(1)})}, 1);
    std::vector<Tensor> inputs = {Unsqueeze(step.tokens, {1}), position,
                                  state[0]};
    for (size_t i = 1; i < state.size(); ++i)
      inputs.push_back(WithLength(state[i], 3, length));
    const std::vector<Tensor> outputs =
        RunDecoder(*graph_, std::move(inputs), &step.region);
    if (outputs.empty()) return Tensor(&step.region.builder(), nullptr);
    std::copy(outputs.begin() + 1, outputs.end(), state.begin() + 1);
    return LastLogits(outputs[0]);
  }

 private:
  static constexpr int kFirstPast = 3;

  void CheckInputs() {
    for (const GraphProto* graph : {graph_, init_graph_}) {
      if (graph == nullptr) continue;
      if (graph->input_size() == graph->output_size() + 2 &&
          graph->output_size() >= 1) {
        continue;
      }
      const int last = graph->input_size() - 1;
      return c_.FailUnsupported(
          "decoder: expected input_ids, position_ids, attention_mask and a "
          "past "
          "per present, found " +
          std::to_string(graph->input_size()) + " inputs (the last " +
          (last < 0 ? "none" : NameOf(graph->input(last))) + ") for " +
          std::to_string(graph->output_size()) +
          " outputs: export without past_present_share_buffer");
    }
  }

  std::vector<Tensor> RunDecoder(const GraphProto& graph,
                                 std::vector<Tensor> inputs, Region* region) {
    for (int i = 0; i < kFirstPast; ++i) {
      Tensor& input = inputs[static_cast<size_t>(i)];
      input = AsDeclared(graph.input(i), input);
    }
    return Run(graph, inputs, region, {inputs.size() - 2, 1, 5});
  }

  // Returns the position of each token: the number of real tokens before it; 0
  // for padding.
  Tensor Positions(Tensor counts) {
    const Dim length = counts.dim(1);
    const Tensor i = IotaVector(c_.builder(), length, DType::kI64);
    const Tensor before = Less(AlongAxis(i, 1, 2), AlongAxis(i, 0, 2));
    const Tensor counted =
        Select(Unsqueeze(before, {0}), Unsqueeze(counts, {1}), counts.Like(0));
    return Reduce(counted, "sum", {2}, false) * counts;
  }

  Tensor mask_;
  const GraphProto* graph_ = nullptr;
  const GraphProto* init_graph_ = nullptr;
};

// An encoder with a decoder. The signatures below have the form inputs →
// outputs. The encoder runs once: encoder_input_ids, encoder_attention_mask[,
// decoder_input_ids] → [logits, encoder_hidden_states, self attention's keys
// and values …,] cross attention's keys and values …. The decoder: input_ids,
// [encoder_input_ids,] encoder_attention_mask, [encoder_hidden_states,] self
// attention's past …, cross attention's … → logits, self attention's present ….
class EncoderDecoder final : public Decoder {
 public:
  EncoderDecoder(NodeContext& c, const SubgraphImporter& run,
                 Tensor attention_mask)
      : Decoder(c, run),
        mask_(attention_mask),
        encoder_(c.Subgraph("encoder")),
        graph_(c.Subgraph("decoder")) {
    if (!c.CheckRank(0, 2, 2) || !c.ok()) return;
    const int64_t start = c.Integer("decoder_start_token_id", -1);
    if (start < 0) {
      c.FailUnsupported(
          "attribute 'decoder_start_token_id': expected a token, found " +
          std::to_string(start));
      return;
    }
    prompt_ = Broadcast(c.Scalar(static_cast<double>(start), DType::kI32),
                        {c.Input(0).dim(0), Dim(1)});
    CheckInputs();
  }

  int RowAxis(size_t) const override { return 0; }

  Tensor Start() override {
    if (!c_.ok()) return c_.Wrap(nullptr);
    const Tensor ids = Cast(c_.Input(0), DType::kI32);
    const Tensor mask = mask_ ? Cast(mask_, DType::kI32) : LeadingMask(ids);
    const bool with_decoder = encoder_->input_size() == 3;
    std::vector<Tensor> inputs = {ids, mask};
    if (with_decoder) inputs.push_back(prompt_);
    for (size_t i = 0; i < inputs.size(); ++i)
      inputs[i] = AsDeclared(encoder_->input(static_cast<int>(i)), inputs[i]);
    const size_t layers = CrossCount();
    const size_t first_past = with_decoder ? 2 : 0;
    const size_t least = with_decoder ? 2 + 2 * layers : layers;
    const std::vector<Tensor> outputs =
        Run(*encoder_, inputs, nullptr, {least, first_past, 4});
    if (outputs.empty()) return c_.Wrap(nullptr);
    const auto cross = outputs.end() - static_cast<std::ptrdiff_t>(layers);
    fixed_ = {ids, mask};
    if (with_decoder) {
      fixed_.push_back(outputs[1]);
      state_.assign(outputs.begin() + 2, cross);
    } else {
      fixed_.push_back(Tensor());
    }
    fixed_.insert(fixed_.end(), cross, outputs.end());
    if (with_decoder) return LastLogits(outputs[0]);
    for (size_t i = 0; i < layers; ++i) {
      const ValueInfoProto& declared =
          graph_->input(first_past_ + static_cast<int>(i));
      state_.push_back(EmptyPast(declared, 0, 2, prompt_.dim(0)));
    }
    return RunDecoder(fixed_, prompt_, nullptr, state_);
  }

  Tensor Step(const DecoderStep& step, std::vector<Tensor>& state) override {
    std::vector<Tensor> fixed;
    for (const Tensor& value : fixed_)
      fixed.push_back(Inside(step.region, value));
    const Dim length = state[0].dim(2);
    for (Tensor& past : state) past = WithLength(past, 2, length);
    const Tensor ids =
        WholeSequence() ? TokensSoFar(step) : Unsqueeze(step.tokens, {1});
    return RunDecoder(fixed, ids, &step.region, state);
  }

 private:
  void CheckInputs() {
    int count = graph_->input_size();
    for (first_past_ = 0; first_past_ < count; ++first_past_) {
      const std::string& name = graph_->input(first_past_).name();
      if (name != "input_ids" && !name.starts_with("encoder_")) break;
    }
    const int pasts = count - first_past_;
    const bool fits = first_past_ > 0 && graph_->output_size() > 1 &&
                      pasts == 2 * (graph_->output_size() - 1);
    if (!fits) {
      return c_.FailUnsupported(
          "decoder: expected a past of self attention and one of cross "
          "attention per present, found " +
          std::to_string(pasts) + " for " +
          std::to_string(graph_->output_size() - 1) +
          ": export without past_present_share_buffer");
    }
    const int expected =
        pasts / 2 + (encoder_->input_size() == 3 ? 2 + pasts / 2 : 0);
    if (encoder_->input_size() < 2 || encoder_->input_size() > 3 ||
        encoder_->output_size() != expected) {
      c_.FailUnsupported(
          "encoder: expected encoder_input_ids and encoder_attention_mask, and "
          "decoder_input_ids if it gives logits; found " +
          std::to_string(encoder_->input_size()) + " inputs and " +
          std::to_string(encoder_->output_size()) + " outputs");
    }
  }

  size_t CrossCount() const {
    return static_cast<size_t>(graph_->output_size() - 1);
  }

  // True if each step passes all tokens so far to the decoder, false if it
  // passes only the last one.
  bool WholeSequence() const {
    for (const ValueInfoProto& input : graph_->input()) {
      const auto& shape = input.type().tensor_type().shape();
      if (input.name() == "input_ids" && shape.dim_size() == 2)
        return shape.dim(1).dim_value() != 1;
    }
    return false;
  }

  // Returns all tokens so far, which are the decoder's input for the next
  // token. Their number is computed from the iteration and not from the length
  // of the past, because such a decoder need not have a past that grows.
  Tensor TokensSoFar(const DecoderStep& step) const {
    const Tensor count = step.iteration + DimScalar(step.region.builder(),
                                                    prompt_.dim(1) + Dim(1));
    const Shape known =
        step.region.builder().Extents(Reshape(count, {Dim(1)}).value());
    if (known.empty()) return step.sequences;
    return SliceAxis(step.sequences, 1, Dim(0), known.front());
  }

  // Returns the attention mask of a prompt: 0 for the padding before the first
  // token of each row, else 1.
  Tensor LeadingMask(Tensor ids) {
    const auto pad = static_cast<double>(c_.Integer("pad_token_id", -1));
    const Tensor i = IotaVector(c_.builder(), ids.dim(1), DType::kI64);
    const Tensor before = LessEqual(AlongAxis(i, 1, 2), AlongAxis(i, 0, 2));
    const Tensor token =
        And(Unsqueeze(before, {0}), Unsqueeze(NotEqual(ids, pad), {1}));
    return Cast(Reduce(token, "maximum", {2}, false), DType::kI32);
  }

  // Runs the decoder for the tokens `ids`. `fixed`: the operands that do not
  // change: encoder ids, mask, hidden states, and the pasts of the cross
  // attention.
  Tensor RunDecoder(const std::vector<Tensor>& fixed, Tensor ids,
                    Region* region, std::vector<Tensor>& state) {
    graph::GraphBuilder& builder =
        region != nullptr ? region->builder() : c_.builder();
    std::vector<Tensor> inputs;
    for (int i = 0; i < first_past_; ++i) {
      const ValueInfoProto& declared = graph_->input(i);
      const std::string& name = declared.name();
      Tensor value;
      if (name == "input_ids") value = ids;
      if (name == "encoder_input_ids") value = fixed[0];
      if (name == "encoder_attention_mask") value = fixed[1];
      if (name == "encoder_hidden_states") value = fixed[2];
      if (!value) {
        builder.Fail(UnimplementedError(
            "node '" + c_.origin() + "': decoder: input " + NameOf(declared) +
            " is none that the encoder gives"));
        return {&builder, nullptr};
      }
      inputs.push_back(AsDeclared(declared, value));
    }
    inputs.insert(inputs.end(), state.begin(), state.end());
    inputs.insert(inputs.end(), fixed.begin() + 3, fixed.end());
    const std::vector<Tensor> outputs =
        Run(*graph_, inputs, region, {1 + state.size(), 1, 4});
    if (outputs.empty()) return {&builder, nullptr};
    state.assign(outputs.begin() + 1, outputs.end());
    return LastLogits(outputs[0]);
  }

  Tensor mask_;
  const GraphProto* encoder_ = nullptr;
  const GraphProto* graph_ = nullptr;
  int first_past_ = 0;
};

}  // namespace

Tensor Inside(Region& region, Tensor outer) {
  if (!outer) return outer;
  return {&region.builder(), region.Capture(outer.value())};
}

void Decoder::ExpandRows(const Dim& beams) {
  for (size_t i = 0; i < state_.size(); ++i)
    state_[i] = RepeatEach(state_[i], RowAxis(i), beams);
  for (Tensor& value : fixed_) {
    if (value) value = RepeatEach(value, 0, beams);
  }
}

std::vector<Tensor> Decoder::Run(const GraphProto& graph,
                                 const std::vector<Tensor>& inputs,
                                 Region* region, const Expected& expected) {
  graph::GraphBuilder& builder =
      region != nullptr ? region->builder() : c_.builder();
  if (!builder.status().ok()) return {};
  const std::string where =
      "node '" + c_.origin() + "': subgraph '" + graph.name() + "': ";
  StatusOr<std::vector<Tensor>> outputs = run_(graph, inputs, region);
  if (outputs.ok() && builder.status().ok() &&
      outputs->size() < expected.least) {
    outputs = InvalidArgumentError(
        where + "expected " + std::to_string(expected.least) +
        " outputs, found " + std::to_string(outputs->size()));
  }
  for (size_t i = 0; outputs.ok() && i < outputs->size(); ++i) {
    if (!builder.status().ok()) break;
    // Outputs that are no pasts are logits and hidden states. They must have
    // rank 3: a vector for each token of each row.
    const bool is_past = i >= expected.first_past;
    const int rank = is_past ? expected.past_rank : 3;
    const Tensor& output = (*outputs)[i];
    if (output && output.sequence() == nullptr && output.rank() == rank)
      continue;
    outputs = InvalidArgumentError(where + "output " + std::to_string(i) +
                                   ": expected a tensor of rank " +
                                   std::to_string(rank));
  }
  if (!outputs.ok()) builder.Fail(outputs.status());
  if (!builder.status().ok()) return {};
  return *std::move(outputs);
}

Tensor Decoder::LastLogits(Tensor logits) {
  graph::GraphBuilder& builder = logits.builder();
  if (!builder.status().ok()) return logits;
  Tensor last =
      Squeeze(SliceAxis(logits, 1, logits.dim(1) - Dim(1), Dim(1)), {1});
  const int64_t vocabulary = c_.Integer("vocab_size", -1);
  if (vocabulary > 0 && last.dim(1) != Dim(vocabulary))
    last = SliceAxis(last, 1, Dim(0), Dim(vocabulary));
  return Cast(last, DType::kF32);
}

Tensor Decoder::EmptyPast(const ValueInfoProto& declared, int row_axis,
                          int length_axis, const Dim& rows) {
  const auto& type = declared.type().tensor_type();
  const StatusOr<DType> dtype = DTypeFromOnnx(type.elem_type());
  Shape shape;
  for (int i = 0; i < type.shape().dim_size(); ++i) {
    const int64_t extent = type.shape().dim(i).dim_value();
    const bool open = i == row_axis || i == length_axis;
    if (!open && extent <= 0) {
      shape.clear();
      break;
    }
    shape.push_back(i == row_axis ? rows : open ? Dim(0) : Dim(extent));
  }
  if (!dtype.ok() || static_cast<int>(shape.size()) <= length_axis) {
    c_.FailUnsupported("decoder: input " + NameOf(declared) +
                       ": expected a declared type with the numbers of heads "
                       "and of elements per head");
    return c_.Wrap(nullptr);
  }
  return Broadcast(c_.Scalar(0, *dtype), shape);
}

std::unique_ptr<Decoder> MakeGptDecoder(NodeContext& c,
                                        const SubgraphImporter& run,
                                        Tensor attention_mask) {
  return std::make_unique<GptDecoder>(c, run, attention_mask);
}

std::unique_ptr<Decoder> MakeEncoderDecoder(NodeContext& c,
                                            const SubgraphImporter& run,
                                            Tensor attention_mask) {
  return std::make_unique<EncoderDecoder>(c, run, attention_mask);
}

}  // namespace ember::onnx

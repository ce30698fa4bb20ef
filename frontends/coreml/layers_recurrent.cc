// Imports recurrent layers of networks, whose sequences are [steps, batch,
// channels, 1, 1]. Input 0 is the sequence; further inputs are the initial
// states, which are 0 if they are missing. Output 0 is the result; further
// outputs are the final states.
#include <initializer_list>
#include <string>
#include <vector>

#include "frontends/coreml/layer_table.h"
#include "frontends/coreml/recurrent.h"

namespace ember::coreml {
namespace {

using ops::States;

// Largest magnitude of a gate's sum before its activation, as the specification
// says. Cells are limited to it, too, unless the layer gives another limit for
// them.
constexpr double kLimit = 50;
constexpr int64_t kMaxSize = 1 << 24;

struct Sizes {
  int64_t input = 0, output = 0;
};

std::optional<Sizes> ReadSizes(LayerContext& c) {
  const Sizes sizes{c.parameters().Integer(1), c.parameters().Integer(2)};
  if (!c.CheckRank(0, 5, 5) ||
      !c.CheckRange("inputVectorSize", sizes.input, 1, kMaxSize) ||
      !c.CheckRange("outputVectorSize", sizes.output, 1, kMaxSize))
    return std::nullopt;
  return sizes;
}

// Stacks the weight matrices in several fields one below the other.
Tensor Below(LayerContext& c, const ProtobufView& message,
             std::initializer_list<uint64_t> fields,
             const std::vector<int64_t>& dims) {
  std::vector<Tensor> parts;
  for (const uint64_t field : fields)
    parts.push_back(c.Weights(message, field, dims));
  return parts.size() == 1 ? parts[0] : Concat(parts, 0);
}

// Reads an activation. Parameters that are left out get the only values that
// the specification allows.
Activation ReadActivation(LayerContext& c, const ProtobufView& message) {
  const std::vector<uint64_t> kinds = message.Numbers();
  Activation activation;
  if (!kinds.empty()) activation.kind = kinds.back();
  const ProtobufView numbers = message.Message(activation.kind);
  activation.alpha = numbers.Float(1);
  activation.beta = numbers.Float(2);
  if (activation.alpha == 0 && activation.beta == 0) {
    if (activation.kind == kLinear) activation.alpha = 1;
    if (activation.kind == kScaledTanh)
      activation = {kScaledTanh, 1.7159, 2. / 3};
    if (activation.kind == kHardSigmoid) activation = {kHardSigmoid, 0.2, 0.5};
  }
  switch (activation.kind) {
    case kLinear:
    case kRelu:
    case kTanh:
    case kScaledTanh:
    case kSigmoid:
    case kHardSigmoid:
      break;
    default:
      c.FailUnsupported("activation " + std::to_string(activation.kind) +
                        " of a recurrent layer is not known");
  }
  return activation;
}

// Reads the activations of a layer. Returns false after an error.
bool ReadActivations(LayerContext& c, const std::vector<ProtobufView>& messages,
                     size_t count, RecurrentCell& cell) {
  if (messages.size() != count) {
    c.FailInvalid("expected " + std::to_string(count) + " activations, found " +
                  std::to_string(messages.size()));
  }
  for (const ProtobufView& message : messages)
    cell.activations.push_back(ReadActivation(c, message));
  return c.ok();
}

// Returns input 0 as [steps, batch, inputs].
Tensor Sequence(LayerContext& c, const Sizes& sizes) {
  const Tensor x = c.Input(0);
  return Reshape(x, {x.dim(0), x.dim(1), Dim(sizes.input)});
}

States InitialStates(LayerContext& c, const Sizes& sizes, int count) {
  const Dim batch = c.Input(0).dim(1);
  States states;
  for (int i = 0; i < count; ++i) {
    const Tensor given = c.Input(i + 1);
    const Shape shape = {batch, Dim(sizes.output)};
    states.push_back(given ? Reshape(given, shape)
                           : Broadcast(c.Scalar(0), shape));
  }
  return states;
}

void SetResults(LayerContext& c, const RecurrentResults& results) {
  if (!results.output) return;
  c.SetOutput(0, Unsqueeze(results.output, {3, 4}));
  for (size_t i = 0; i < results.last.size(); ++i)
    c.SetOutput(static_cast<int>(i) + 1, Unsqueeze(results.last[i], {0, 3, 4}));
}

void RunOneWay(LayerContext& c, const Sizes& sizes, const RecurrentCell& cell,
               bool keeps_sequence) {
  const Tensor x = Sequence(c, sizes);
  const States initial = InitialStates(c, sizes, cell.states());
  if (!c.ok()) return;
  SetResults(c, RunRecurrent(cell, x, initial, c.parameters().Flag(100),
                             keeps_sequence));
}

RecurrentCell ReadLstm(LayerContext& c, const ProtobufView& weights,
                       const Sizes& sizes) {
  const ProtobufView options = c.parameters().Message(15);
  RecurrentCell cell;
  cell.kind = RecurrentCell::kLstm;
  cell.gate_limit = kLimit;
  const double limit = options.Float(60);
  cell.cell_limit = limit == 0 ? kLimit : limit;
  cell.is_coupled = options.Flag(50);
  const int64_t h = sizes.output;
  cell.input = Below(c, weights, {1, 2, 4, 3}, {h, sizes.input});
  cell.hidden = Below(c, weights, {20, 21, 23, 22}, {h, h});
  if (options.Flag(20)) cell.bias = Below(c, weights, {40, 41, 43, 42}, {h});
  if (options.Flag(30)) {
    const auto filled = [&](double value, int64_t count) {
      return Broadcast(c.Scalar(value), {Dim(count)});
    };
    const Tensor ones =
        Concat({filled(0, h), filled(1, h), filled(0, 2 * h)}, 0);
    cell.bias = cell.bias ? cell.bias + ones : ones;
  }
  if (options.Flag(40)) cell.peephole = Below(c, weights, {60, 61, 62}, {h});
  return cell;
}

}  // namespace

void ImportSimpleRecurrent(LayerContext& c) {
  const std::optional<Sizes> sizes = ReadSizes(c);
  if (!sizes) return;
  const ProtobufView& p = c.parameters();
  const int64_t h = sizes->output;
  RecurrentCell cell;
  cell.gate_limit = kLimit;
  cell.input = Below(c, p, {30}, {h, sizes->input});
  cell.hidden = Below(c, p, {31}, {h, h});
  if (p.Flag(20)) cell.bias = Below(c, p, {32}, {h});
  if (ReadActivations(c, p.Messages(10), 1, cell))
    RunOneWay(c, *sizes, cell, p.Flag(15));
}

void ImportGru(LayerContext& c) {
  const std::optional<Sizes> sizes = ReadSizes(c);
  if (!sizes) return;
  const ProtobufView& p = c.parameters();
  const int64_t h = sizes->output;
  RecurrentCell cell;
  cell.kind = RecurrentCell::kGru;
  cell.gate_limit = kLimit;
  cell.input = Below(c, p, {31, 32, 30}, {h, sizes->input});
  cell.hidden = Below(c, p, {51, 52, 50}, {h, h});
  if (p.Flag(20)) cell.bias = Below(c, p, {71, 72, 70}, {h});
  if (ReadActivations(c, p.Messages(10), 2, cell))
    RunOneWay(c, *sizes, cell, p.Flag(15));
}

void ImportUniDirectionalLstm(LayerContext& c) {
  const std::optional<Sizes> sizes = ReadSizes(c);
  if (!sizes) return;
  const ProtobufView& p = c.parameters();
  RecurrentCell cell = ReadLstm(c, p.Message(20), *sizes);
  if (ReadActivations(c, p.Messages(10), 3, cell))
    RunOneWay(c, *sizes, cell, p.Message(15).Flag(10));
}

void ImportBiDirectionalLstm(LayerContext& c) {
  const std::optional<Sizes> sizes = ReadSizes(c);
  if (!sizes) return;
  const ProtobufView& p = c.parameters();
  const std::vector<ProtobufView> weights = p.Messages(20);
  if (weights.size() != 2)
    return c.FailInvalid("weightParams: expected two, found " +
                         std::to_string(weights.size()));
  RecurrentCell forward = ReadLstm(c, weights[0], *sizes);
  RecurrentCell backward = ReadLstm(c, weights[1], *sizes);
  if (!ReadActivations(c, p.Messages(10), 3, forward) ||
      !ReadActivations(c, p.Messages(11), 3, backward))
    return;
  const Tensor x = Sequence(c, *sizes);
  const States initial = InitialStates(c, *sizes, 4);
  if (!c.ok()) return;
  SetResults(
      c, RunBothWays(forward, backward, x, initial, p.Message(15).Flag(10)));
}

}  // namespace ember::coreml

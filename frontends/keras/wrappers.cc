// Imports layers that wrap other layers, such as Bidirectional and
// TimeDistributed.
#include <string>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "frontends/keras/layer_table.h"

namespace ember::keras {
namespace {

// Returns the results of a wrapped layer; empty after an error.
std::vector<Signal> CallInner(LayerContext& c, const InnerLayer& inner,
                              const std::vector<Signal>& inputs) {
  if (c.depth() >= kMaxNesting) {
    c.FailInvalid("layers within layers: expected at most " +
                  std::to_string(kMaxNesting));
    return {};
  }
  const std::string origin = c.builder().origin();
  std::vector<Signal> results = c.host().CallLayer(
      *inner.layer, c.path() + inner.attribute + "/", inputs, c.depth() + 1);
  c.builder().SetOrigin(origin);
  if (c.ok() && results.empty()) c.FailInvalid("its layer has no result");
  return c.ok() ? results : std::vector<Signal>();
}

std::vector<InnerLayer> InnerOf(LayerContext& c) {
  const LayerRow* row = FindRow(c.layer());
  StatusOr<std::vector<InnerLayer>> inner = row->inner(c.config());
  if (inner.ok()) return *std::move(inner);
  c.FailInvalid(std::string(inner.status().message()));
  return {};
}

}  // namespace

void ImportWrapped(LayerContext& c) {
  const std::vector<InnerLayer> inner = InnerOf(c);
  if (!c.ok()) return;
  const std::vector<Signal> results = CallInner(c, inner[0], c.inputs);
  for (size_t i = 0; i < results.size(); ++i)
    c.SetOutput(static_cast<int>(i), results[i].value);
}

// Imports TimeDistributed. The steps become elements of a larger batch.
void ImportTimeDistributed(LayerContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const std::vector<InnerLayer> inner = InnerOf(c);
  if (!c.ok()) return;
  const Dim batch = c.Input(0).dim(0), steps = c.Input(0).dim(1);
  std::vector<Signal> merged;
  for (const Signal& input : c.inputs) {
    if (!input.value.HasDim(1)) return;
    Shape shape(input.value.shape().begin() + 2, input.value.shape().end());
    shape.insert(shape.begin(), batch * steps);
    merged.push_back({Reshape(input.value, shape), Tensor()});
  }
  const std::vector<Signal> results = CallInner(c, inner[0], merged);
  for (size_t i = 0; i < results.size() && c.ok(); ++i) {
    Shape shape(results[i].value.shape());
    if (shape.empty())
      return c.FailInvalid("its layer gives a result without a batch");
    shape.erase(shape.begin());
    shape.insert(shape.begin(), {batch, steps});
    c.SetOutput(static_cast<int>(i), Reshape(results[i].value, shape));
  }
}

void ImportBidirectional(LayerContext& c) {
  std::vector<InnerLayer> inner = InnerOf(c);
  if (!c.ok() || inner.size() != 2) return;
  const Config& forward = inner[0].layer->config;
  const bool sequences = forward.Flag("return_sequences", false);
  const bool return_state = forward.Flag("return_state", false);
  // Without the entry "backward_layer" the backward layer is a copy of the
  // forward one (`made`), to which the sequence is passed reversed. A given
  // backward layer has the direction in its own configuration.
  const bool made = !c.config().Has("backward_layer");
  // The first half of the initial states belongs to the forward layer, the
  // second half to the backward layer.
  std::vector<Signal> states(c.inputs.begin() + (c.inputs.empty() ? 0 : 1),
                             c.inputs.end());
  if (const Given* named = c.Named("initial_state")) states = named->signals;
  if (!c.CheckRank(0, 3)) return;
  const size_t half = states.size() / 2;
  std::vector<Signal> first{c.inputs[0]}, second{c.inputs[0]};
  first.insert(first.end(), states.begin(),
               states.begin() + static_cast<std::ptrdiff_t>(half));
  second.insert(second.end(),
                states.begin() + static_cast<std::ptrdiff_t>(half),
                states.end());
  // The configuration of a copy does not state the backward direction, so the
  // copy's input sequence is reversed instead.
  if (made) {
    second[0].value = Reverse(second[0].value, 1);
    if (second[0].mask) second[0].mask = Reverse(second[0].mask, 1);
  }
  inner[1].layer->name += "_backward";
  const std::vector<Signal> ahead = CallInner(c, inner[0], first);
  const std::vector<Signal> back = CallInner(c, inner[1], second);
  if (!c.ok() || ahead.empty() || back.empty()) return;
  const Tensor a = ahead[0].value;
  Tensor b = back[0].value;
  // Reverses the outputs of the backward layer, so that the steps of both
  // layers have the same order.
  if (sequences) b = Reverse(b, 1);
  const std::string mode =
      c.config().Has("merge_mode") ? c.config().Text("merge_mode") : "none";
  int next = 1;
  if (mode == "concat") {
    c.SetOutput(Concat({a, b}, a.rank() - 1));
  } else if (mode == "sum") {
    c.SetOutput(a + b);
  } else if (mode == "mul") {
    c.SetOutput(a * b);
  } else if (mode == "ave") {
    c.SetOutput((a + b) / 2.0);
  } else if (mode == "none") {
    c.SetOutput(0, a);
    c.SetOutput(1, b);
    next = 2;
  } else {
    return c.FailInvalid(
        "merge_mode: expected concat, sum, mul, ave or none, "
        "found '" +
        OnOneLine(mode) + "'");
  }
  if (return_state) {
    for (const std::vector<Signal>* side : {&ahead, &back}) {
      for (size_t s = 1; s < side->size(); ++s)
        c.SetOutput(next++, (*side)[s].value);
    }
  }
  if (sequences && c.Mask(0)) c.SetMask(0, c.Mask(0));
}

}  // namespace ember::keras

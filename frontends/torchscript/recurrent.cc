// Imports LSTM, GRU and plain recurrent layers, for one step and for sequences.
#include <utility>

#include "frontends/ops/recurrent_layers.h"
#include "frontends/torchscript/operator_table.h"

namespace ember::torchscript {
namespace {

using ops::CellKind;
using ops::CellWeights;

bool CheckWeights(Call& c, const CellWeights& weights) {
  return c.CheckRank("a weight", weights.input, 2, 2) &&
         c.CheckRank("a weight", weights.hidden, 2, 2);
}

// The arguments of torch.lstm, torch.gru and similar operators.
struct Layers {
  Tensor x;  // [steps, batch, in]
  // The initial states, [layers * directions, batch, H] each.
  std::vector<Tensor> initial;
  std::vector<Tensor> params;
  bool has_biases = false, is_bidirectional = false, is_batch_first = false;
  int64_t count = 0;
};

Value RunLayers(Call& c, CellKind kind, Layers layers) {
  const size_t directions = layers.is_bidirectional ? 2 : 1;
  const bool is_lstm = kind == CellKind::kLstm;
  // `plain`: number of weights and biases per layer and direction. An LSTM with
  // projections has one more.
  const size_t plain = layers.has_biases ? 4 : 2;
  const size_t cells =
      static_cast<size_t>(std::max<int64_t>(layers.count, 0)) * directions;
  if (layers.count < 1 || layers.count > 1000) {
    c.FailInvalid("num_layers: expected 1 to 1000, found " +
                  std::to_string(layers.count));
    return {};
  }
  const bool is_projected =
      is_lstm && layers.params.size() == cells * (plain + 1);
  const size_t each = plain + (is_projected ? 1 : 0);
  if (layers.params.size() != cells * each) {
    c.FailInvalid("expected " + std::to_string(cells * plain) +
                  " weights, found " + std::to_string(layers.params.size()));
    return {};
  }
  Tensor x = layers.x;
  const bool is_batched = x.rank() == 3;
  if (!c.CheckRank("input", x, 2, 3) ||
      !CheckNumbers(c, "input", x, "params", layers.params[0]))
    return {};
  if (!is_batched) x = ops::Unsqueeze(x, {1});
  for (Tensor& state : layers.initial) {
    if (!is_batched) state = ops::Unsqueeze(state, {1});
    if (!c.CheckRank("hx", state, 3, 3)) return {};
  }
  if (is_batched && layers.is_batch_first) x = ops::Transpose(x, {1, 0, 2});
  std::vector<CellWeights> weights(cells);
  for (size_t cell = 0; cell < cells; ++cell) {
    const Tensor* given = &layers.params[cell * each];
    weights[cell] = {given[0], given[1], {}, {}, {}};
    if (layers.has_biases) {
      weights[cell].input_bias = given[2];
      weights[cell].hidden_bias = given[3];
    }
    if (is_projected) weights[cell].projection = given[plain];
    if (!CheckWeights(c, weights[cell])) return {};
  }
  const ops::StackResults results = RunRecurrentLayers(
      kind, x, layers.initial, weights, static_cast<int>(directions));
  if (!c.ok() || !results.output) return {};
  x = results.output;
  if (is_batched && layers.is_batch_first) x = ops::Transpose(x, {1, 0, 2});
  if (!is_batched) x = ops::Squeeze(x, {1});
  std::vector<Value> values = {c.machine().NewTensor(x)};
  for (Tensor state : results.last) {
    if (!is_batched) state = ops::Squeeze(state, {1});
    values.push_back(c.machine().NewTensor(state));
  }
  return c.machine().NewTuple(std::move(values));
}

Layers ReadLayers(Call& c) {
  Layers layers;
  layers.x = c.tensor("input");
  layers.initial = c.tensors("hx");
  layers.params = c.tensors("params");
  layers.has_biases = c.flag("has_biases");
  layers.is_bidirectional = c.flag("bidirectional");
  layers.is_batch_first = c.flag("batch_first");
  layers.count = c.integer("num_layers");
  return layers;
}
Value Lstm(Call& c) {
  Layers layers = ReadLayers(c);
  if (!c.ok()) return {};
  if (layers.initial.size() != 2) {
    c.FailInvalid("hx: expected two tensors, found " +
                  std::to_string(layers.initial.size()));
    return {};
  }
  return RunLayers(c, CellKind::kLstm, std::move(layers));
}
template <CellKind kind>
Value Recurrent(Call& c) {
  Layers layers = ReadLayers(c);
  return c.ok() ? RunLayers(c, kind, std::move(layers)) : Value();
}

// Imports a recurrent cell: one step for a batch.
std::vector<Tensor> RunCell(Call& c, CellKind kind) {
  const Tensor x = c.tensor("input");
  const std::vector<Tensor> states = c.tensors("hx");
  const CellWeights weights{c.tensor("w_ih"),
                            c.tensor("w_hh"),
                            c.tensor("b_ih"),
                            c.tensor("b_hh"),
                            {}};
  const size_t count = kind == CellKind::kLstm ? 2 : 1;
  if (c.ok() && states.size() != count)
    c.FailInvalid("hx: expected " + std::to_string(count) + " tensors");
  if (!c.CheckRank("input", x, 2, 2) || !CheckWeights(c, weights) ||
      !CheckNumbers(c, "input", x, "w_ih", weights.input))
    return {};
  for (const Tensor& state : states)
    if (!c.CheckRank("hx", state, 2, 2)) return {};
  return ops::RunCell(kind, x, states, weights);
}
Value LstmCell(Call& c) {
  const std::vector<Tensor> states = RunCell(c, CellKind::kLstm);
  if (states.size() != 2) return {};
  return c.machine().NewTuple(
      {c.machine().NewTensor(states[0]), c.machine().NewTensor(states[1])});
}
template <CellKind kind>
Tensor Cell(Call& c) {
  const std::vector<Tensor> states = RunCell(c, kind);
  return states.empty() ? Tensor(&c.builder(), nullptr) : states[0];
}

#define EMBER_TORCH_LAYERS(hx)                                             \
  "(Tensor input, " hx                                                     \
  " hx, Tensor[] params, bool has_biases, int num_layers, float dropout, " \
  "bool train, bool bidirectional, bool batch_first)"
#define EMBER_TORCH_PACKED(hx)                                             \
  "(Tensor data, Tensor batch_sizes, " hx                                  \
  " hx, Tensor[] params, bool has_biases, int num_layers, float dropout, " \
  "bool train, bool bidirectional)"
#define EMBER_TORCH_CELL(hx) \
  "(Tensor input, " hx       \
  " hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)"

constexpr std::string_view kPacked =
    "sequences of several lengths (PackedSequence)";

constexpr OperatorRow kRows[] = {
    {"lstm" EMBER_TORCH_LAYERS("Tensor[]"), Lstm},
    {"gru" EMBER_TORCH_LAYERS("Tensor"), Recurrent<CellKind::kGru>},
    {"rnn_tanh" EMBER_TORCH_LAYERS("Tensor"), Recurrent<CellKind::kTanh>},
    {"rnn_relu" EMBER_TORCH_LAYERS("Tensor"), Recurrent<CellKind::kRelu>},
    {"lstm" EMBER_TORCH_PACKED("Tensor[]"), kPacked},
    {"gru" EMBER_TORCH_PACKED("Tensor"), kPacked},
    {"rnn_tanh" EMBER_TORCH_PACKED("Tensor"), kPacked},
    {"rnn_relu" EMBER_TORCH_PACKED("Tensor"), kPacked},
    {"lstm_cell" EMBER_TORCH_CELL("Tensor[]"), LstmCell},
    {"gru_cell" EMBER_TORCH_CELL("Tensor"), Cell<CellKind::kGru>},
    {"rnn_tanh_cell" EMBER_TORCH_CELL("Tensor"), Cell<CellKind::kTanh>},
    {"rnn_relu_cell" EMBER_TORCH_CELL("Tensor"), Cell<CellKind::kRelu>},
};

}  // namespace

std::span<const OperatorRow> RecurrentRows() { return kRows; }

}  // namespace ember::torchscript

// LSTM, GRU and plain recurrent layers, of one step and of sequences.
#include "frontends/ops/recurrent.h"

#include <utility>

#include "frontends/torchscript/operator_table.h"

namespace ember::torchscript {
namespace {

enum class Kind : uint8_t { kTanh, kRelu, kLstm, kGru };

int GatesOf(Kind kind) {
  if (kind == Kind::kLstm) return 4;
  return kind == Kind::kGru ? 3 : 1;
}

// Weights of one direction of one layer; biases may be absent.
struct Weights {
  Tensor input, hidden;            // [gates H, in], [gates H, H]
  Tensor input_bias, hidden_bias;  // [gates H]
  Tensor projection;               // [P, H], of an LSTM that has one
};

Tensor Transposed(const Tensor& matrix) {
  return ops::Transpose(matrix, {1, 0});
}

// Gate number `index` of [batch, gates H].
Tensor Gate(const Tensor& gates, int index, const Dim& size) {
  return ops::SliceAxis(gates, 1, Dim(index) * size, size);
}

// One step. from_input: x W_ih^T with its bias, [batch, gates H]; states: h,
// and c of an LSTM.
std::vector<Tensor> Step(Kind kind, const Tensor& from_input,
                         const std::vector<Tensor>& states,
                         const Tensor& hidden, const Tensor& hidden_bias,
                         const Tensor& projection) {
  Tensor from_hidden = ops::MatMul(states[0], Transposed(hidden));
  if (hidden_bias) from_hidden = from_hidden + hidden_bias;
  if (kind == Kind::kTanh) return {ops::Tanh(from_input + from_hidden)};
  if (kind == Kind::kRelu) return {ops::Relu(from_input + from_hidden)};
  const Dim size = FloorDivide(from_input.dim(1), Dim(GatesOf(kind)));
  if (kind == Kind::kGru) {
    const auto sum = [&](int i) {
      return ops::Sigmoid(Gate(from_input, i, size) +
                          Gate(from_hidden, i, size));
    };
    const Tensor reset = sum(0);
    const Tensor update = sum(1);
    const Tensor candidate = ops::Tanh(Gate(from_input, 2, size) +
                                       reset * Gate(from_hidden, 2, size));
    return {candidate + update * (states[0] - candidate)};
  }
  const Tensor gates = from_input + from_hidden;
  const Tensor input = ops::Sigmoid(Gate(gates, 0, size));
  const Tensor forget = ops::Sigmoid(Gate(gates, 1, size));
  const Tensor candidate = ops::Tanh(Gate(gates, 2, size));
  const Tensor output = ops::Sigmoid(Gate(gates, 3, size));
  const Tensor cell = forget * states[1] + input * candidate;
  Tensor next = output * ops::Tanh(cell);
  if (projection) next = ops::MatMul(next, Transposed(projection));
  return {next, cell};
}

Tensor FromInput(const Tensor& x, const Weights& weights) {
  const Tensor y = ops::MatMul(x, Transposed(weights.input));
  return weights.input_bias ? y + weights.input_bias : y;
}

bool CheckWeights(Call& c, const Weights& weights) {
  return c.CheckRank("a weight", weights.input, 2, 2) &&
         c.CheckRank("a weight", weights.hidden, 2, 2);
}

// [steps, batch, in] through one direction: the outputs of all steps, then the
// last states.
std::vector<Tensor> RunDirection(Kind kind, Tensor x, bool is_reverse,
                                 const std::vector<Tensor>& initial,
                                 const Weights& weights) {
  if (is_reverse) x = ops::Reverse(x, 0);
  // All steps' products with the input are one.
  const Tensor projected = FromInput(x, weights);
  const ops::States results = ops::RunSteps(
      projected, initial, true,
      [&](const ops::Capture& capture, Tensor, Tensor step,
          const ops::States& before) {
        const auto inside = [&](const Tensor& weight) {
          return weight ? capture(weight) : weight;
        };
        std::vector<Tensor> after =
            Step(kind, step, before, capture(weights.hidden),
                 inside(weights.hidden_bias), inside(weights.projection));
        after.push_back(after[0]);
        return after;
      });
  if (results.size() != initial.size() + 1) return {};
  std::vector<Tensor> all = {results.back()};
  if (is_reverse) all[0] = ops::Reverse(all[0], 0);
  all.insert(all.end(), results.begin(), results.end() - 1);
  return all;
}

// What torch.lstm and its like are given.
struct Layers {
  Tensor x;                     // [steps, batch, in]
  std::vector<Tensor> initial;  // [layers directions, batch, H]
  std::vector<Tensor> params;
  bool has_biases = false, is_bidirectional = false, is_batch_first = false;
  int64_t count = 0;
};

Value RunLayers(Call& c, Kind kind, Layers layers) {
  const size_t directions = layers.is_bidirectional ? 2 : 1;
  const bool is_lstm = kind == Kind::kLstm;
  // With projections an LSTM has one weight more.
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
  if (!c.CheckRank("input", x, 2, 3)) return {};
  if (!is_batched) x = ops::Unsqueeze(x, {1});
  for (Tensor& state : layers.initial) {
    if (!is_batched) state = ops::Unsqueeze(state, {1});
    if (!c.CheckRank("hx", state, 3, 3)) return {};
  }
  if (is_batched && layers.is_batch_first) x = ops::Transpose(x, {1, 0, 2});
  std::vector<std::vector<Tensor>> last(layers.initial.size());
  for (size_t layer = 0; layer < static_cast<size_t>(layers.count); ++layer) {
    std::vector<Tensor> outputs;
    for (size_t direction = 0; direction < directions; ++direction) {
      const size_t cell = layer * directions + direction;
      const Tensor* given = &layers.params[cell * each];
      Weights weights{given[0], given[1], {}, {}, {}};
      if (layers.has_biases) {
        weights.input_bias = given[2];
        weights.hidden_bias = given[3];
      }
      if (is_projected) weights.projection = given[plain];
      if (!CheckWeights(c, weights)) return {};
      std::vector<Tensor> initial;
      for (const Tensor& state : layers.initial) {
        initial.push_back(ops::Squeeze(
            ops::SliceAxis(state, 0, Dim(static_cast<int64_t>(cell)), Dim(1)),
            {0}));
      }
      const std::vector<Tensor> results =
          RunDirection(kind, x, direction == 1, initial, weights);
      if (!c.ok() || results.empty()) return {};
      outputs.push_back(results[0]);
      for (size_t i = 0; i < last.size(); ++i)
        last[i].push_back(ops::Unsqueeze(results[i + 1], {0}));
    }
    x = Concat(outputs, 2);
  }
  if (is_batched && layers.is_batch_first) x = ops::Transpose(x, {1, 0, 2});
  if (!is_batched) x = ops::Squeeze(x, {1});
  std::vector<Value> values = {c.machine().NewTensor(x)};
  for (const std::vector<Tensor>& states : last) {
    Tensor state = Concat(states, 0);
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
  return RunLayers(c, Kind::kLstm, std::move(layers));
}
template <Kind kind>
Value Recurrent(Call& c) {
  Layers layers = ReadLayers(c);
  return c.ok() ? RunLayers(c, kind, std::move(layers)) : Value();
}

// One step of a batch.
std::vector<Tensor> RunCell(Call& c, Kind kind) {
  const Tensor x = c.tensor("input");
  const std::vector<Tensor> states = c.tensors("hx");
  const Weights weights{c.tensor("w_ih"),
                        c.tensor("w_hh"),
                        c.tensor("b_ih"),
                        c.tensor("b_hh"),
                        {}};
  const size_t count = kind == Kind::kLstm ? 2 : 1;
  if (c.ok() && states.size() != count)
    c.FailInvalid("hx: expected " + std::to_string(count) + " tensors");
  if (!c.CheckRank("input", x, 2, 2) || !CheckWeights(c, weights)) return {};
  for (const Tensor& state : states)
    if (!c.CheckRank("hx", state, 2, 2)) return {};
  return Step(kind, FromInput(x, weights), states, weights.hidden,
              weights.hidden_bias, {});
}
Value LstmCell(Call& c) {
  const std::vector<Tensor> states = RunCell(c, Kind::kLstm);
  if (states.size() != 2) return {};
  return c.machine().NewTuple(
      {c.machine().NewTensor(states[0]), c.machine().NewTensor(states[1])});
}
template <Kind kind>
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
    {"gru" EMBER_TORCH_LAYERS("Tensor"), Recurrent<Kind::kGru>},
    {"rnn_tanh" EMBER_TORCH_LAYERS("Tensor"), Recurrent<Kind::kTanh>},
    {"rnn_relu" EMBER_TORCH_LAYERS("Tensor"), Recurrent<Kind::kRelu>},
    {"lstm" EMBER_TORCH_PACKED("Tensor[]"), kPacked},
    {"gru" EMBER_TORCH_PACKED("Tensor"), kPacked},
    {"rnn_tanh" EMBER_TORCH_PACKED("Tensor"), kPacked},
    {"rnn_relu" EMBER_TORCH_PACKED("Tensor"), kPacked},
    {"lstm_cell" EMBER_TORCH_CELL("Tensor[]"), LstmCell},
    {"gru_cell" EMBER_TORCH_CELL("Tensor"), Cell<Kind::kGru>},
    {"rnn_tanh_cell" EMBER_TORCH_CELL("Tensor"), Cell<Kind::kTanh>},
    {"rnn_relu_cell" EMBER_TORCH_CELL("Tensor"), Cell<Kind::kRelu>},
};

}  // namespace

std::span<const OperatorRow> RecurrentRows() { return kRows; }

}  // namespace ember::torchscript

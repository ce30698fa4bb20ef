// Imports the operator RNN. Its weights are one vector, in the order of Gluon's
// layers: for each layer and direction, the matrices of input, state and
// projection; after all of these, in the same order, the biases of input and
// state.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "frontends/mxnet/operator_table.h"
#include "frontends/ops/recurrent_layers.h"

namespace ember::mxnet {
namespace {

using ops::CellKind;
using ops::CellWeights;

constexpr int64_t kMaxLayers = 1000, kMaxSize = int64_t{1} << 20;

std::optional<CellKind> ReadMode(NodeContext& c) {
  static constexpr std::pair<std::string_view, CellKind> kModes[] = {
      {"rnn_tanh", CellKind::kTanh},
      {"rnn_relu", CellKind::kRelu},
      {"lstm", CellKind::kLstm},
      {"gru", CellKind::kGru},
  };
  const std::string mode = c.Text("mode", "");
  for (const auto& [name, kind] : kModes) {
    if (mode == name) return kind;
  }
  c.FailInvalid("mode: expected rnn_tanh, rnn_relu, lstm or gru, found '" +
                OnOneLine(mode) + "'");
  return std::nullopt;
}

// Reads one matrix or vector after the other from the vector of all weights.
class Cursor {
 public:
  explicit Cursor(Tensor weights) : weights_(std::move(weights)) {}

  Tensor Matrix(int64_t rows, int64_t columns) {
    return Reshape(Take(rows * columns), {Dim(rows), Dim(columns)});
  }
  Tensor Take(int64_t count) {
    const int64_t start = taken_;
    taken_ += count;
    return SliceAxis(weights_, 0, Dim(start), Dim(count));
  }

 private:
  Tensor weights_;
  int64_t taken_ = 0;
};

// Sizes of a stack of recurrent layers, in elements.
struct Sizes {
  int64_t input, state, projection, layers, directions, gates;

  // Returns the number of elements of a step's output in one direction.
  int64_t result() const { return projection > 0 ? projection : state; }
  int64_t InputOf(int64_t layer) const {
    return layer == 0 ? input : result() * directions;
  }
  int64_t Count() const {
    int64_t count = 0;
    for (int64_t layer = 0; layer < layers; ++layer) {
      count += directions * (gates * state * (InputOf(layer) + result() + 2) +
                             projection * state);
    }
    return count;
  }
};

std::vector<CellWeights> Unpack(Tensor packed, const Sizes& sizes) {
  Cursor cursor(std::move(packed));
  std::vector<CellWeights> weights(
      static_cast<size_t>(sizes.layers * sizes.directions));
  const int64_t rows = sizes.gates * sizes.state;
  for (size_t i = 0; i < weights.size(); ++i) {
    const int64_t layer = static_cast<int64_t>(i) / sizes.directions;
    weights[i].input = cursor.Matrix(rows, sizes.InputOf(layer));
    weights[i].hidden = cursor.Matrix(rows, sizes.result());
    if (sizes.projection > 0)
      weights[i].projection = cursor.Matrix(sizes.projection, sizes.state);
  }
  for (CellWeights& cell : weights) {
    cell.input_bias = cursor.Take(rows);
    cell.hidden_bias = cursor.Take(rows);
  }
  return weights;
}

std::optional<Sizes> ReadSizes(NodeContext& c, CellKind kind) {
  const std::optional<int64_t> input = c.Extent(c.Input(0), 2);
  Sizes sizes;
  sizes.input = input.value_or(0);
  sizes.state = c.Integer("state_size", 0);
  sizes.projection = c.Integer("projection_size", 0);
  sizes.layers = c.Integer("num_layers", 0);
  sizes.directions = c.Flag("bidirectional", false) ? 2 : 1;
  sizes.gates = ops::GatesOf(kind);
  if (!input || !c.CheckRange("data's last extent", *input, 0, kMaxSize) ||
      !c.CheckRange("state_size", sizes.state, 1, kMaxSize) ||
      !c.CheckRange("num_layers", sizes.layers, 1, kMaxLayers) ||
      !c.CheckRange("projection_size", sizes.projection, 0,
                    kind == CellKind::kLstm ? kMaxSize : 0))
    return std::nullopt;
  return sizes;
}

}  // namespace

void ImportRecurrent(NodeContext& c) {
  for (const char* name : {"use_sequence_length", "lstm_state_clip_min",
                           "lstm_state_clip_max", "lstm_state_clip_nan"}) {
    const std::string value = c.Has(name) ? c.Text(name, "") : "";
    if (!value.empty() && value != "False" && value != "0")
      return c.FailUnsupported(std::string(name) + " of a recurrent layer");
  }
  const auto kind = ReadMode(c);
  if (!kind) return;
  const int states = ops::StatesOf(*kind);
  if (!c.CheckRank(0, 3, 3) || !c.CheckRank(1, 1, 1)) return;
  ops::States initial;
  for (int i = 0; i < states; ++i) {
    if (!c.CheckRank(2 + i, 3, 3)) return;
    initial.push_back(c.Input(2 + i));
  }
  const std::optional<Sizes> sizes = ReadSizes(c, *kind);
  if (!sizes) return;
  const std::optional<int64_t> count = c.Extent(c.Input(1), 0);
  if (!count) return;
  if (*count != sizes->Count()) {
    return c.FailInvalid("parameters: expected " +
                         std::to_string(sizes->Count()) + " elements, found " +
                         std::to_string(*count));
  }
  const std::vector<CellWeights> weights = Unpack(c.Input(1), *sizes);
  const ops::StackResults results = RunRecurrentLayers(
      *kind, c.Input(0), initial, weights, static_cast<int>(sizes->directions));
  if (!c.ok() || !results.output) return;
  c.SetOutput(results.output);
  if (!c.Flag("state_outputs", false)) return;
  for (int i = 0; i < states; ++i)
    c.SetOutput(1 + i, results.last[static_cast<size_t>(i)]);
}

}  // namespace ember::mxnet

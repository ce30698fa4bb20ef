#include "tests/random_models/recipe.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

bool Recurrent(Builder& b, const Recipe& recipe) {
  const int64_t gates = recipe.name == "LSTM"  ? 4
                        : recipe.name == "GRU" ? 3
                                               : 1;
  static const auto* const kDirections =
      new std::vector<std::string>{"forward", "reverse", "bidirectional"};
  const std::string direction = b.random().Pick(*kDirections);
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  const int64_t hidden = b.random().Between(1, 9);
  // The batch is never the first dim, because ONNX Runtime does not support
  // layout = 1.
  const bool is_batch_first = false;
  const Value x = b.Operand(TensorProto::FLOAT,
                            {b.random().Between(1, 6), b.random().Between(1, 3),
                             b.random().Between(1, 8)});
  const int64_t time = x.dims()[0], batch = x.dims()[1];
  const Range small = {-0.7, 0.7, false};
  Names inputs = {
      x.name,
      b.Operand(TensorProto::FLOAT, {directions, gates * hidden, x.dims()[2]},
                small)
          .name,
      b.Operand(TensorProto::FLOAT, {directions, gates * hidden, hidden}, small)
          .name};
  const int64_t more = b.random().Between(0, gates == 4 ? 5 : 3);
  if (more > 0)
    inputs.push_back(b.random().Chance(0.7)
                         ? b.Operand(TensorProto::FLOAT,
                                     {directions, 2 * gates * hidden}, small)
                               .name
                         : "");
  if (more > 1)
    inputs.push_back(b.random().Chance(0.4)
                         ? b.Operand(TensorProto::INT32, {batch},
                                     {1, static_cast<double>(time), false})
                               .name
                         : "");
  if (more > 2)
    inputs.push_back(
        b.random().Chance(0.7)
            ? b.Operand(TensorProto::FLOAT, {directions, batch, hidden}, small)
                  .name
            : "");
  if (more > 3)
    inputs.push_back(
        b.random().Chance(0.7)
            ? b.Operand(TensorProto::FLOAT, {directions, batch, hidden}, small)
                  .name
            : "");
  if (more > 4)
    inputs.push_back(
        b.random().Chance(0.7)
            ? b.Operand(TensorProto::FLOAT, {directions, 3 * hidden}, small)
                  .name
            : "");
  while (inputs.back().empty()) inputs.pop_back();
  Attributes attributes = {{"hidden_size", static_cast<int>(hidden)},
                           {"direction", direction.c_str()}};
  if (is_batch_first) attributes.emplace_back("layout", 1);
  if (gates == 3 && b.random().Chance(0.5))
    attributes.emplace_back("linear_before_reset", 1);
  // `clip` is not drawn for the LSTM (4 gates): ONNX clips the input of every
  // activation, also that of the cell, but ONNX Runtime does not clip the cell.
  if (gates != 4 && b.random().Chance(0.2))
    attributes.emplace_back("clip", 0.8);
  b.Nodes(std::string(recipe.name), inputs,
          static_cast<int>(b.random().Between(1, gates == 4 ? 3 : 2)),
          attributes);
  return true;
}

// NOLINTNEXTLINE(cert-err58-cpp)
const Recipe kRows[] = {
    {"", "GRU", Recurrent, 7},
    {"", "LSTM", Recurrent, 7},
    {"", "RNN", Recurrent, 7},
};

}  // namespace

std::span<const Recipe> RecurrentRecipes() { return kRows; }

}  // namespace ember::tests

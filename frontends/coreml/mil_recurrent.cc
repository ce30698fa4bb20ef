// Imports MIL's recurrent operations, whose input is x [steps, batch, in].
#include <string>
#include <utility>
#include <vector>

#include "frontends/coreml/mil_operation.h"
#include "frontends/coreml/recurrent.h"

namespace ember::coreml {
namespace {

using ops::States;

Activation ReadActivation(MilOperation& o, std::string_view name,
                          std::string_view otherwise) {
  constexpr std::pair<std::string_view, Activation> kKnown[] = {
      {"linear", {kLinear, 1, 0}},
      {"relu", {kRelu}},
      {"tanh", {kTanh}},
      {"scaled_tanh", {kScaledTanh, 1, 1}},
      {"sigmoid", {kSigmoid}},
      {"hard_sigmoid", {kHardSigmoid, 0.2, 0.5}},
      {"sigmoid_hard", {kHardSigmoid, 0.2, 0.5}},
  };
  const std::string text = o.Text(name, std::string(otherwise));
  for (const auto& [known, activation] : kKnown)
    if (text == known) return activation;
  o.FailUnsupported(std::string(name) + ": found '" + text + "'");
  return {};
}

// Reads the weights whose names end in `suffix`, with the operation's
// activations.
RecurrentCell ReadCell(MilOperation& o, RecurrentCell::Kind kind,
                       const std::string& suffix) {
  RecurrentCell cell;
  cell.kind = kind;
  cell.input = o.Input("weight_ih" + suffix);
  cell.hidden = o.Input("weight_hh" + suffix);
  if (o.Has("bias" + suffix)) cell.bias = o.Input("bias" + suffix);
  if (!o.ok()) return cell;
  if (cell.input.rank() != 2 || cell.hidden.rank() != 2) {
    o.FailInvalid("weights: expected rank 2, found " +
                  std::to_string(cell.input.rank()) + " and " +
                  std::to_string(cell.hidden.rank()));
    return cell;
  }
  const Dim size = cell.hidden.dim(1);
  const auto check = [&](const Tensor& weights, int parts,
                         std::string_view what) {
    if (weights.rank() > 0 && weights.dim(0) == Dim(parts) * size) return;
    o.FailInvalid(std::string(what) + suffix + ": expected " +
                  (Dim(parts) * size).ToString() + " rows, found another");
  };
  check(cell.input, cell.gates(), "weight_ih");
  check(cell.hidden, cell.gates(), "weight_hh");
  if (cell.bias) check(cell.bias, cell.gates(), "bias");
  if (kind == RecurrentCell::kLstm && o.Has("peephole" + suffix)) {
    cell.peephole = o.Input("peephole" + suffix);
    check(cell.peephole, 3, "peephole");
  }
  if (kind == RecurrentCell::kLstm) cell.cell_limit = o.Number("clip", 0);
  if (kind != RecurrentCell::kSimple)
    cell.activations = {ReadActivation(o, "recurrent_activation", "sigmoid")};
  if (kind == RecurrentCell::kLstm)
    cell.activations.push_back(ReadActivation(o, "cell_activation", "tanh"));
  cell.activations.push_back(ReadActivation(o, "activation", "tanh"));
  return cell;
}

std::string ReadDirection(MilOperation& o, bool may_be_both) {
  std::string direction = o.Text("direction", "forward");
  if (direction != "forward" && direction != "reverse" &&
      !(may_be_both && direction == "bidirectional")) {
    o.FailInvalid("direction: expected forward" +
                  std::string(may_be_both ? ", reverse or bidirectional"
                                          : " or reverse") +
                  ", found '" + direction + "'");
  }
  return direction;
}

template <RecurrentCell::Kind kKind>
void Recurrent(MilOperation& o) {
  const std::string direction = ReadDirection(o, kKind == RecurrentCell::kLstm);
  const RecurrentCell cell = ReadCell(o, kKind, "");
  if (!o.CheckRank("x", 3, 3) || !o.CheckRank("initial_h", 2, 2)) return;
  States initial = {o.Input("initial_h")};
  if (kKind == RecurrentCell::kLstm) {
    if (!o.CheckRank("initial_c", 2, 2)) return;
    initial.push_back(o.Input("initial_c"));
  }
  const bool is_both = direction == "bidirectional";
  const Dim size = cell.hidden.dim(1);
  for (const Tensor& state : initial) {
    if (state.dim(1) != (is_both ? size + size : size))
      return o.FailInvalid("states: expected " + size.ToString() +
                           " columns for each direction, found " +
                           state.dim(1).ToString());
  }
  const bool keeps_sequence = o.Flag("output_sequence", false);
  const Tensor x = o.Input("x");
  if (!is_both) {
    const RecurrentResults results =
        RunRecurrent(cell, x, initial, direction == "reverse", keeps_sequence);
    o.SetOutput(0, results.output);
    for (size_t i = 0; i < results.last.size(); ++i)
      o.SetOutput(static_cast<int>(i) + 1, results.last[i]);
    return;
  }
  const RecurrentCell backward = ReadCell(o, kKind, "_back");
  States both;
  for (const Dim& start : {Dim(0), size}) {
    for (const Tensor& state : initial)
      both.push_back(SliceAxis(state, 1, start, size));
  }
  if (!o.ok()) return;
  const RecurrentResults results =
      RunBothWays(cell, backward, x, both, keeps_sequence);
  o.SetOutput(0, results.output);
  if (results.last.size() != 4) return;
  o.SetOutput(1, Concat({results.last[0], results.last[2]}, 1));
  o.SetOutput(2, Concat({results.last[1], results.last[3]}, 1));
}

constexpr MilRow kRows[] = {
    {"gru", Recurrent<RecurrentCell::kGru>},
    {"lstm", Recurrent<RecurrentCell::kLstm>},
    {"rnn", Recurrent<RecurrentCell::kSimple>},
};

}  // namespace

std::span<const MilRow> MilRecurrent() { return kRows; }

}  // namespace ember::coreml

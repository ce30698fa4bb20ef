// LSTM and RNN over the steps of sequences [T, N, …]. A sequence begins where
// the second bottom is 0 (Donahue et al. 2015). The last state is kept for the
// next run, unless the net has it as bottom and top (expose_hidden).
#include "frontends/ops/recurrent.h"

#include <string>
#include <vector>

#include "frontends/caffe/layer_table.h"
#include "frontends/ops/cells.h"

namespace ember::caffe {
namespace {

using ops::Capture;
using ops::States;

// The operands and initial states of RunSteps for an LSTM or RNN layer.
struct Sequence {
  // [T, N, gates + 1]: the products of the layer's input with the weights of
  // each gate, then the second bottom (0 where a sequence begins).
  Tensor steps;
  std::vector<Tensor> states;  // [N, outputs]
  int next_blob = 0;
  int64_t outputs = 0;
};

// Returns `size` columns of the last dim, from column `first` on.
Tensor Columns(const Tensor& x, int64_t first, int64_t size) {
  return SliceAxis(x, x.rank() - 1, Dim(first), Dim(size));
}

std::optional<Sequence> ReadSequence(LayerContext& c, int64_t gates,
                                     int state_count) {
  const RecurrentParameter& p = c.layer().recurrent_param();
  if (!c.CheckRank(0, 2) || !c.CheckRank(1, 2, 2) ||
      !c.CheckRange("num_output", p.num_output()))
    return std::nullopt;
  Sequence s;
  s.outputs = p.num_output();
  const Tensor x = c.Input(0), cont = c.Input(1);
  const auto extents = c.Extents(x, 0, x.rank());
  if (!extents) return std::nullopt;
  const int hidden = p.expose_hidden() ? state_count : 0;
  const bool has_static = c.input_count() == 3 + hidden;
  if (!has_static && c.input_count() != 2 + hidden) {
    c.FailInvalid("expected " + std::to_string(2 + hidden) + " or " +
                  std::to_string(3 + hidden) + " bottoms, found " +
                  std::to_string(c.input_count()));
    return std::nullopt;
  }
  if (c.output_count() != 1 + hidden) {
    c.FailInvalid("expected " + std::to_string(1 + hidden) + " tops, found " +
                  std::to_string(c.output_count()));
    return std::nullopt;
  }
  const Dim steps = x.dim(0), batch = x.dim(1);
  if (cont.shape() != Shape{steps, batch}) {
    c.FailInvalid("expected a second bottom [T, N], found " +
                  graph::ShapeToString(cont.shape()));
    return std::nullopt;
  }
  const int64_t rows = gates * s.outputs;
  const auto product = [&](const Tensor& value, int first) {
    const Dim size = ElementCount(value.shape(), static_cast<size_t>(first),
                                  static_cast<size_t>(value.rank()));
    Shape shape(value.shape().begin(), value.shape().begin() + first);
    shape.push_back(size);
    const auto width = c.Extent(Reshape(value, shape), first);
    if (!width) return value;
    const Tensor w = c.Weight(s.next_blob++, {rows, *width});
    return Contract(Reshape(value, shape), w,
                    first == 2 ? "tni,gi->tng" : "ni,gi->ng");
  };
  Tensor gated = product(x, 2);
  gated = gated + c.Weight(s.next_blob++, {rows});
  if (has_static) gated = gated + product(c.Input(2), 1);
  if (!c.ok()) return std::nullopt;
  s.steps = Concat({gated, Unsqueeze(cont, {2})}, 2);
  for (int i = 0; i < state_count; ++i) {
    const Shape shape{batch, Dim(s.outputs)};
    if (p.expose_hidden()) {
      s.states.push_back(
          Reshape(c.Input(c.input_count() - state_count + i), shape));
    } else {
      s.states.push_back(c.StateInput(i == 0 ? "h" : "c", shape));
    }
  }
  if (!c.ok()) return std::nullopt;
  return s;
}

// Sets the layer's tops and states from the results of RunSteps, which are the
// last states followed by the outputs of all steps.
void SetResults(LayerContext& c, const States& results, size_t state_count) {
  if (!c.ok()) return;
  c.SetOutput(0, results.back());
  for (size_t i = 0; i < state_count; ++i) {
    if (c.layer().recurrent_param().expose_hidden()) {
      c.SetOutput(1 + static_cast<int>(i), Unsqueeze(results[i], {0}));
    } else {
      c.SetState(static_cast<int>(i), results[i]);
    }
  }
}

// Computes one step of an LSTM and returns the states h and c. `gates` [N, 4 D]
// holds input, forget, output and candidate. Where a sequence begins (cont is
// 0), the previous cell is not added.
States Step(const Tensor& gates, const Tensor& cont, const Tensor& cell,
            int64_t d) {
  const auto gate = [&](int64_t index) {
    return Sigmoid(Columns(gates, index * d, d));
  };
  return LstmStep({.input = gate(0),
                   .forget = gate(1) * cont,
                   .candidate = Tanh(Columns(gates, 3 * d, d)),
                   .output = [&](const Tensor&) { return gate(2); }},
                  cell);
}

}  // namespace

void ImportLstm(LayerContext& c) {
  std::optional<Sequence> s = ReadSequence(c, 4, 2);
  if (!s) return;
  const int64_t d = s->outputs;
  const Tensor w = c.Weight(s->next_blob, {4 * d, d});
  if (!c.ok()) return;
  SetResults(c,
             RunSteps(s->steps, s->states, /*keep_outputs=*/true,
                      [&](const Capture& capture, Tensor, Tensor step,
                          const States& before) {
                        const Tensor cont = Columns(step, 4 * d, 1);
                        const Tensor gates =
                            Columns(step, 0, 4 * d) +
                            Contract(before[0] * cont, capture(w), "ni,gi->ng");
                        States after = Step(gates, cont, before[1], d);
                        after.push_back(after[0]);
                        return after;
                      }),
             2);
}

// Imports LSTMUnit, one step of an LSTM. The gates are its second bottom: other
// layers of the net compute them.
void ImportLstmUnit(LayerContext& c) {
  const Tensor before = c.Input(0), gates = c.Input(1), cont = c.Input(2);
  if (!c.CheckRank(0, 3, 3) || !c.CheckRank(1, 3, 3) || !c.CheckRank(2, 2, 2))
    return;
  const std::optional<int64_t> d = c.Extent(before, 2);
  if (!d) return;
  if (gates.dim(2) != before.dim(2) * Dim(4)) {
    return c.FailInvalid("expected gates of 4 * " + std::to_string(*d) +
                         " numbers, found " +
                         graph::ShapeToString(gates.shape()));
  }
  const States after = Step(gates, Unsqueeze(cont, {2}), before, *d);
  c.SetOutput(0, after[1]);
  c.SetOutput(1, after[0]);
}

void ImportRnn(LayerContext& c) {
  std::optional<Sequence> s = ReadSequence(c, 1, 1);
  if (!s) return;
  const int64_t d = s->outputs;
  const Tensor w = c.Weight(s->next_blob, {d, d});
  const Tensor w_out = c.Weight(s->next_blob + 1, {d, d});
  const Tensor b_out = c.Weight(s->next_blob + 2, {d});
  if (!c.ok()) return;
  SetResults(
      c,
      RunSteps(s->steps, s->states, /*keep_outputs=*/true,
               [&](const Capture& capture, Tensor, Tensor step,
                   const States& before) {
                 const Tensor cont = Columns(step, d, 1);
                 const Tensor hidden =
                     Tanh(Columns(step, 0, d) +
                          Contract(before[0] * cont, capture(w), "ni,oi->no"));
                 const Tensor out =
                     Tanh(Contract(hidden, capture(w_out), "ni,oi->no") +
                          capture(b_out));
                 return States{hidden, out};
               }),
      1);
}

}  // namespace ember::caffe

// Imports recurrent layers: RNN, LSTM and SVDF. The state that a layer keeps
// between runs is a variable among its operands.
#include "frontends/ops/recurrent.h"

#include <string>
#include <utility>
#include <vector>

#include "frontends/ops/cells.h"
#include "frontends/ops/normalization.h"
#include "frontends/tflite/activation.h"
#include "frontends/tflite/operator_table.h"

namespace ember::tflite {
namespace {

using Activation = schema::ActivationFunctionType;
using ops::Capture;
using ops::States;

// For each kind of operands of an LSTM (weights, biases, …): the index of the
// first one in the operator's list. Weights are [units, inputs].
struct LstmOperands {
  int input_weights, recurrent_weights, peepholes, biases, projection;
  int output_state, cell_state;
  int layer_norm = -1;  // Four coefficients.
};

struct LstmOptions {
  Activation activation;
  double cell_clip, projection_clip;
};

Tensor Clipped(Tensor x, double limit) {
  return limit > 0 ? Clip(x, -limit, limit) : x;
}

// Returns the columns of gate number `gate` of a matrix that holds all gates.
Tensor GateOf(Tensor gates, int gate, const Dim& units) {
  return SliceAxis(gates, gates.rank() - 1, units * Dim(gate), units);
}

// Normalises x along the last dim to mean 0 and standard deviation 1.
Tensor Normalized(Tensor x) {
  return ops::Standardized(x, {x.rank() - 1}, 1e-8, ops::MeanKind::kPlain);
}

class Lstm {
 public:
  Lstm(OperatorContext& c, const LstmOperands& at, const LstmOptions& options)
      : c_(c), at_(at), options_(options) {}

  // Runs the LSTM over x [steps, batch, inputs]. Returns the outputs of all
  // steps in the same order of dims, and changes the layer's states, which are
  // variable operands.
  Tensor Run(Tensor x, bool reverse) {
    if (!Check()) return x;
    if (reverse) x = Reverse(x, 0);
    const Tensor projected =
        Contract(x, Joined(at_.input_weights), "tbi,gi->tbg");
    Tensor gates = projected;
    if (!has_layer_norm_) gates = gates + Joined(at_.biases);
    const States initial{c_.Input(at_.output_state), c_.Input(at_.cell_state)};
    const Tensor recurrent = Joined(at_.recurrent_weights);
    const States results =
        ops::RunSteps(gates, initial, /*keep_outputs=*/true,
                      [&](const Capture& capture, Tensor, Tensor input,
                          const States& before) {
                        return Step(capture, input, capture(recurrent), before);
                      });
    if (!c_.ok() || results.size() != 3) return x;
    c_.ChangeInput(at_.output_state, results[0]);
    c_.ChangeInput(at_.cell_state, results[1]);
    return reverse ? Reverse(results[2], 0) : results[2];
  }

 private:
  // True if the layer has no input gate. The input gate is then 1 - forget
  // gate.
  bool coupled() const { return !c_.Input(at_.input_weights); }
  int gate_count() const { return coupled() ? 3 : 4; }

  bool Check() {
    for (int gate = 1; gate < 4; ++gate) {
      if (!c_.CheckRank(at_.input_weights + gate, 2, 2) ||
          !c_.CheckRank(at_.recurrent_weights + gate, 2, 2) ||
          !c_.CheckRank(at_.biases + gate, 1, 1))
        return false;
    }
    if (!coupled() && (!c_.CheckRank(at_.recurrent_weights, 2, 2) ||
                       !c_.CheckRank(at_.biases, 1, 1)))
      return false;
    if (!c_.CheckRank(at_.output_state, 2, 2) ||
        !c_.CheckRank(at_.cell_state, 2, 2))
      return false;
    units_ = c_.Input(at_.input_weights + 1).dim(0);
    has_layer_norm_ = at_.layer_norm >= 0 && c_.Input(at_.layer_norm + 1);
    for (int gate = coupled() ? 1 : 0; gate < 4 && has_layer_norm_; ++gate) {
      if (!c_.CheckRank(at_.layer_norm + gate, 1, 1)) return false;
    }
    return c_.ok();
  }

  // Concatenates the operands from index `first` on that belong to the gates
  // input, forget, cell and output; without that of the input gate if the layer
  // has none.
  Tensor Joined(int first) {
    std::vector<Tensor> parts;
    for (int gate = coupled() ? 1 : 0; gate < 4; ++gate)
      parts.push_back(c_.Input(first + gate));
    return Concat(parts, 0);
  }

  // Returns a gate before its activation. gate: 0 input, 1 forget, 2 cell, 3
  // output.
  Tensor Gate(const Capture& capture, Tensor gates, int gate, Tensor cell) {
    Tensor x = GateOf(gates, gate - (coupled() ? 1 : 0), units_);
    // A peephole is a weight vector by which the cell state is added to a gate.
    // These operands have the order input, forget, output; the gate `cell` (2)
    // has none.
    const int peephole = gate == 3 ? 2 : gate;
    if (gate != 2 && c_.Input(at_.peepholes + peephole))
      x = x + cell * capture(c_.Input(at_.peepholes + peephole));
    if (!has_layer_norm_) return x;
    return Normalized(x) * capture(c_.Input(at_.layer_norm + gate)) +
           capture(c_.Input(at_.biases + gate));
  }

  States Step(const Capture& capture, Tensor input, Tensor recurrent,
              const States& before) {
    const Tensor cell = before[1];
    const Tensor gates = input + Contract(before[0], recurrent, "bh,gh->bg");
    const auto gate = [&](int number, const Tensor& at) {
      return Sigmoid(Gate(capture, gates, number, at));
    };
    const auto activated = [&](const Tensor& sum) {
      return Activated(c_, sum, options_.activation);
    };
    const Tensor forget = gate(1, cell);
    const States after =
        LstmStep({.input = coupled() ? 1.0 - forget : gate(0, cell),
                  .forget = forget,
                  .candidate = activated(Gate(capture, gates, 2, cell)),
                  .output = [&](const Tensor& next) { return gate(3, next); },
                  .activation = activated,
                  .cell_limit = options_.cell_clip},
                 cell);
    Tensor hidden = after[0];
    if (c_.Input(at_.projection)) {
      hidden = Contract(hidden, capture(c_.Input(at_.projection)), "bh,oh->bo");
      if (c_.Input(at_.projection + 1))
        hidden = hidden + capture(c_.Input(at_.projection + 1));
      hidden = Clipped(hidden, options_.projection_clip);
    }
    return {hidden, after[1], hidden};
  }

  OperatorContext& c_;
  const LstmOperands at_;
  const LstmOptions options_;
  Dim units_;
  bool has_layer_norm_ = false;
};

constexpr LstmOperands kLstm{1, 5, 9, 12, 16, 18, 19, 20};

struct RnnOperands {
  int weights, recurrent, bias, state;
};

// Runs a plain recurrent layer. x: [steps, batch, inputs].
Tensor RunRnn(OperatorContext& c, const RnnOperands& at, Activation activation,
              Tensor x, bool reverse) {
  if (!c.CheckRank(at.weights, 2, 2) || !c.CheckRank(at.recurrent, 2, 2) ||
      !c.CheckRank(at.bias, 1, 1) || !c.CheckRank(at.state, 2, 2))
    return x;
  if (reverse) x = Reverse(x, 0);
  const Tensor inputs =
      Contract(x, c.Input(at.weights), "tbi,ui->tbu") + c.Input(at.bias);
  const States results = ops::RunSteps(
      inputs, {c.Input(at.state)}, /*keep_outputs=*/true,
      [&](const Capture& capture, Tensor, Tensor input, const States& before) {
        const Tensor product =
            Contract(before[0], capture(c.Input(at.recurrent)), "bh,uh->bu");
        const Tensor next = Activated(c, input + product, activation);
        return States{next, next};
      });
  if (!c.ok() || results.size() != 2) return x;
  c.ChangeInput(at.state, results[0]);
  return reverse ? Reverse(results[1], 0) : results[1];
}

// Transposes [batch, steps, …] to [steps, batch, …] or back, unless steps come
// first already.
Tensor TimeFirst(Tensor x, bool time_major) {
  return time_major ? x : Transpose(x, {1, 0, 2});
}

void SetDirections(OperatorContext& c, Tensor forward, Tensor backward,
                   bool merged, bool time_major) {
  if (!c.ok()) return;
  forward = TimeFirst(forward, time_major);
  backward = TimeFirst(backward, time_major);
  if (merged) return c.SetOutput(0, Concat({forward, backward}, 2));
  c.SetOutput(0, forward);
  c.SetOutput(1, backward);
}

// Imports an LSTM with TensorFlow's BasicLSTMCell kernel, which has one matrix
// for input and state.
void ImportBasicLstm(OperatorContext& c) {
  // Operands of the BasicLSTMCell kernel: (input, previous output, weights [4 *
  // units, inputs + units], biases, previous cell). The order of the gates in
  // the weights is input, candidate, forget, output.
  for (const int i : {0, 1, 2, 4})
    if (!c.CheckRank(i, 2, 2)) return;
  if (!c.CheckRank(3, 1, 1)) return;
  const Tensor cell = c.Input(4);
  const Dim units = cell.dim(1);
  const Tensor gates =
      Contract(Concat({c.Input(0), c.Input(1)}, 1), c.Input(2), "bi,gi->bg") +
      c.Input(3);
  const auto gate = [&](int number) {
    return Sigmoid(GateOf(gates, number, units));
  };
  const States after =
      LstmStep({.input = gate(0),
                .forget = gate(2),
                .candidate = Tanh(GateOf(gates, 1, units)),
                .output = [&](const Tensor&) { return gate(3); }},
               cell);
  c.SetOutput(0, after[0]);
  c.SetOutput(1, after[1]);
}

}  // namespace

void ImportLstm(OperatorContext& c) {
  const auto& o = c.Options<schema::LSTMOptions>();
  if (o.kernel_type() == schema::LSTMKernelType::BASIC)
    return ImportBasicLstm(c);
  if (!c.CheckRank(0, 2, 2)) return;
  Lstm lstm(c, kLstm,
            {o.fused_activation_function(), o.cell_clip(), o.proj_clip()});
  const Tensor y = lstm.Run(Unsqueeze(c.Input(0), {0}), false);
  if (c.ok()) c.SetOutput(0, Squeeze(y, {0}));
}

void ImportSequenceLstm(OperatorContext& c) {
  if (!c.CheckRank(0, 3, 3)) return;
  const auto& o = c.Options<schema::UnidirectionalSequenceLSTMOptions>();
  if (o.diagonal_recurrent_tensors())
    return c.FailUnsupported("diagonal recurrent weights");
  Lstm lstm(c, kLstm,
            {o.fused_activation_function(), o.cell_clip(), o.proj_clip()});
  const Tensor y = lstm.Run(TimeFirst(c.Input(0), o.time_major()), false);
  if (c.ok()) c.SetOutput(0, TimeFirst(y, o.time_major()));
}

void ImportBidirectionalLstm(OperatorContext& c) {
  if (!c.CheckRank(0, 3, 3)) return;
  for (int i = 39; i < c.input_count(); ++i)
    if (c.Input(i)) return c.FailUnsupported("auxiliary input");
  const auto& o = c.Options<schema::BidirectionalSequenceLSTMOptions>();
  const LstmOptions options{o.fused_activation_function(), o.cell_clip(),
                            o.proj_clip()};
  const Tensor x = TimeFirst(c.Input(0), o.time_major());
  const Tensor forward =
      Lstm(c, {1, 5, 9, 12, 16, 35, 36}, options).Run(x, false);
  const Tensor backward =
      Lstm(c, {18, 22, 26, 29, 33, 37, 38}, options).Run(x, true);
  SetDirections(c, forward, backward, o.merge_outputs(), o.time_major());
}

void ImportRnn(OperatorContext& c) {
  if (!c.CheckRank(0, 2, 2)) return;
  const Tensor y =
      RunRnn(c, {1, 2, 3, 4},
             c.Options<schema::RNNOptions>().fused_activation_function(),
             Unsqueeze(c.Input(0), {0}), false);
  if (c.ok()) c.SetOutput(0, Squeeze(y, {0}));
}

void ImportSequenceRnn(OperatorContext& c) {
  if (!c.CheckRank(0, 3, 3)) return;
  const auto& o = c.Options<schema::SequenceRNNOptions>();
  const Tensor y = RunRnn(c, {1, 2, 3, 4}, o.fused_activation_function(),
                          TimeFirst(c.Input(0), o.time_major()), false);
  if (c.ok()) c.SetOutput(0, TimeFirst(y, o.time_major()));
}

void ImportBidirectionalRnn(OperatorContext& c) {
  if (!c.CheckRank(0, 3, 3)) return;
  for (int i = 9; i < c.input_count(); ++i)
    if (c.Input(i)) return c.FailUnsupported("auxiliary input");
  const auto& o = c.Options<schema::BidirectionalSequenceRNNOptions>();
  const Tensor x = TimeFirst(c.Input(0), o.time_major());
  const Tensor forward =
      RunRnn(c, {1, 2, 3, 4}, o.fused_activation_function(), x, false);
  const Tensor backward =
      RunRnn(c, {5, 6, 7, 8}, o.fused_activation_function(), x, true);
  SetDirections(c, forward, backward, o.merge_outputs(), o.time_major());
}

// Imports SVDF. Operands: input, feature weights [filters, inputs], time
// weights [filters, memory], bias, state [batch, filters * memory]. Each filter
// keeps its results for the last inputs, newest last.
void ImportSvdf(OperatorContext& c) {
  for (const int i : {0, 1, 2, 4})
    if (!c.CheckRank(i, 2, 2)) return;
  const auto& o = c.Options<schema::SVDFOptions>();
  if (!c.CheckPositive("rank", o.rank())) return;
  const Tensor x = c.Input(0), time = c.Input(2), bias = c.Input(3);
  const Dim batch = x.dim(0), filters = time.dim(0), memory = time.dim(1);
  const Dim rank(o.rank());
  const auto units = ops::DivideElementCounts({filters}, {rank});
  if (!units) {
    return c.FailInvalid("rank: expected a divisor of " + filters.ToString() +
                         " filters, found " + rank.ToString());
  }
  const Tensor newest = Contract(x, c.Input(1), "bi,fi->bf");
  const Tensor state = Reshape(c.Input(4), {batch, filters, memory});
  const Tensor kept = SliceAxis(state, 2, Dim(1), memory - Dim(1));
  const Tensor shifted = Concat({kept, Unsqueeze(newest, {2})}, 2);
  c.ChangeInput(4, Reshape(shifted, {batch, filters * memory}));
  const Tensor filtered = Contract(shifted, time, "bfm,fm->bf");
  Tensor y = Reduce(Reshape(filtered, {batch, *units, rank}), "sum", {2},
                    /*keep=*/false);
  if (bias) y = y + bias;
  c.SetOutput(0, Activated(c, y, o.fused_activation_function()));
}

}  // namespace ember::tflite

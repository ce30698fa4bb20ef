// RNN, GRU and LSTM: the computation of one step of each. com.microsoft: an
// LSTM with quantized weights.
#include "frontends/onnx/operators/families.h"
#include "frontends/onnx/operators/recurrent.h"
#include "frontends/ops/cells.h"

namespace ember::onnx {
namespace {

// Returns the columns of `count` gates, from number `gate` on, of a matrix that
// is not quantized.
Matrix Gates(const Matrix& matrix, int64_t gate, const Dim& hidden,
             int64_t count) {
  return {Gate(matrix.values, gate, hidden, count), Tensor()};
}

void ImportRnn(NodeContext& c) {
  ImportRecurrentLayer(
      c, {.gates = 1, .states = 1, .activations = {"Tanh"}},
      [](const Direction& d) -> Cell {
        return
            [&d](const Capture& capture, Tensor input, const States& before) {
              return States{d.activations[0](
                  input + Multiply(before[0], d.recurrence, capture))};
            };
      });
}

// Returns the step of a GRU. The gates have the order update, reset, hidden.
Cell GruCell(const Direction& d) {
  return [&d](const Capture& capture, Tensor input, const States& before) {
    const Tensor h = before[0];
    const Tensor gates = d.activations[0](
        Gate(input, 0, d.hidden, 2) +
        Multiply(h, Gates(d.recurrence, 0, d.hidden, 2), capture));
    const auto product = [&](const Tensor& state) {
      return Multiply(state, Gates(d.recurrence, 2, d.hidden, 1), capture);
    };
    return States{GruStep({.update = Gate(gates, 0, d.hidden),
                           .reset = Gate(gates, 1, d.hidden),
                           .candidate = Gate(input, 2, d.hidden),
                           .product = product,
                           .reset_order = ops::GruReset::kBeforeProduct,
                           .activation = d.activations[1]},
                          h)};
  };
}

// Returns the step of a GRU with linear_before_reset: the reset gate is applied
// to the product with R, not to the state.
Cell LinearGruCell(const Direction& d) {
  return [&d](const Capture& capture, Tensor input, const States& before) {
    const Tensor h = before[0];
    Tensor product = Multiply(h, d.recurrence, capture);
    if (d.recurrence_bias) product = product + capture(d.recurrence_bias);
    const Tensor gates = d.activations[0](Gate(input, 0, d.hidden, 2) +
                                          Gate(product, 0, d.hidden, 2));
    const auto of_candidate = [&](const Tensor&) {
      return Gate(product, 2, d.hidden);
    };
    return States{GruStep({.update = Gate(gates, 0, d.hidden),
                           .reset = Gate(gates, 1, d.hidden),
                           .candidate = Gate(input, 2, d.hidden),
                           .product = of_candidate,
                           .activation = d.activations[1]},
                          h)};
  };
}

void ImportGru(NodeContext& c) {
  const bool linear = c.Integer("linear_before_reset", 0) != 0;
  ImportRecurrentLayer(c,
                       {.gates = 3,
                        .states = 1,
                        .activations = {"Sigmoid", "Tanh"},
                        .join_biases = !linear},
                       linear ? LinearGruCell : GruCell);
}

// The gates of an LSTM without peepholes. The columns of its weights are in the
// order input, output, forget, cell.
struct PlainLstmGates {
  Tensor input, output, forget;
};

// Computes the gates of an LSTM without peepholes by one application of the
// activation, as they depend on `sums` (products plus biases) only.
PlainLstmGates PlainGates(const Direction& d, Tensor sums, bool input_forget) {
  const Tensor gates =
      d.activations[0](Gate(sums, 0, d.hidden, input_forget ? 2 : 3));
  const Tensor input = Gate(gates, 0, d.hidden);
  return {input, Gate(gates, 1, d.hidden),
          input_forget ? 1.0 - input : Gate(gates, 2, d.hidden)};
}

Cell LstmCell(const Direction& d, bool input_forget) {
  return [&d, input_forget](const Capture& capture, Tensor input,
                            const States& before) {
    const Tensor sums = input + Multiply(before[0], d.recurrence, capture);
    const Tensor fresh = d.activations[1](Gate(sums, 3, d.hidden));
    if (!d.peepholes) {
      const PlainLstmGates gates = PlainGates(d, sums, input_forget);
      return LstmStep({.input = gates.input,
                       .forget = gates.forget,
                       .candidate = fresh,
                       .output = [&](const Tensor&) { return gates.output; },
                       .activation = d.activations[2]},
                      before[1]);
    }
    // Computes a gate with a peephole: the weights times a cell. The input and
    // forget gates read the cell before the step, the output gate the cell
    // after it.
    const auto gate = [&](int64_t number, const Tensor& cell) {
      const Tensor weights = Gate(capture(d.peepholes), number, d.hidden);
      return d.activations[0](Gate(sums, number, d.hidden) + cell * weights);
    };
    const Tensor in = gate(0, before[1]);
    const Tensor forget = input_forget ? 1.0 - in : gate(2, before[1]);
    return LstmStep(
        {.input = in,
         .forget = forget,
         .candidate = fresh,
         .output = [&](const Tensor& next) { return gate(1, next); },
         .activation = d.activations[2]},
        before[1]);
  };
}

void ImportLstmLayer(NodeContext& c, bool quantized) {
  const bool input_forget = c.Integer("input_forget", 0) != 0;
  ImportRecurrentLayer(
      c,
      {.gates = 4,
       .states = 2,
       .activations = {"Sigmoid", "Tanh", "Tanh"},
       .quantized = quantized},
      [=](const Direction& d) { return LstmCell(d, input_forget); });
}

void ImportLstm(NodeContext& c) { ImportLstmLayer(c, false); }

void ImportDynamicQuantizeLstm(NodeContext& c) {
  if (CheckPresent(c, {8, 10})) ImportLstmLayer(c, true);
}

constexpr OperatorRow kRows[] = {
    {"DynamicQuantizeLSTM", 1, 3, 12, ImportDynamicQuantizeLstm,
     "com.microsoft"},
    {"GRU", 1, 3, 6, ImportGru},
    {"LSTM", 1, 3, 8, ImportLstm},
    {"RNN", 1, 3, 6, ImportRnn},
};

}  // namespace

std::span<const OperatorRow> RecurrentOperators() { return kRows; }

}  // namespace ember::onnx

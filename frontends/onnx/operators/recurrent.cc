#include "frontends/onnx/operators/recurrent.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "frontends/onnx/operators/quantization.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

// Indices at which RNN, GRU and LSTM have their operands; the last two are
// those of com.microsoft's quantized LSTM.
constexpr int kWeights = 1, kRecurrence = 2, kBias = 3, kLengths = 4,
              kInitial = 5, kPeepholes = 7, kWeightsScale = 8,
              kRecurrenceScale = 10;

Tensor Multiplied(Tensor x, const Matrix& matrix, const Capture& capture,
                  std::string_view spec) {
  if (!matrix.scale) return Contract(x, capture(matrix.values), spec);
  const DynamicallyQuantized quantized = QuantizeDynamically(x);
  const Tensor sums = Contract(Centered(quantized.values, quantized.zero_point),
                               capture(matrix.values), spec);
  return Cast(sums, DType::kF32) * (quantized.scale * capture(matrix.scale));
}

class Layer {
 public:
  Layer(NodeContext& c, const LayerSpec& spec) : c_(c), spec_(spec) {}

  void Import(const MakeCell& make_cell) {
    if (!ReadOperands()) return;
    std::vector<Tensor> outputs;               // per direction
    std::vector<States> states(spec_.states);  // per state, direction
    for (int i = 0; i < direction_count_; ++i) {
      const Direction direction = MakeDirection(i);
      const std::optional<States> results =
          Run(direction, make_cell(direction));
      if (!results) return;
      for (int s = 0; s < spec_.states; ++s) states[s].push_back((*results)[s]);
      if (c_.WantsOutput(0)) outputs.push_back(results->back());
    }
    if (c_.WantsOutput(0)) c_.SetOutput(0, JoinOutputs(outputs));
    for (int s = 0; s < spec_.states; ++s) {
      if (c_.WantsOutput(1 + s)) c_.SetOutput(1 + s, JoinStates(states[s]));
    }
  }

 private:
  // --- operands ---

  bool ReadOperands() {
    batch_first_ = c_.Integer("layout", 0) != 0;
    const std::string name = c_.String("direction", "forward");
    if (name != "forward" && name != "reverse" && name != "bidirectional") {
      c_.FailInvalid(
          "attribute 'direction': expected forward, reverse or bidirectional, "
          "found '" +
          name + "'");
    }
    direction_count_ = name == "bidirectional" ? 2 : 1;
    first_is_reverse_ = name == "reverse";
    for (int input : {0, kWeights, kRecurrence}) {
      if (!c_.CheckRank(input, 3, 3)) return false;
    }
    x_ = c_.Input(0);
    if (!x_.is_float()) c_.FailInvalid("X (input 0): expected a float type");
    result_type_ = x_.dtype();
    x_ = Computed(x_);
    if (batch_first_) x_ = Transpose(x_, {1, 0, 2});
    hidden_ = c_.Input(kRecurrence).dim(2);
    if (c_.HasAttribute("hidden_size")) hidden_ = c_.Integer("hidden_size", 0);
    activations_ = ReadActivations(c_, spec_.activations, direction_count_);
    ReadLengths();
    return c_.ok();
  }

  const Dim& steps() const { return x_.dim(0); }
  const Dim& batch() const { return x_.dim(1); }

  Tensor Computed(Tensor x) { return Cast(x, ComputeType(x.dtype())); }

  // Returns an operand of the node; fails unless it has the dims `expected`.
  Tensor Operand(int index, std::string_view name, const Shape& expected) {
    const Tensor operand = c_.Input(index);
    if (!c_.ok()) return operand;
    bool fits = operand.rank() == static_cast<int>(expected.size());
    for (size_t i = 0; fits && i < expected.size(); ++i) {
      const Dim& found = operand.shape()[i];
      fits = found == expected[i] || !found.is_constant() ||
             !expected[i].is_constant();
    }
    if (!fits) {
      c_.FailInvalid(std::string(name) + " (input " + std::to_string(index) +
                     "): expected shape " + graph::ShapeToString(expected) +
                     ", found " + graph::ShapeToString(operand.shape()));
      return operand;
    }
    if (operand.shape() == expected) return operand;
    return Apply("assume", {operand}, {{"shape", expected}});
  }

  // Returns the slice of an operand that belongs to direction `number`. The
  // operand has the directions as dim 0, followed by the dims `rest`; the
  // result is absent if the node does not have it.
  Tensor OfDirection(int index, std::string_view name, Shape rest, int number) {
    if (!c_.Input(index)) return Tensor();
    rest.insert(rest.begin(), Dim(direction_count_));
    const Tensor all = Computed(Operand(index, name, rest));
    return Squeeze(SliceAxis(all, 0, Dim(number), Dim(1)), {0});
  }

  Tensor InitialState(int state, int number) {
    static constexpr std::string_view kNames[] = {"initial_h", "initial_c"};
    if (!c_.Input(kInitial + state))
      return Broadcast(x_.Like(0), {batch(), hidden_});
    const int axis = batch_first_ ? 1 : 0;
    Shape shape = {batch(), hidden_};
    shape.insert(shape.begin() + axis, Dim(direction_count_));
    const Tensor all =
        Computed(Operand(kInitial + state, kNames[state], shape));
    return Squeeze(SliceAxis(all, axis, Dim(number), Dim(1)), {axis});
  }

  // Returns the matrix of weights of direction `number` as [rows, gates *
  // hidden]. The operand is transposed to this layout if it is not quantized.
  Matrix MakeMatrix(int index, std::string_view name, int scale,
                    const Dim& rows, int number) {
    const Dim width = hidden_ * Dim(spec_.gates);
    if (!spec_.quantized) {
      const Tensor given = OfDirection(index, name, {width, rows}, number);
      return {Transpose(given, {1, 0}), Tensor()};
    }
    const Tensor values = OfDirection(index, name, {rows, width}, number);
    const Tensor zero_point = Parameter(scale + 1, width, number);
    return {Centered(values, zero_point), Parameter(scale, width, number)};
  }

  // Returns the scale or zero point of a quantized matrix for direction
  // `number`. The operand has one number for the matrix, [directions], or one
  // per column, [directions, width].
  Tensor Parameter(int index, const Dim& width, int number) {
    const std::string name = "input " + std::to_string(index);
    const Shape rest = c_.Input(index).rank() > 1 ? Shape{width} : Shape{};
    return OfDirection(index, name, rest, number);
  }

  Direction MakeDirection(int number) {
    const Dim width = hidden_ * Dim(spec_.gates);
    Direction d;
    d.reverse = first_is_reverse_ || number == 1;
    d.hidden = hidden_;
    d.weights = MakeMatrix(kWeights, "W", kWeightsScale, x_.dim(2), number);
    d.recurrence =
        MakeMatrix(kRecurrence, "R", kRecurrenceScale, hidden_, number);
    if (Tensor bias = OfDirection(kBias, "B", {width * Dim(2)}, number)) {
      d.input_bias = SliceAxis(bias, 0, Dim(0), width);
      d.recurrence_bias = SliceAxis(bias, 0, width, width);
    }
    if (spec_.states == 2) {
      d.peepholes = OfDirection(kPeepholes, "P", {hidden_ * Dim(3)}, number);
    }
    for (int s = 0; s < spec_.states; ++s)
      d.initial.push_back(InitialState(s, number));
    const size_t count = spec_.activations.size();
    for (size_t i = 0; i < count && c_.ok(); ++i) {
      d.activations.push_back(
          activations_[static_cast<size_t>(number) * count + i]);
    }
    return d;
  }

  // The functions below read the operand sequence_lens and handle sequences
  // that are shorter than the number of steps.

  void ReadLengths() {
    if (!c_.Input(kLengths) || !c_.ok()) return;
    const Tensor given = Operand(kLengths, "sequence_lens", {batch()});
    if (!c_.ok() || AllFull(given)) return;
    lengths_ = Minimum(Maximum(Cast(given, DType::kI64), 0),
                       DimScalar(c_.builder(), steps()));
  }

  bool AllFull(Tensor given) {
    const auto known = c_.builder().ConstantContents(given.value());
    if (!known || !steps().is_constant()) return false;
    const auto full = static_cast<double>(steps().constant());
    return std::all_of(known->begin(), known->end(),
                       [full](double length) { return length == full; });
  }

  // Reverses the steps of [steps, batch, …], each sequence within its length.
  Tensor Reversed(Tensor x) {
    if (!lengths_) return SliceAxis(x, 0, steps() - Dim(1), steps(), -1);
    const Tensor step =
        Unsqueeze(IotaVector(c_.builder(), steps(), DType::kI64), {1});
    const Tensor lengths = Unsqueeze(lengths_, {0});
    const Tensor from = Select(Less(step, lengths), lengths - step - 1.0, step);
    const Tensor sequence =
        Unsqueeze(IotaVector(c_.builder(), batch(), DType::kI64), {0});
    const Tensor row = from * DimScalar(c_.builder(), batch()) + sequence;
    const Tensor rows = Reshape(x, {steps() * batch(), x.dim(2)});
    return Gather(rows, row, 0);
  }

  // The functions below build the loop over the steps of a direction.

  // Returns the product with W of all steps, [steps, batch, gates * hidden].
  Tensor Project(const Direction& d) {
    const bool by_lengths = d.reverse && lengths_;
    // A backward direction reverses the input or the product. If sequences have
    // lengths, reversing is a gather that stores its result. The rows are
    // smaller before the product, so in this case the input is reversed.
    const Capture same = [](Tensor x) { return x; };
    Tensor y = Multiplied(by_lengths ? Reversed(x_) : x_, d.weights, same,
                          "tbi,ig->tbg");
    if (d.input_bias) {
      y = y +
          (spec_.join_biases ? d.input_bias + d.recurrence_bias : d.input_bias);
    }
    return d.reverse && !by_lengths ? Reversed(y) : y;
  }

  // Computes a step: returns the states after it, followed by its output. A
  // sequence that has ended keeps its states and has outputs of 0.
  States Step(const Cell& cell, const Capture& capture, Tensor iteration,
              Tensor input, const States& before) {
    States after = cell(capture, input, before);
    Tensor output = after[0];
    if (lengths_ && c_.ok()) {
      const Tensor within = Less(iteration, Unsqueeze(capture(lengths_), {1}));
      output = Select(within, output, output.Like(0));
      for (size_t s = 0; s < after.size(); ++s)
        after[s] = Select(within, after[s], before[s]);
    }
    after.push_back(output);
    return after;
  }

  // Returns the last states, then the outputs of all steps (if they are
  // wanted); nullopt after an error.
  std::optional<States> Run(const Direction& d, const Cell& cell) {
    const Tensor input = Project(d);
    if (!c_.ok()) return std::nullopt;
    States results =
        ops::RunSteps(input, d.initial, c_.WantsOutput(0),
                      [&](const Capture& capture, Tensor iteration, Tensor step,
                          const States& before) {
                        return Step(cell, capture, iteration, step, before);
                      });
    if (!c_.ok()) return std::nullopt;
    if (c_.WantsOutput(0) && d.reverse)
      results.back() = Reversed(results.back());
    // A sequence of length 0 gets final states of 0, as in other engines,
    // instead of the initial states.
    for (int s = 0; lengths_ && s < spec_.states; ++s) {
      const Tensor some = Less(lengths_.Like(0), Unsqueeze(lengths_, {1}));
      results[s] = Select(some, results[s], results[s].Like(0));
    }
    return results;
  }

  // --- results ---

  Tensor JoinOutputs(const std::vector<Tensor>& outputs) {
    std::vector<Tensor> parts;
    for (Tensor y : outputs) {
      if (batch_first_) y = Transpose(y, {1, 0, 2});
      parts.push_back(Unsqueeze(y, {batch_first_ ? 2 : 1}));
    }
    return Cast(Concat(parts, batch_first_ ? 2 : 1), result_type_);
  }

  Tensor JoinStates(const States& states) {
    const int axis = batch_first_ ? 1 : 0;
    std::vector<Tensor> parts;
    for (const Tensor& state : states)
      parts.push_back(Unsqueeze(state, {axis}));
    return Cast(Concat(parts, axis), result_type_);
  }

  NodeContext& c_;
  const LayerSpec& spec_;
  bool batch_first_ = false;
  bool first_is_reverse_ = false;
  int direction_count_ = 1;
  DType result_type_ = DType::kF32;
  Tensor x_;  // [steps, batch, input]
  Dim hidden_;
  // Number of steps of each sequence, i64[batch]; absent if all sequences have
  // all steps.
  Tensor lengths_;
  std::vector<Activation> activations_;
};

}  // namespace

Tensor Gate(Tensor gates, int64_t gate, const Dim& hidden, int64_t count) {
  return SliceAxis(gates, gates.rank() - 1, hidden * Dim(gate),
                   hidden * Dim(count));
}

Tensor Multiply(Tensor x, const Matrix& matrix, const Capture& capture) {
  return Multiplied(x, matrix, capture, "bh,hg->bg");
}

void ImportRecurrentLayer(NodeContext& c, const LayerSpec& spec,
                          const MakeCell& make_cell) {
  Layer(c, spec).Import(make_cell);
}

}  // namespace ember::onnx

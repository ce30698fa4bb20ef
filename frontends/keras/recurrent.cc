// Imports recurrent layers: the step of each cell, masks, and state that is
// kept between runs.
#include "frontends/ops/recurrent.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "frontends/keras/activation.h"
#include "frontends/keras/layer_table.h"
#include "frontends/ops/cells.h"
#include "frontends/ops/convolution.h"
#include "frontends/ops/windows.h"

namespace ember::keras {
namespace {

using ops::Capture;
using ops::States;

// The settings and weights of a recurrent cell. The kinds of cells differ in
// their gates, states and products.
struct Cell {
  // The context with the cell's configuration and weights.
  LayerContext* c = nullptr;
  // Path of the cell's weights within the layer, such as "cell/".
  std::string weights;
  enum class Kind : uint8_t {
    kSimple,
    kLstm,
    kGru,
    kConvLstm
  } kind = Kind::kSimple;
  Tensor kernel, recurrent, bias;
  // For a convolutional cell: the windows of the convolutions of the input and
  // of the state.
  ops::Window window, state_window;
  Shape state_shape;

  int state_count() const {
    return kind == Kind::kLstm || kind == Kind::kConvLstm ? 2 : 1;
  }
  int gates() const {
    return kind == Kind::kSimple ? 1 : kind == Kind::kGru ? 3 : 4;
  }
};

std::optional<Cell::Kind> KindOf(std::string_view class_name) {
  if (class_name == "SimpleRNN" || class_name == "SimpleRNNCell")
    return Cell::Kind::kSimple;
  if (class_name == "LSTM" || class_name == "LSTMCell")
    return Cell::Kind::kLstm;
  if (class_name == "GRU" || class_name == "GRUCell") return Cell::Kind::kGru;
  if (class_name.starts_with("ConvLSTM")) return Cell::Kind::kConvLstm;
  return std::nullopt;
}

Tensor GateOf(Tensor gates, int gate, const Dim& units) {
  return SliceAxis(gates, gates.rank() - 1, units * Dim(gate), units);
}

Tensor Recurrent(const Cell& cell, Tensor x) {
  return Activated(*cell.c, x,
                   cell.c->config().Has("recurrent_activation")
                       ? cell.c->config().Entry("recurrent_activation")
                       : Config());
}

// Returns the part of all gates that depends on the input: its product with the
// kernel, plus the bias.
Tensor Project(const Cell& cell, const Capture& capture, Tensor x) {
  const Tensor kernel = capture(cell.kernel);
  Tensor y = cell.kind == Cell::Kind::kConvLstm
                 ? ops::Conv(x, kernel, Tensor(), {.window = cell.window})
                 : MatMul(x, kernel);
  if (!cell.bias) return y;
  // A GRU that applies the reset gate after the product has two biases: for the
  // input's product and for the state's.
  const Tensor bias = capture(cell.bias);
  return y + (bias.rank() == 2
                  ? Squeeze(SliceAxis(bias, 0, Dim(0), Dim(1)), {0})
                  : bias);
}

Tensor StateProduct(const Cell& cell, const Capture& capture, Tensor h) {
  const Tensor recurrent = capture(cell.recurrent);
  return cell.kind == Cell::Kind::kConvLstm
             ? ops::Conv(h, recurrent, Tensor(), {.window = cell.state_window})
             : MatMul(h, recurrent);
}

// Returns the states after a step; the first is the output.
States Step(const Cell& cell, const Capture& capture, Tensor projected,
            const States& before) {
  LayerContext& c = *cell.c;
  const Tensor h = before[0];
  if (cell.kind == Cell::Kind::kSimple) {
    return {Activated(c, projected + StateProduct(cell, capture, h))};
  }
  const auto count = static_cast<int64_t>(cell.gates());
  const auto units =
      ops::DivideElementCounts({projected.dim(-1)}, {Dim(count)});
  if (!units) {
    c.FailInvalid("weights: expected " + std::to_string(count) +
                  " gates of one size, found " + projected.dim(-1).ToString() +
                  " columns");
    return before;
  }
  const auto activated = [&](const Tensor& x) { return Activated(c, x); };
  const auto part = [&](int gate) { return GateOf(projected, gate, *units); };
  if (cell.kind != Cell::Kind::kGru) {
    const Tensor sums = projected + StateProduct(cell, capture, h);
    const auto gate = [&](int index) {
      return Recurrent(cell, GateOf(sums, index, *units));
    };
    return LstmStep({.input = gate(0),
                     .forget = gate(1),
                     .candidate = activated(GateOf(sums, 2, *units)),
                     .output = [&](const Tensor&) { return gate(3); },
                     .activation = activated},
                    before[1]);
  }
  // A GRU follows, whose weights have the gates in the order update, reset,
  // candidate.
  if (c.config().Flag("reset_after", c.major_version() >= 3)) {
    Tensor product = StateProduct(cell, capture, h);
    if (cell.bias) {
      const Tensor bias = capture(cell.bias);
      if (bias.rank() == 2)
        product = product + Squeeze(SliceAxis(bias, 0, Dim(1), Dim(1)), {0});
    }
    const auto gate = [&](int index) {
      return Recurrent(cell, part(index) + GateOf(product, index, *units));
    };
    const auto of_candidate = [&](const Tensor&) {
      return GateOf(product, 2, *units);
    };
    return {GruStep({.update = gate(0),
                     .reset = gate(1),
                     .candidate = part(2),
                     .product = of_candidate,
                     .activation = activated},
                    h)};
  }
  const Tensor recurrent = capture(cell.recurrent);
  const auto product = [&](int gate, const Tensor& state) {
    return MatMul(state, SliceAxis(recurrent, 1, *units * Dim(gate), *units));
  };
  const auto of_candidate = [&](const Tensor& state) {
    return product(2, state);
  };
  return {GruStep({.update = Recurrent(cell, part(0) + product(0, h)),
                   .reset = Recurrent(cell, part(1) + product(1, h)),
                   .candidate = part(2),
                   .product = of_candidate,
                   .reset_order = ops::GruReset::kBeforeProduct,
                   .activation = activated},
                  h)};
}

bool ReadConvCell(Cell& cell, Tensor x) {
  LayerContext& c = *cell.c;
  const int spatial = x.rank() - 3;
  if (cell.kernel.rank() != spatial + 2 || cell.recurrent.rank() != spatial + 2)
    c.FailInvalid("weights: expected kernels of rank " +
                  std::to_string(spatial + 2));
  if (!c.ok()) return false;
  const auto read = [&](Tensor kernel, bool is_input, const Shape& extents,
                        ops::Window& window) {
    std::vector<int64_t> kernel_size;
    for (int i = 0; i < spatial; ++i)
      kernel_size.push_back(kernel.dim(i).AsConstant().value_or(0));
    window = ops::WindowOf(kernel_size);
    const auto count = static_cast<size_t>(spatial);
    if (is_input) {
      window.strides = c.config().Integers("strides", count, 1);
      window.dilations = c.config().Integers("dilation_rate", count, 1);
    }
    for (size_t i = 0; i < count; ++i) {
      if (!c.CheckPositive("kernel_size", kernel_size[i]) ||
          !c.CheckPositive("strides", window.strides[i]) ||
          !c.CheckPositive("dilation_rate", window.dilations[i]))
        return false;
    }
    const std::string padding = c.config().Text("padding", "valid");
    if (padding != "valid" && padding != "same")
      c.FailInvalid("padding: expected valid or same, found '" +
                    OnOneLine(padding) + "'");
    // The convolution of the state has SAME padding in any case, as it must
    // keep the size of the state.
    if (padding == "same" || !is_input) ops::PadSame(extents, true, window);
    return c.ok();
  };
  Shape extents(x.shape().begin() + 2, x.shape().end() - 1);
  if (!read(cell.kernel, true, extents, cell.window)) return false;
  cell.state_shape = {x.dim(1)};
  Shape outputs;
  for (int i = 0; i < spatial; ++i) {
    const auto at = static_cast<size_t>(i);
    const Dim padded = extents[at] + cell.window.low[at] + cell.window.high[at];
    outputs.push_back(FloorDivide(padded - Dim(cell.window.Reach(i)),
                                  Dim(cell.window.strides[at])) +
                      Dim(1));
  }
  cell.state_shape.insert(cell.state_shape.end(), outputs.begin(),
                          outputs.end());
  cell.state_shape.push_back(cell.recurrent.dim(-2));
  return read(cell.recurrent, false, outputs, cell.state_window);
}

// Reads a cell's weights and settings; false after an error. x: the input,
// [steps, batch, …].
bool ReadCell(LayerContext& owner, Cell& cell, Tensor x) {
  cell.kernel = owner.Weight(cell.weights + "kernel");
  cell.recurrent = owner.Weight(cell.weights + "recurrent_kernel");
  if (cell.c->config().Flag("use_bias", true))
    cell.bias = owner.Weight(cell.weights + "bias");
  if (!owner.ok()) return false;
  if (cell.kind == Cell::Kind::kConvLstm) return ReadConvCell(cell, x);
  if (cell.kernel.rank() != 2 || cell.recurrent.rank() != 2) {
    owner.FailInvalid("weights: expected kernels of rank 2");
    return false;
  }
  cell.state_shape = {x.dim(1), cell.recurrent.dim(0)};
  return true;
}

// Returns the cells of a layer. `layers` and `contexts` own their
// configurations.
std::vector<Cell> CellsOf(
    LayerContext& c, std::vector<std::unique_ptr<Layer>>& layers,
    std::vector<std::unique_ptr<LayerContext>>& contexts) {
  std::vector<Cell> cells;
  const auto add = [&](const Config& description, const std::string& weights) {
    StatusOr<Layer> layer = ReadLayer(description);
    const auto kind = layer.ok() ? KindOf(layer->class_name) : std::nullopt;
    if (!kind) {
      c.FailUnsupported("cell '" + OnOneLine(description.Text("class_name")) +
                        "'");
      return;
    }
    layers.push_back(std::make_unique<Layer>(*std::move(layer)));
    contexts.push_back(std::make_unique<LayerContext>(
        c.host(), c.builder(), *layers.back(), c.path(), c.depth() + 1));
    contexts.back()->set_compute_type(c.compute_type());
    Cell cell;
    cell.c = contexts.back().get();
    cell.weights = weights;
    cell.kind = *kind;
    cells.push_back(std::move(cell));
  };
  if (c.layer().class_name != "RNN") {
    Cell cell;
    cell.c = &c;
    cell.weights = "cell/";
    cell.kind = KindOf(c.layer().class_name).value_or(Cell::Kind::kSimple);
    cells.push_back(std::move(cell));
    return cells;
  }
  const Config description = c.config().Entry("cell");
  const std::vector<Config> stacked =
      description.Entry("config").Items("cells");
  if (stacked.empty()) {
    add(description, "cell/");
    return cells;
  }
  const std::vector<Role> roles = CellWeights(c.config());
  size_t role = 0;
  for (const Config& one : stacked) {
    if (role >= roles.size()) break;
    const std::string& path = roles[role].path;
    const std::string weights = path.substr(0, path.rfind('/') + 1);
    while (role < roles.size() && roles[role].path.starts_with(weights)) ++role;
    add(one, weights);
  }
  return cells;
}

}  // namespace

void ImportRecurrent(LayerContext& c) {
  const Config& config = c.config();
  if (!c.CheckRank(0, 3)) return;
  const bool time_major = config.Flag("time_major", false);
  if (config.Has("num_constants") && config.Integer("num_constants") != 0)
    return c.FailUnsupported("constants of a recurrent layer");
  Tensor x = c.Input(0);
  if (c.layer().class_name.starts_with("ConvLSTM")) {
    const int rank = c.layer().class_name.back() == 'D'
                         ? c.layer().class_name[8] - '0' + 3
                         : 5;
    if (!c.CheckRank(0, rank, rank)) return;
    if (c.is_channels_first())
      return c.FailUnsupported("data_format: channels_first");
  }
  const auto swapped = [](Tensor value) {
    std::vector<int64_t> order{1, 0};
    for (int i = 2; i < value.rank(); ++i) order.push_back(i);
    return Transpose(value, order);
  };
  if (!time_major) x = swapped(x);
  Tensor mask = c.Mask(0);
  if (const Tensor given = c.NamedTensor("mask")) mask = given;
  if (mask && !time_major) mask = swapped(mask);
  if (config.Flag("go_backwards", false)) {
    x = Reverse(x, 0);
    if (mask) mask = Reverse(mask, 0);
  }

  std::vector<std::unique_ptr<Layer>> layers;
  std::vector<std::unique_ptr<LayerContext>> contexts;
  std::vector<Cell> cells = CellsOf(c, layers, contexts);
  if (!c.ok() || cells.empty()) return;
  for (size_t i = 0; i < cells.size(); ++i) {
    // In a stack of cells, the input of a cell is the first state of the cell
    // before it.
    if (!ReadCell(c, cells[i], x)) return;
  }

  // The initial states are the given operands, the states of the previous run,
  // or zeros.
  const bool stateful = config.Flag("stateful", false);
  std::vector<Signal> given(c.inputs.begin() + 1, c.inputs.end());
  if (const Given* named = c.Named("initial_state")) given = named->signals;
  int count = 0;
  for (const Cell& cell : cells) count += cell.state_count();
  if (!given.empty() && static_cast<int>(given.size()) != count) {
    return c.FailInvalid("expected " + std::to_string(count) +
                         " initial states, found " +
                         std::to_string(given.size()));
  }
  States initial;
  for (const Cell& cell : cells) {
    for (int s = 0; s < cell.state_count(); ++s) {
      const size_t at = initial.size();
      if (at < given.size()) {
        initial.push_back(Cast(given[at].value, x.dtype()));
      } else if (stateful) {
        initial.push_back(
            c.host().State(c.layer().name + "_state_" + std::to_string(at),
                           x.dtype(), cell.state_shape));
      } else {
        initial.push_back(Broadcast(c.Scalar(0, x.dtype()), cell.state_shape));
      }
    }
  }
  const size_t states = initial.size();
  const bool zero_masked = config.Flag("zero_output_for_mask", false);
  // The output of a masked step is that of the step before, unless
  // zero_output_for_mask is set.
  const bool keeps_output = mask && !zero_masked;
  if (!c.ok()) return;

  // The input of a single cell is projected for all steps at once. With a mask
  // that is impossible, because the mask is carried as one of the features of
  // the input.
  const Capture same = [](Tensor value) { return value; };
  Tensor sequence = x;
  const bool projected =
      cells.size() == 1 && cells[0].kind != Cell::Kind::kConvLstm && !mask;
  if (projected) sequence = Project(cells[0], same, x);
  Dim features;
  if (mask) {
    // The loop runs over one tensor, so the mask becomes one more feature.
    if (x.rank() != 3)
      return c.FailUnsupported("a mask of a sequence of images");
    features = x.dim(2);
    sequence = Concat({x, Unsqueeze(Cast(mask, x.dtype()), {2})}, /*axis=*/2);
  }
  if (keeps_output) {
    initial.push_back(
        Broadcast(c.Scalar(0, x.dtype()), cells.back().state_shape));
  }
  if (!c.ok()) return;
  const bool return_sequences = config.Flag("return_sequences", false);
  const States results = ops::RunSteps(
      sequence, initial, /*keep_outputs=*/true,
      [&](const Capture& capture, Tensor, Tensor input, const States& before) {
        Tensor kept;
        if (mask) {
          kept = NotEqual(SliceAxis(input, 1, features, Dim(1)), 0);
          input = SliceAxis(input, 1, Dim(0), features);
        }
        States after;
        Tensor below = input;
        size_t at = 0;
        for (const Cell& cell : cells) {
          const States own(before.begin() + static_cast<std::ptrdiff_t>(at),
                           before.begin() + static_cast<std::ptrdiff_t>(
                                                at + static_cast<size_t>(
                                                         cell.state_count())));
          const Tensor gates =
              projected ? below : Project(cell, capture, below);
          const States next = Step(cell, capture, gates, own);
          for (size_t s = 0; s < next.size(); ++s)
            after.push_back(kept ? Select(kept, next[s], own[s]) : next[s]);
          below = next[0];
          at += own.size();
        }
        if (keeps_output) {
          below = Select(kept, below, before[states]);
          after.push_back(below);
        } else if (kept) {
          below = below * Cast(kept, below.dtype());
        }
        after.push_back(below);
        return after;
      });
  if (!c.ok() || results.size() != initial.size() + 1) return;
  const Tensor all = results.back();
  if (return_sequences) {
    c.SetOutput(time_major ? all : swapped(all));
  } else {
    // The result is the output of the last step, not the last state: they
    // differ if steps are masked.
    c.SetOutput(Squeeze(SliceAxis(all, 0, all.dim(0) - Dim(1), Dim(1)), {0}));
  }
  if (config.Flag("return_state", false)) {
    for (size_t s = 0; s < states; ++s)
      c.SetOutput(static_cast<int>(s) + 1, results[s]);
  }
  if (stateful) {
    for (size_t s = 0; s < states; ++s) {
      c.host().SetState(c.layer().name + "_state_" + std::to_string(s),
                        results[s]);
    }
  }
  if (return_sequences && c.Mask(0)) c.SetMask(0, c.Mask(0));
}

}  // namespace ember::keras

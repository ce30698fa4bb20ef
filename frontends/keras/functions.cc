// Functions that functional models call without a layer: TFOpLambda of Keras 2
// (arguments by position and by name, as in tf.…), and keras.ops of Keras 3.
#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "base/one_line.h"
#include "compiler/graph/builder/unit_dims.h"
#include "frontends/keras/activation.h"
#include "frontends/keras/layer_table.h"

namespace ember::keras {
namespace {

// Returns a constant from a number or from nested lists of numbers; nullopt for
// any other value, and for lists that are empty, too long, or do not fill a
// tensor.
std::optional<Tensor> ConstantOf(LayerContext& c, const Config& config,
                                 DType type) {
  if (const auto number = config.AsNumber()) return c.Scalar(*number, type);
  Shape shape;
  Config at = config;
  while (at.is_list() && shape.size() < static_cast<size_t>(kMaxRank)) {
    const std::vector<Config> items = at.Items();
    shape.push_back(Dim(static_cast<int64_t>(items.size())));
    if (items.empty()) return std::nullopt;
    at = items[0];
  }
  std::vector<double> values;
  std::vector<Config> open{config};
  while (!open.empty()) {
    const Config next = open.back();
    open.pop_back();
    if (const auto number = next.AsNumber()) {
      values.push_back(*number);
      continue;
    }
    std::vector<Config> items = next.Items();
    if (!next.is_list() || values.size() > (1 << 20)) return std::nullopt;
    for (size_t i = items.size(); i-- > 0;) open.push_back(items[i]);
  }
  const auto constants = ops::AsConstants(shape);
  std::optional<int64_t> count = 1;
  for (const int64_t dim : *constants)
    if (count) count = CheckedMultiply(*count, dim);
  if (count != static_cast<int64_t>(values.size()) || shape.empty())
    return std::nullopt;
  return Cast(Reshape(c.Vector(values), shape), type);
}

// Arguments of a function, looked up by position or by one of several names.
class Arguments {
 public:
  explicit Arguments(LayerContext& c) : c_(c) {}

  const Given* Find(size_t position,
                    std::initializer_list<std::string_view> names) const {
    if (position < c_.arguments.size()) return &c_.arguments[position];
    for (const std::string_view name : names)
      if (const Given* given = c_.Named(name)) return given;
    return nullptr;
  }

  // Returns an argument that is a tensor, or a number as a constant in the type
  // of the first tensor. Fails if there is no such argument.
  Tensor Value(size_t position, std::initializer_list<std::string_view> names) {
    const Given* given = Find(position, names);
    if (given != nullptr && !given->signals.empty())
      return given->signals[0].value;
    const DType type = c_.inputs.empty() ? DType::kF32 : c_.Input(0).dtype();
    if (given != nullptr && given->constant) {
      if (const auto constant = ConstantOf(c_, *given->constant, type))
        return *constant;
    }
    c_.FailInvalid("expected argument " + std::to_string(position) +
                   " to be a tensor or numbers");
    return c_.Wrap(nullptr);
  }

  // Returns a constant argument or, if the call has none, the entry of the
  // layer's configuration, where Keras 3 writes it; nullopt if there is
  // neither.
  std::optional<Config> Constant(
      size_t position, std::initializer_list<std::string_view> names) const {
    const Given* given = Find(position, names);
    if (given != nullptr && given->constant &&
        given->constant->json() != nullptr)
      return given->constant;
    for (const std::string_view name : names)
      if (c_.config().Has(name)) return c_.config().Entry(name);
    return std::nullopt;
  }

  std::vector<int64_t> Integers(
      size_t position, std::initializer_list<std::string_view> names) const {
    const std::optional<Config> constant = Constant(position, names);
    std::vector<int64_t> values;
    if (!constant) return values;
    if (const auto one = constant->AsInteger()) return {*one};
    for (const Config& item : constant->Items()) {
      const auto value = item.AsInteger();
      if (!value) {
        c_.FailInvalid("expected integers as argument " +
                       std::to_string(position));
        return {};
      }
      values.push_back(*value);
    }
    return values;
  }

  bool Flag(size_t position, std::initializer_list<std::string_view> names) {
    const auto constant = Constant(position, names);
    return constant && constant->AsFlag();
  }

 private:
  LayerContext& c_;
};

template <typename Combine>
void CallBinary(LayerContext& c, const Combine& combine) {
  Arguments arguments(c);
  const Tensor a = arguments.Value(0, {"x", "a", "x1"});
  const Tensor b = arguments.Value(1, {"y", "b", "x2"});
  if (c.ok()) c.SetOutput(combine(a, b));
}

void CallReduction(LayerContext& c, std::string_view combiner) {
  Arguments arguments(c);
  const Tensor x = arguments.Value(0, {"input_tensor", "x"});
  if (!c.ok()) return;
  std::vector<int64_t> axes = arguments.Integers(1, {"axis"});
  if (axes.empty())
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  axes = c.Axes(axes, x.rank());
  const bool keep = arguments.Flag(2, {"keepdims"});
  if (!c.ok()) return;
  c.SetOutput(combiner == "mean" ? Mean(x, axes, keep)
                                 : Reduce(x, combiner, axes, keep));
}

}  // namespace

void CallScalar(LayerContext& c, Tensor (*function)(Tensor)) {
  const Tensor x = Arguments(c).Value(0, {"x", "input"});
  if (c.ok()) c.SetOutput(function(x));
}
void CallIdentity(LayerContext& c) {
  CallScalar(c, [](Tensor x) { return x; });
}
void CallAdd(LayerContext& c) {
  CallBinary(c, [](Tensor a, Tensor b) { return a + b; });
}
void CallSubtract(LayerContext& c) {
  CallBinary(c, [](Tensor a, Tensor b) { return a - b; });
}
void CallMultiply(LayerContext& c) {
  CallBinary(c, [](Tensor a, Tensor b) { return a * b; });
}
void CallDivide(LayerContext& c) {
  CallBinary(c, [](Tensor a, Tensor b) { return a / b; });
}
void CallMaximum(LayerContext& c) {
  CallBinary(c, [](Tensor a, Tensor b) { return Maximum(a, b); });
}
void CallMinimum(LayerContext& c) {
  CallBinary(c, [](Tensor a, Tensor b) { return Minimum(a, b); });
}
void CallPower(LayerContext& c) {
  CallBinary(c, [](Tensor a, Tensor b) { return Power(a, b); });
}
void CallMatMul(LayerContext& c) {
  CallBinary(c, [](Tensor a, Tensor b) { return MatMul(a, b); });
}
void CallReduceMax(LayerContext& c) { CallReduction(c, "maximum"); }
void CallReduceMin(LayerContext& c) { CallReduction(c, "minimum"); }
void CallReduceSum(LayerContext& c) { CallReduction(c, "sum"); }
void CallReduceProduct(LayerContext& c) { CallReduction(c, "product"); }
void CallReduceMean(LayerContext& c) { CallReduction(c, "mean"); }

void CallClip(LayerContext& c) {
  Arguments arguments(c);
  const Tensor x = arguments.Value(0, {"t", "x"});
  const auto low = arguments.Constant(1, {"clip_value_min", "x_min"});
  const auto high = arguments.Constant(2, {"clip_value_max", "x_max"});
  if (!c.ok()) return;
  if (!low || !high || !low->AsNumber() || !high->AsNumber())
    return c.FailUnsupported("bounds that are no constants");
  c.SetOutput(Clip(x, *low->AsNumber(), *high->AsNumber()));
}

void CallConcatenate(LayerContext& c) {
  Arguments arguments(c);
  const Given* values = arguments.Find(0, {"values", "xs"});
  const std::vector<int64_t> axis = arguments.Integers(1, {"axis"});
  std::vector<Tensor> parts;
  if (values != nullptr)
    for (const Signal& signal : values->signals) parts.push_back(signal.value);
  if (parts.empty() || axis.size() != 1)
    return c.FailInvalid("expected tensors and an axis");
  c.SetOutput(Concat(parts, c.Axis(axis[0], parts[0].rank())));
}

void CallStack(LayerContext& c) {
  Arguments arguments(c);
  const Given* values = arguments.Find(0, {"values", "x"});
  std::vector<int64_t> axis = arguments.Integers(1, {"axis"});
  if (axis.empty()) axis = {0};
  if (values == nullptr || values->signals.empty())
    return c.FailInvalid("expected tensors, found none");
  const int at = c.Axis(axis[0], values->signals[0].value.rank() + 1);
  std::vector<Tensor> parts;
  for (const Signal& signal : values->signals)
    parts.push_back(Unsqueeze(signal.value, {at}));
  if (c.ok()) c.SetOutput(Concat(parts, at));
}

void CallExpandDims(LayerContext& c) {
  Arguments arguments(c);
  const Tensor x = arguments.Value(0, {"input", "x"});
  const std::vector<int64_t> axis = arguments.Integers(1, {"axis"});
  if (!c.ok()) return;
  if (axis.size() != 1) return c.FailInvalid("expected an axis");
  c.SetOutput(Unsqueeze(x, {c.Axis(axis[0], x.rank() + 1)}));
}

void CallSqueeze(LayerContext& c) {
  Arguments arguments(c);
  const Tensor x = arguments.Value(0, {"input", "x"});
  std::vector<int64_t> axes = arguments.Integers(1, {"axis"});
  if (!c.ok()) return;
  if (axes.empty()) axes = graph::UnitAxes(c.builder(), x.shape());
  axes = c.Axes(axes, x.rank());
  if (c.ok()) c.SetOutput(Squeeze(x, axes));
}

// Calls a reshape function. Its shape argument has all dims: one may be -1, and
// the first may be the open batch.
void CallReshape(LayerContext& c) {
  Arguments arguments(c);
  const Tensor x = arguments.Value(0, {"tensor", "x"});
  std::vector<int64_t> dims = arguments.Integers(1, {"shape", "newshape"});
  if (!c.ok()) return;
  Shape shape, rest;
  int open = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == -1 && open < 0) {
      open = static_cast<int>(i);
      shape.push_back(Dim(1));
      continue;
    }
    if (dims[i] < 0) return c.FailInvalid("shape: expected one dim of -1");
    shape.push_back(Dim(dims[i]));
    rest.push_back(shape.back());
  }
  if (open >= 0) {
    const auto left = ops::DivideElementCounts(x.shape(), rest);
    if (!left)
      return c.FailInvalid("shape: expected a divisor of " +
                           graph::ShapeToString(x.shape()));
    shape[static_cast<size_t>(open)] = *left;
  }
  c.SetOutput(Reshape(x, shape));
}

void CallTranspose(LayerContext& c) {
  Arguments arguments(c);
  const Tensor x = arguments.Value(0, {"a", "x"});
  std::vector<int64_t> order = arguments.Integers(1, {"perm", "axes"});
  if (!c.ok()) return;
  if (order.empty())
    for (int i = x.rank(); i-- > 0;) order.push_back(i);
  if (static_cast<int>(c.Axes(order, x.rank()).size()) != x.rank() ||
      static_cast<int>(order.size()) != x.rank())
    return c.FailInvalid("expected an order of all dims");
  for (int64_t& axis : order) axis = axis < 0 ? axis + x.rank() : axis;
  c.SetOutput(Transpose(x, order));
}

void CallCast(LayerContext& c) {
  Arguments arguments(c);
  const Tensor x = arguments.Value(0, {"x"});
  const auto name = arguments.Constant(1, {"dtype"});
  if (!c.ok()) return;
  static constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"float32", DType::kF32},   {"float16", DType::kF16},
      {"bfloat16", DType::kBF16}, {"float64", DType::kF64},
      {"int32", DType::kI32},     {"int64", DType::kI64},
      {"uint8", DType::kU8},      {"int8", DType::kI8},
      {"bool", DType::kBool}};
  const std::string wanted = name ? name->AsText().value_or("") : "";
  for (const auto& [text, type] : kTypes)
    if (text == wanted) return c.SetOutput(Cast(x, type));
  c.FailUnsupported("dtype '" + OnOneLine(wanted) + "'");
}

// Calls the activation that the function's name denotes, such as "nn.relu6" or
// "HardSigmoid".
void CallActivation(LayerContext& c) {
  Arguments arguments(c);
  const Tensor x = arguments.Value(0, {"x", "features", "logits"});
  if (!c.ok()) return;
  const bool is_lambda = c.layer().class_name == "TFOpLambda";
  const std::string name =
      is_lambda ? c.config().Text("function") : c.layer().class_name;
  std::string plain = name.substr(name.rfind('.') + 1);
  if (!is_lambda) {
    std::string snake;
    for (size_t i = 0; i < plain.size(); ++i) {
      const auto letter = static_cast<unsigned char>(plain[i]);
      if (i > 0 && std::isupper(letter) != 0) snake += '_';
      snake += static_cast<char>(std::tolower(letter));
    }
    plain = snake;
  }
  // gelu, softmax, log_softmax and leaky_relu have arguments that change what
  // they compute. All other activations have only the argument x.
  if (plain == "gelu") {
    const auto approximate = arguments.Constant(1, {"approximate"});
    // The gelu of keras.ops is the approximation unless `approximate` is false.
    if (approximate ? approximate->AsFlag() : !is_lambda)
      return c.SetOutput(TanhGelu(x));
  }
  if (plain == "softmax" || plain == "log_softmax") {
    std::vector<int64_t> axis = arguments.Integers(1, {"axis"});
    const int at = c.Axis(axis.empty() ? -1 : axis[0], x.rank());
    if (!c.ok()) return;
    return c.SetOutput(plain == "softmax" ? Softmax(x, at)
                                          : ops::LogSoftmax(x, at));
  }
  if (plain == "leaky_relu") {
    const auto slope = arguments.Constant(1, {"alpha", "negative_slope"});
    const double by = slope ? slope->AsNumber().value_or(0.2) : 0.2;
    return c.SetOutput(LeakyRelu(x, by));
  }
  c.SetOutput(ActivatedBy(c, x, plain));
}

}  // namespace ember::keras

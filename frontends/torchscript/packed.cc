#include "frontends/torchscript/packed.h"

#include <string>
#include <utility>

#include "base/one_line.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

Value NewPacked(Call& c, std::vector<Value> state) {
  Value made;
  made.kind = Kind::kObject;
  made.object = &c.machine().NewObject("__torch__.torch.classes.packed");
  made.object->attributes.emplace(kPackedState,
                                  c.machine().NewTuple(std::move(state)));
  return made;
}

// Returns the list of items in the state of a packed layer, the argument
// `name`. It has at least `least` items; null after an error.
const std::vector<Value>* StateOf(Call& c, std::string_view name,
                                  size_t least) {
  const Value& value = c.value(name);
  if (value.is(Kind::kObject)) {
    const auto state = value.object->attributes.find(kPackedState);
    if (state != value.object->attributes.end() &&
        state->second.is_sequence() &&
        state->second.list->items.size() >= least)
      return &state->second.list->items;
  }
  c.FailUnsupported(std::string(name) +
                    ": expected the packed weights of a layer, found " +
                    OnOneLine(Describe(value)));
  return nullptr;
}

bool IsTensorOrNone(const Value& value) {
  return value.is_tensor() || value.is_none();
}
bool CheckWeights(Call& c, std::string_view name, const Value& weight,
                  const Value& bias) {
  if (weight.is_tensor() && IsTensorOrNone(bias)) return true;
  c.FailInvalid(
      std::string(name) + ": expected a weight and a bias, or None, found " +
      OnOneLine(Describe(weight)) + " and " + OnOneLine(Describe(bias)));
  return false;
}

std::optional<std::vector<int64_t>> IntegersOf(Call& c, const Value& value) {
  std::vector<int64_t> numbers;
  if (value.is_tensor()) {
    const auto known =
        c.builder().ConstantContents(c.machine().Read(*value.cell).value());
    if (!known) return std::nullopt;
    for (const double number : *known)
      numbers.push_back(static_cast<int64_t>(number));
    return numbers;
  }
  if (!value.is_sequence()) return std::nullopt;
  for (const Value& item : value.list->items) {
    if (!item.is_known_number()) return std::nullopt;
    numbers.push_back(static_cast<int64_t>(item.known_number()));
  }
  return numbers;
}

// Returns the `count` numbers from index `next` on, and moves `next` behind
// them; nullopt if there are fewer.
std::optional<std::vector<int64_t>> Take(const std::vector<int64_t>& numbers,
                                         size_t& next, size_t count) {
  if (numbers.size() - next < count) return std::nullopt;
  const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(next);
  next += count;
  return std::vector<int64_t>(begin,
                              begin + static_cast<std::ptrdiff_t>(count));
}

// Reads the list of numbers in the state of a quantized convolution: spatial
// rank, stride…, padding…, dilation…, output_padding…, groups, transposed.
// Returns false if the list has another form.
bool ReadNumbers(const std::vector<int64_t>& numbers,
                 PackedConvolution& layer) {
  if (numbers.empty() || numbers[0] < 1 || numbers[0] > 3) return false;
  const auto rank = static_cast<size_t>(numbers[0]);
  size_t next = 1;
  for (std::vector<int64_t>* part : {&layer.stride, &layer.padding,
                                     &layer.dilation, &layer.output_padding}) {
    std::optional<std::vector<int64_t>> taken = Take(numbers, next, rank);
    if (!taken) return false;
    *part = *std::move(taken);
  }
  const auto last = Take(numbers, next, 2);
  if (!last) return false;
  layer.groups = (*last)[0];
  layer.is_transposed = ((*last)[1] & 1) != 0;
  return true;
}

// Reads the state of a quantized convolution. It has one of two forms, by the
// age of the archive: ("2", [numbers, weight], [bias]) or (3, numbers, [None,
// weight, bias]). Returns false if it has neither.
bool ReadQuantized(Call& c, const std::vector<Value>& state,
                   PackedConvolution& layer) {
  if (state.size() != 3 || !state[1].is_sequence() || !state[2].is_sequence())
    return false;
  const std::vector<Value>& second = state[1].list->items;
  const std::vector<Value>& third = state[2].list->items;
  const bool is_old = state[0].is(Kind::kString);
  if (is_old ? second.size() < 2 || third.empty() : third.size() < 3)
    return false;
  const auto numbers = IntegersOf(c, is_old ? second[0] : state[1]);
  if (!numbers || !ReadNumbers(*numbers, layer)) return false;
  layer.weight = is_old ? second[1] : third[1];
  layer.bias = is_old ? third[0] : third[2];
  return true;
}

// Reads the state of a convolution that was packed for a mobile build: (weight,
// bias, stride, padding, [output_padding,] dilation, groups, least, most).
// Returns false if it has another form.
bool ReadMobile(Call& c, const std::vector<Value>& state,
                PackedConvolution& layer) {
  if (state.size() != 8 && state.size() != 9) return false;
  layer.is_transposed = state.size() == 9;
  layer.weight = state[0];
  layer.bias = state[1];
  size_t next = 2;
  std::vector<std::vector<int64_t>*> parts = {&layer.stride, &layer.padding};
  if (layer.is_transposed) parts.push_back(&layer.output_padding);
  parts.push_back(&layer.dilation);
  for (std::vector<int64_t>* part : parts) {
    auto numbers = IntegersOf(c, state[next++]);
    if (!numbers) return false;
    *part = *std::move(numbers);
  }
  if (!layer.is_transposed) layer.output_padding = {0};
  if (!state[next].is_known_number()) return false;
  layer.groups = static_cast<int64_t>(state[next++].known_number());
  layer.least = state[next++];
  layer.most = state[next];
  return true;
}

}  // namespace

std::optional<PackedLinear> ReadPackedLinear(Call& c, std::string_view name) {
  const std::vector<Value>* state = StateOf(c, name, 2);
  if (state == nullptr) return std::nullopt;
  PackedLinear layer{.weight = (*state)[0], .bias = (*state)[1]};
  if (state->size() >= 4) {
    layer.least = (*state)[2];
    layer.most = (*state)[3];
  }
  if (!CheckWeights(c, name, layer.weight, layer.bias)) return std::nullopt;
  return layer;
}

Value PackedConvolution::List(Machine& machine,
                              const std::vector<int64_t>& numbers) {
  std::vector<Value> items;
  for (const int64_t number : numbers) items.push_back(Value::Int(Dim(number)));
  return machine.NewList(std::move(items));
}

std::optional<PackedConvolution> ReadPackedConvolution(Call& c,
                                                       std::string_view name) {
  const std::vector<Value>* state = StateOf(c, name, 3);
  if (state == nullptr) return std::nullopt;
  PackedConvolution layer;
  if (!ReadQuantized(c, *state, layer) && !ReadMobile(c, *state, layer)) {
    c.FailUnsupported(std::string(name) +
                      ": expected the state of a packed convolution, found a "
                      "state of " +
                      std::to_string(state->size()) + " other parts");
    return std::nullopt;
  }
  if (!CheckWeights(c, name, layer.weight, layer.bias)) return std::nullopt;
  return layer;
}

Value PackLinear(Call& c) {
  std::vector<Value> state = {c.value("W"), c.value("B")};
  for (const SchemaParameter& parameter : c.schema().parameters)
    if (parameter.name.starts_with("output_"))
      state.push_back(c.value(parameter.name));
  return NewPacked(c, std::move(state));
}
Value PackConvolution(Call& c) {
  return NewPacked(c,
                   {c.value("weight"), c.value("bias"), c.value("stride"),
                    c.value("padding"), c.value("dilation"), c.value("groups"),
                    c.value("output_min"), c.value("output_max")});
}
Value PackTransposedConvolution(Call& c) {
  return NewPacked(
      c, {c.value("weight"), c.value("bias"), c.value("stride"),
          c.value("padding"), c.value("output_padding"), c.value("dilation"),
          c.value("groups"), c.value("output_min"), c.value("output_max")});
}
Value UnpackLayer(Call& c) {
  const std::string name = c.schema().parameters[0].name;
  if (name == "W_prepack") {
    const std::optional<PackedLinear> layer = ReadPackedLinear(c, name);
    return layer ? c.machine().NewTuple({layer->weight, layer->bias}) : Value();
  }
  const std::optional<PackedConvolution> layer = ReadPackedConvolution(c, name);
  return layer ? c.machine().NewTuple({layer->weight, layer->bias}) : Value();
}

}  // namespace ember::torchscript

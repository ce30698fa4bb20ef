#include "frontends/torchscript/quantized_values.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "frontends/ops/quantization.h"

namespace ember::torchscript {
namespace {

// Operators that accept quantized tensors without conversion, in addition to
// the operators of the namespaces quantized and prim: queries about a tensor,
// and operators on containers, which only store values.
constexpr std::string_view kAsTheyAre[] = {
    "aten::dequantize",
    "aten::int_repr",
    "aten::q_scale",
    "aten::q_zero_point",
    "aten::size",
    "aten::dim",
    "aten::len",
    "aten::numel",
    "aten::stride",
    "aten::is_contiguous",
    "aten::is_floating_point",
    "aten::append",
    "aten::insert",
    "aten::extend",
    "aten::list",
    "aten::dict",
    "aten::copy",
    "aten::pop",
    "aten::values",
    "aten::items",
    "aten::_set_item",
    "aten::__getitem__",
    "aten::__is__",
    "aten::__isnot__",
    "aten::_unwrap_optional",
};
// Operators that only move elements, so that they can be called with the
// integers of a quantized tensor.
constexpr std::string_view kMovement[] = {
    "aten::alias",
    "aten::chunk",
    "aten::clone",
    "aten::contiguous",
    "aten::cpu",
    "aten::detach",
    "aten::dropout",
    "aten::expand",
    "aten::expand_as",
    "aten::feature_dropout",
    "aten::flatten",
    "aten::flip",
    "aten::gather",
    "aten::index",
    "aten::index_select",
    "aten::masked_select",
    "aten::max_pool1d",
    "aten::max_pool2d",
    "aten::max_pool3d",
    "aten::movedim",
    "aten::narrow",
    "aten::permute",
    "aten::pixel_shuffle",
    "aten::pixel_unshuffle",
    "aten::repeat",
    "aten::reshape",
    "aten::roll",
    "aten::select",
    "aten::slice",
    "aten::split",
    "aten::squeeze",
    "aten::t",
    "aten::tile",
    "aten::transpose",
    "aten::unbind",
    "aten::unflatten",
    "aten::unsqueeze",
    "aten::upsample_nearest1d",
    "aten::upsample_nearest2d",
    "aten::upsample_nearest3d",
    "aten::view",
    "aten::channel_shuffle",
};

// Operators whose results are weighted means of their operand's elements, and
// have its quantization. They are called with the integers: a mean of integers
// is exact, while the same mean of real numbers may be rounded to the other
// side of a half.
constexpr std::string_view kAverages[] = {
    "aten::adaptive_avg_pool1d",
    "aten::adaptive_avg_pool2d",
    "aten::adaptive_avg_pool3d",
    "aten::avg_pool1d",
    "aten::avg_pool2d",
    "aten::avg_pool3d",
    "aten::mean",
    "aten::upsample_bilinear2d",
    "aten::upsample_linear1d",
    "aten::upsample_trilinear3d",
};

bool IsAmong(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool HoldsQuantized(const Value& value) {
  if (value.is_quantized()) return true;
  return value.is_sequence() &&
         std::ranges::any_of(value.list->items, [](const Value& item) {
           return item.is_quantized();
         });
}
// Returns the first quantized tensor among the arguments, or in a list among
// them; null if there is none.
const Value* FirstQuantized(const std::vector<Argument>& arguments) {
  for (const Argument& argument : arguments) {
    if (argument.value.is_quantized()) return &argument.value;
    if (!argument.value.is_sequence()) continue;
    for (const Value& item : argument.value.list->items)
      if (item.is_quantized()) return &item;
  }
  return nullptr;
}

// Returns an argument with each tensor in it replaced by what `change` returns.
// Lists may contain each other, so the depth is limited.
Value Changed(Machine& machine, const Value& value,
              const std::function<Value(const Value&)>& change, int depth = 0) {
  if (value.is_tensor()) return change(value);
  if (!value.is_sequence() || depth > kMaxListDepth || !machine.Charge(1))
    return value;
  std::vector<Value> items;
  const std::vector<Value> given = value.list->items;
  for (const Value& item : given)
    items.push_back(Changed(machine, item, change, depth + 1));
  return value.is(Value::Kind::kTuple) ? machine.NewTuple(std::move(items))
                                       : machine.NewList(std::move(items));
}

// Returns the quantization of the result of the operator `name`: that of its
// operand `like`, except for functions with a fixed range of results (such as
// sigmoid), which have a fixed scale.
Quantization ResultOf(Machine& machine, std::string_view name,
                      const Value& like, DType type) {
  const auto fixed = [&](double scale, double zero_point) {
    graph::GraphBuilder& builder = machine.builder();
    return Quantization{
        .scale = {&builder, builder.Scalar(scale, DType::kF32)},
        .zero_point = {&builder, builder.Scalar(zero_point, DType::kI32)}};
  };
  const bool is_signed = type == DType::kI8;
  if (name == "aten::sigmoid" || name == "aten::hardsigmoid")
    return fixed(1.0 / 256, is_signed ? -128 : 0);
  if (name == "aten::tanh") return fixed(2.0 / 256, is_signed ? 0 : 128);
  return *like.cell->quantization;
}

// An operator was called with `copy`, the integers of the quantized tensor
// `base`, and returned `view`. If that is a view of `copy`, returns the same
// view of `base`; else nullopt.
std::optional<Value> AsViewOf(Machine& machine, Cell& base, const Cell* copy,
                              Cell* view) {
  std::vector<const Cell*> chain;
  bool can_write = machine.IsRowMajor(base);
  for (const Cell* at = view; at != copy; at = at->base) {
    if (at == nullptr) return std::nullopt;
    chain.insert(chain.begin(), at);
    can_write = can_write && at->write;
  }
  if (chain.empty()) return std::nullopt;
  std::function<Tensor(Tensor, Tensor)> write;
  if (can_write) {
    write = [chain](Tensor x, Tensor part) {
      std::vector<Tensor> bases;
      for (const Cell* cell : chain) {
        bases.push_back(x);
        x = cell->read(x);
      }
      for (size_t i = chain.size(); i-- > 0;)
        part = chain[i]->write(bases[i], part);
      return part;
    };
  }
  return machine.NewView(
      base, machine.StridesOf(*view),
      [chain](Tensor x) {
        for (const Cell* cell : chain) x = cell->read(x);
        return x;
      },
      std::move(write));
}

}  // namespace

Tensor AlongItsAxis(Machine& machine, const Tensor& parameter, int axis,
                    int rank) {
  const Tensor inside = machine.Inside(parameter);
  return axis < 0 || inside.rank() != 1 ? inside
                                        : ops::AlongAxis(inside, axis, rank);
}

Tensor Dequantized(Machine& machine, const Value& value) {
  if (!value.is_quantized()) return machine.ToTensor(value);
  const Tensor x = machine.Read(*value.cell);
  const Quantization& q = *value.cell->quantization;
  return ops::Dequantize(x, AlongItsAxis(machine, q.scale, q.axis, x.rank()),
                         AlongItsAxis(machine, q.zero_point, q.axis, x.rank()));
}

// Returns the integers of a quantized tensor minus the zero point, as f32.
Tensor Centered(Machine& machine, const Value& value) {
  const Tensor x = machine.Read(*value.cell);
  const Tensor zero_point =
      machine.Inside(value.cell->quantization->zero_point);
  return ops::Cast(ops::Centered(x, zero_point), DType::kF32);
}

Tensor QuantizedIntegers(Machine& machine, const Tensor& x,
                         const Quantization& quantization, DType type) {
  const Tensor scale =
      AlongItsAxis(machine, quantization.scale, quantization.axis, x.rank());
  const Tensor zero_point = AlongItsAxis(machine, quantization.zero_point,
                                         quantization.axis, x.rank());
  return ops::RoundToQuantized(ops::Cast(x, DType::kF32) * (1.0 / scale),
                               zero_point, type);
}

std::optional<Integers> ReadIntegers(Call& c, const Value& value,
                                     std::string_view what) {
  if (!value.is_quantized()) {
    c.FailInvalid(std::string(what) + ": expected a quantized tensor, found " +
                  Describe(value));
    return std::nullopt;
  }
  Integers integers;
  const Tensor x = c.machine().Read(*value.cell);
  integers.quantization = *value.cell->quantization;
  integers.dtype = x.dtype();
  integers.centered = ops::Centered(
      x, AlongItsAxis(c.machine(), integers.quantization.zero_point,
                      integers.quantization.axis, x.rank()));
  if (!c.ok()) return std::nullopt;
  return integers;
}

Quantization QuantizationOf(const Tensor& x, bool is_half) {
  const double most = is_half ? 127 : 255;
  const Tensor low =
      ops::Cast(ops::Minimum(ops::Reduce(x, "minimum", AllAxes(x), false), 0),
                DType::kF64);
  const Tensor high =
      ops::Cast(ops::Maximum(ops::Reduce(x, "maximum", AllAxes(x), false), 0),
                DType::kF64);
  Tensor scale = (high - low) / most;
  scale = ops::Select(ops::LessEqual(scale, 1e-38), scale.Like(0.1), scale);
  // The zero point can be computed from either end of the range; the end with
  // the smaller rounding error is used.
  const Tensor from_low = -low / scale;
  const Tensor from_high = most - high / scale;
  const Tensor error_low = ops::Absolute(low / scale);
  const Tensor error_high = most + ops::Absolute(high / scale);
  const Tensor best =
      ops::Select(ops::Less(error_low, error_high), from_low, from_high);
  const Tensor zero_point =
      ops::Round(ops::Maximum(ops::Minimum(best, most), 0));
  return {.scale = ops::Cast(scale, DType::kF32),
          .zero_point = ops::Cast(zero_point, DType::kI32)};
}

Quantization Asked(Call& c, std::string_view scale,
                   std::string_view zero_point) {
  return {.scale = c.scalar(scale, DType::kF32),
          .zero_point = c.scalar(zero_point, DType::kI32)};
}

bool HasQuantized(const std::vector<Argument>& arguments) {
  return std::ranges::any_of(arguments, [](const Argument& argument) {
    return HoldsQuantized(argument.value);
  });
}

std::optional<Value> CallOnQuantized(Machine& machine, const std::string& name,
                                     const std::vector<Argument>& arguments,
                                     const CallFunction& call) {
  if (name.starts_with("quantized::") || name.starts_with("prim::") ||
      IsAmong(kAsTheyAre, name))
    return std::nullopt;
  const Value* first = FirstQuantized(arguments);
  if (first == nullptr) return std::nullopt;
  const Value like = *first;
  const DType type = machine.Read(*like.cell).dtype();
  const bool in_place = name.ends_with('_') && !name.ends_with("__");
  const std::string plain = in_place ? name.substr(0, name.size() - 1) : name;
  const bool has_one_scale = like.cell->quantization->axis < 0;
  const bool moves = IsAmong(kMovement, plain) && has_one_scale;
  const bool averages = IsAmong(kAverages, plain) && has_one_scale;
  std::vector<Argument> real = arguments;
  // Pairs of the copy that replaces a quantized tensor in the call, and the
  // tensor.
  std::vector<std::pair<Cell*, Cell*>> copies;
  for (Argument& argument : real) {
    argument.value = Changed(machine, argument.value, [&](const Value& tensor) {
      if (!tensor.is_quantized()) return tensor;
      Value copy = machine.NewTensor(moves      ? machine.Read(*tensor.cell)
                                     : averages ? Centered(machine, tensor)
                                                : Dequantized(machine, tensor));
      if (moves) copies.emplace_back(copy.cell, tensor.cell);
      return copy;
    });
  }
  const Value given = call(plain, real);
  if (!machine.ok()) return Value();
  const Quantization quantization = ResultOf(machine, plain, like, type);
  const Value result = Changed(machine, given, [&](const Value& tensor) {
    const Tensor y = machine.Read(*tensor.cell);
    for (const auto& [copy, own] : copies) {
      if (!machine.ok()) break;
      if (auto view = AsViewOf(machine, *own, copy, tensor.cell)) {
        view->cell->quantization =
            std::make_shared<const Quantization>(quantization);
        return *view;
      }
    }
    if (moves) return machine.NewQuantized(y, quantization);
    if (!y.is_float() || !machine.ok()) return tensor;
    if (averages) {
      const Tensor zero_point = machine.Inside(quantization.zero_point);
      return machine.NewQuantized(ops::RoundToQuantized(y, zero_point, type),
                                  quantization);
    }
    return machine.NewQuantized(
        QuantizedIntegers(machine, y, quantization, type), quantization);
  });
  if (!in_place || !result.is_tensor() || !machine.ok()) return result;
  if (result.cell->base == like.cell)
    machine.BecomeView(*like.cell, *result.cell);
  else
    machine.Write(*like.cell, machine.Read(*result.cell));
  return like;
}

}  // namespace ember::torchscript

#include "frontends/torchscript/complex_values.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace ember::torchscript {
namespace {

// Operators that are computed for complex tensors by computing them for the
// real and for the imaginary part.
constexpr std::string_view kByParts[] = {
    "aten::neg",          "aten::sum",          "aten::mean",
    "aten::cumsum",       "aten::cat",          "aten::concat",
    "aten::stack",        "aten::chunk",        "aten::clone",
    "aten::contiguous",   "aten::detach",       "aten::cpu",
    "aten::expand",       "aten::expand_as",    "aten::flatten",
    "aten::flip",         "aten::gather",       "aten::index",
    "aten::index_select", "aten::movedim",      "aten::narrow",
    "aten::permute",      "aten::repeat",       "aten::reshape",
    "aten::roll",         "aten::select",       "aten::slice",
    "aten::split",        "aten::squeeze",      "aten::t",
    "aten::tile",         "aten::transpose",    "aten::unbind",
    "aten::unflatten",    "aten::unsqueeze",    "aten::view",
    "aten::zeros_like",   "aten::fft_fftshift", "aten::fft_ifftshift",
};
// Operators that add or subtract the real and the imaginary parts of two
// operands. A real operand counts as one with an imaginary part of 0.
constexpr std::string_view kSums[] = {"aten::add", "aten::sub"};
// Operators that ask for properties (such as the shape) that the real part of a
// complex tensor shares with it; they are called with that part.
constexpr std::string_view kQuestions[] = {
    "aten::size",          "aten::dim",           "aten::numel",
    "aten::len",           "prim::shape",         "prim::ndim",
    "prim::device",        "aten::is_contiguous", "prim::layout",
    "prim::requires_grad", "prim::is_cuda",       "prim::is_cpu",
};

bool IsAmong(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}
bool HoldsComplex(const Value& value) {
  if (value.is_complex()) return true;
  return value.is_sequence() &&
         std::ranges::any_of(value.list->items, [](const Value& item) {
           return item.is_complex();
         });
}

Tensor PartOf(const Tensor& x, int part) {
  if (x.rank() == 0) return x;
  const int last = x.rank() - 1;
  return ops::Squeeze(ops::SliceAxis(x, last, Dim(part), Dim(1)), {last});
}
Tensor PartOf(Machine& machine, const Value& value, int part) {
  const Tensor x = machine.Read(*value.cell);
  return machine.ok() ? PartOf(x, part) : x;
}
Tensor JoinedParts(const Tensor& real, const Tensor& imaginary) {
  const int rank = real.rank();
  return ops::Concat(
      {ops::Unsqueeze(real, {rank}), ops::Unsqueeze(imaginary, {rank})}, rank);
}
// Returns a view of the real (0) or imaginary (1) part of a complex tensor. Its
// strides count complex numbers.
Value ComplexPart(Machine& machine, Cell& cell, int part) {
  const Shape all = machine.StridesOf(cell);
  Shape strides;
  for (size_t i = 0; i + 1 < all.size(); ++i)
    strides.push_back(FloorDivide(all[i], Dim(2)));
  return machine.NewView(
      cell, std::move(strides), [part](Tensor x) { return PartOf(x, part); },
      [part](Tensor x, Tensor value) {
        return part == 0 ? JoinedParts(value, PartOf(x, 1))
                         : JoinedParts(PartOf(x, 0), value);
      });
}
// Returns an argument with each complex tensor in it replaced by its part
// number `part` (0: real, 1: imaginary). Real tensors and numbers are
// unchanged, or become 0 if `adds` is true and the imaginary part is asked for.
// `made` collects the cells of the parts.
Value WithPart(Machine& machine, const Value& value, int part, bool adds,
               std::vector<Cell*>& made, int depth = 0) {
  if (value.is_complex()) {
    Value view = ComplexPart(machine, *value.cell, part);
    made.push_back(view.cell);
    return view;
  }
  if (adds && part == 1 && value.is_tensor()) {
    const Tensor x = machine.Read(*value.cell);
    return machine.NewTensor(ops::Broadcast(x.Like(0), x.shape()));
  }
  if (adds && part == 1 && value.is_number()) return Value::Float(0);
  // Lists may contain each other, so both the depth and the number of items
  // must be limited.
  if (!value.is_sequence() || depth > kMaxListDepth || !machine.Charge(1))
    return value;
  std::vector<Value> items;
  const std::vector<Value> given = value.list->items;
  for (const Value& item : given)
    items.push_back(WithPart(machine, item, part, adds, made, depth + 1));
  return value.is(Value::Kind::kTuple) ? machine.NewTuple(std::move(items))
                                       : machine.NewList(std::move(items));
}
// Returns the cell of `made` (parts of complex arguments) of which `cell` is a
// view, directly or through other views; null if there is none.
Cell* PartUnder(Cell* cell, const std::vector<Cell*>& made) {
  while (cell != nullptr && std::ranges::find(made, cell) == made.end())
    cell = cell->base;
  return cell;
}
// Returns the new value of the complex tensor `base` after `value` is written
// to `cell`, a view (of views) of `part`, which is a part of `base`.
Tensor WrittenThrough(Machine& machine, Cell* cell, Cell* part, Tensor value,
                      const Tensor& base) {
  for (; cell != part; cell = cell->base)
    value = cell->write(machine.Read(*cell->base), value);
  return part->write(base, value);
}
// Joins the results for both parts if they are views: `real` and `imaginary`
// are the same view of the two parts of a complex tensor, and the result is
// that view of the complex tensor.
Value JoinedView(Machine& machine, Cell* real, Cell* imaginary, Cell* real_part,
                 Cell* imaginary_part) {
  bool can_write = true;
  for (const Cell* at = real; at != real_part; at = at->base)
    can_write = can_write && at->write;
  Shape strides;
  for (const Dim& stride : machine.StridesOf(*real))
    strides.push_back(stride * Dim(2));
  strides.emplace_back(1);
  std::function<Tensor(Tensor, Tensor)> write;
  if (can_write) {
    write = [=, &machine](Tensor base, Tensor value) {
      base = WrittenThrough(machine, real, real_part, PartOf(value, 0), base);
      return WrittenThrough(machine, imaginary, imaginary_part,
                            PartOf(value, 1), base);
    };
  }
  Value view = machine.NewView(
      *real_part->base, std::move(strides),
      [=, &machine](Tensor) {
        return JoinedParts(machine.Read(*real), machine.Read(*imaginary));
      },
      std::move(write));
  view.cell->is_complex = true;
  return view;
}
Value Joined(Machine& machine, const Value& real, const Value& imaginary,
             const std::vector<Cell*>& made, int depth = 0) {
  if (real.is_tensor() && imaginary.is_tensor()) {
    Cell* const real_part = PartUnder(real.cell, made);
    Cell* const imaginary_part = PartUnder(imaginary.cell, made);
    if (real_part != nullptr && imaginary_part != nullptr)
      return JoinedView(machine, real.cell, imaginary.cell, real_part,
                        imaginary_part);
    return NewComplex(
        machine, {machine.Read(*real.cell), machine.Read(*imaginary.cell)});
  }
  if (!real.is_sequence() || !imaginary.is_sequence() ||
      real.list->items.size() != imaginary.list->items.size() ||
      depth > kMaxListDepth || !machine.Charge(1))
    return real;
  std::vector<Value> items;
  for (size_t i = 0; i < real.list->items.size(); ++i)
    items.push_back(Joined(machine, real.list->items[i],
                           imaginary.list->items[i], made, depth + 1));
  return real.is(Value::Kind::kTuple) ? machine.NewTuple(std::move(items))
                                      : machine.NewList(std::move(items));
}

}  // namespace

ops::ComplexParts PartsOf(Machine& machine, const Value& value) {
  if (!value.is_complex()) return {machine.ToTensor(value), {}};
  return {PartOf(machine, value, 0), PartOf(machine, value, 1)};
}

Value NewComplex(Machine& machine, const ops::ComplexParts& parts) {
  if (!machine.ok()) return {};
  const Tensor imaginary =
      parts.imaginary ? parts.imaginary
                      : ops::Broadcast(parts.real.Like(0), parts.real.shape());
  return machine.NewComplex(JoinedParts(parts.real, imaginary));
}

bool HasComplex(const std::vector<Argument>& arguments) {
  return std::ranges::any_of(arguments, [](const Argument& argument) {
    return HoldsComplex(argument.value);
  });
}

std::optional<Value> CallOnComplex(
    Machine& machine, const std::string& name,
    const std::vector<Argument>& arguments,
    const std::function<Value(const std::string&,
                              const std::vector<Argument>&)>& call) {
  const bool adds = IsAmong(kSums, name);
  const bool asks = IsAmong(kQuestions, name);
  if (!adds && !asks && !IsAmong(kByParts, name)) return std::nullopt;
  std::vector<Cell*> made;
  const auto of_part = [&](int part) {
    std::vector<Argument> real = arguments;
    for (Argument& argument : real) {
      const bool is_operand = argument.keyword.empty();
      argument.value =
          WithPart(machine, argument.value, part, adds && is_operand, made);
    }
    return machine.ok() ? call(name, real) : Value();
  };
  const Value real = of_part(0);
  if (asks || !machine.ok()) return real;
  const Value imaginary = of_part(1);
  return machine.ok() ? Joined(machine, real, imaginary, made) : Value();
}

}  // namespace ember::torchscript

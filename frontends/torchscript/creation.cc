// Imports operators that make tensors from numbers, and that copy or convert
// tensors.
#include <algorithm>
#include <cmath>

#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"
#include "frontends/torchscript/views.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

constexpr int64_t kMaxItems = 1 << 24;

Tensor Filled(Call& c, const Tensor& value, const Shape& shape) {
  if (!c.ok()) return value;
  if (shape.size() > static_cast<size_t>(kMaxRank)) {
    c.FailUnsupported("expected at most " + std::to_string(kMaxRank) +
                      " dims, found " + std::to_string(shape.size()));
    return value;
  }
  return ops::Broadcast(value, shape);
}
Tensor FilledWith(Call& c, double value) {
  const DType type = c.dtype("dtype", DType::kF32);
  return Filled(c, c.Number(value, type), c.dims("size"));
}
Tensor Zeros(Call& c) { return FilledWith(c, 0); }
Tensor Ones(Call& c) { return FilledWith(c, 1); }
Tensor LikeWith(Call& c, double value) {
  const Tensor x = c.tensor("self");
  const DType type = c.dtype("dtype", x.dtype());
  return Filled(c, c.Number(value, type), x.shape());
}
Tensor ZerosLike(Call& c) { return LikeWith(c, 0); }
Tensor OnesLike(Call& c) { return LikeWith(c, 1); }
Tensor NewWith(Call& c, double value) {
  const DType type = c.dtype("dtype", c.tensor("self").dtype());
  return Filled(c, c.Number(value, type), c.dims("size"));
}
Tensor NewZeros(Call& c) { return NewWith(c, 0); }
Tensor NewOnes(Call& c) { return NewWith(c, 1); }

DType TypeOfNumber(const Value& value) {
  if (value.is(Kind::kBool)) return DType::kBool;
  return value.is(Kind::kFloat) ? DType::kF32 : DType::kI64;
}
Tensor Full(Call& c) {
  const Value& value = c.value("fill_value");
  const DType own =
      value.is_tensor() ? c.tensor("fill_value").dtype() : TypeOfNumber(value);
  const DType type = c.dtype("dtype", own);
  return Filled(c, c.scalar("fill_value", type), c.dims("size"));
}
Tensor FullLike(Call& c) {
  const Tensor x = c.tensor("self");
  const DType type = c.dtype("dtype", x.dtype());
  return Filled(c, c.scalar("fill_value", type), x.shape());
}
Tensor NewFull(Call& c) {
  const DType type = c.dtype("dtype", c.tensor("self").dtype());
  return Filled(c, c.scalar("fill_value", type), c.dims("size"));
}
// Imports fill: a tensor of the shape and type of x with all elements v.
// (ZeroOf does so with 0.)
Tensor Fill(Call& c) {
  const Tensor x = c.tensor("self");
  return Filled(c, c.scalar("value", x.dtype()), x.shape());
}
Tensor ZeroOf(Call& c) {
  const Tensor x = c.tensor("self");
  return Filled(c, c.Number(0, x.dtype()), x.shape());
}
// Imports x.copy_(y).
Tensor CopyFrom(Call& c) {
  const Tensor x = c.tensor("self");
  return ops::Cast(c.tensor("src"), x.dtype());
}

Tensor Range(Call& c, bool has_start, bool has_step) {
  const auto is_float = [&](std::string_view name) {
    return c.value(name).is(Kind::kFloat);
  };
  const bool floats = is_float("end") || (has_start && is_float("start")) ||
                      (has_step && is_float("step"));
  const DType type = c.dtype("dtype", floats ? DType::kF32 : DType::kI64);
  if (!c.ok()) return {};
  if (floats) {
    const double start = has_start ? c.number("start") : 0;
    const double step = has_step ? c.number("step") : 1;
    const double count = std::ceil((c.number("end") - start) / step);
    if (!c.ok()) return {};
    if (!(count >= 0 && count < 1e12)) {
      c.FailInvalid("expected a step that leads from start to end");
      return {};
    }
    const Tensor i =
        IotaVector(c.builder(), Dim(static_cast<int64_t>(count)), DType::kF64);
    return ops::Cast(i * step + start, type);
  }
  const Dim start = has_start ? c.dim("start") : Dim(0);
  const int64_t step = has_step ? c.integer("step") : 1;
  const Dim end = c.dim("end");
  if (!c.ok()) return {};
  if (step == 0) {
    c.FailInvalid("step: expected a number other than 0");
    return {};
  }
  const Dim distance = step > 0 ? end - start : start - end;
  const Dim width(step > 0 ? step : -step);
  const Dim count =
      LargerOf(FloorDivide(distance + width - Dim(1), width), Dim(0));
  const Tensor i = IotaVector(c.builder(), count, DType::kI64);
  return ops::Cast(
      i * static_cast<double>(step) + ops::DimScalar(c.builder(), start), type);
}
Tensor ArangeEnd(Call& c) { return Range(c, false, false); }
Tensor ArangeStart(Call& c) { return Range(c, true, false); }
Tensor ArangeStep(Call& c) { return Range(c, true, true); }
Tensor Linspace(Call& c) {
  const double start = c.number("start");
  const double end = c.number("end");
  const Dim steps = c.dim("steps");
  const DType type = c.dtype("dtype", DType::kF32);
  if (!c.ok()) return {};
  const Tensor i = IotaVector(c.builder(), steps, DType::kF64);
  const Tensor last =
      ops::Cast(ops::DimScalar(c.builder(), LargerOf(steps - Dim(1), Dim(1))),
                DType::kF64);
  return ops::Cast(i / last * (end - start) + start, type);
}
Tensor Eye(Call& c, const Dim& rows, const Dim& columns) {
  const DType type = c.dtype("dtype", DType::kF32);
  if (!c.ok()) return {};
  const Tensor i =
      ops::AlongAxis(IotaVector(c.builder(), rows, DType::kI64), 0, 2);
  const Tensor j =
      ops::AlongAxis(IotaVector(c.builder(), columns, DType::kI64), 1, 2);
  return ops::Cast(ops::Equal(i, j), type);
}
Tensor EyeSquare(Call& c) { return Eye(c, c.dim("n"), c.dim("n")); }
Tensor EyeOf(Call& c) { return Eye(c, c.dim("n"), c.dim("m")); }

// Appends the numbers in nested lists to `numbers`, in row-major order, and the
// lengths of the lists to `shape`. Returns false if lists of one level have
// different lengths, or hold anything but numbers and tensors.
bool Collect(Call& c, const Value& value, size_t depth, Shape& shape,
             std::vector<Value>& numbers) {
  if (value.is_number() || value.is_tensor()) {
    numbers.push_back(value);
    return depth == shape.size();
  }
  if (!value.is_sequence() || depth >= static_cast<size_t>(kMaxRank) ||
      numbers.size() > static_cast<size_t>(kMaxItems))
    return false;
  const Dim size(static_cast<int64_t>(value.list->items.size()));
  if (shape.size() == depth) {
    if (!numbers.empty()) return false;
    shape.push_back(size);
  }
  if (shape[depth] != size || !c.machine().Charge(1)) return false;
  for (const Value& item : value.list->items)
    if (!Collect(c, item, depth + 1, shape, numbers)) return false;
  return true;
}
Tensor NewTensor(Call& c) {
  const Value& data = c.value("data");
  if (data.is_tensor()) {
    const Tensor x = c.tensor("data");
    return ops::Cast(x, c.dtype("dtype", x.dtype()));
  }
  Shape shape;
  std::vector<Value> numbers;
  if (!Collect(c, data, 0, shape, numbers)) {
    c.FailInvalid("data: expected numbers, or lists of one length of them");
    return {};
  }
  DType own = numbers.empty() ? DType::kF32 : DType::kBool;
  bool all_known = true;
  for (const Value& number : numbers) {
    own = PromoteTypes(own,
                       number.is_tensor() ? DType::kF32 : TypeOfNumber(number));
    all_known = all_known && number.is_known_number();
  }
  const DType type = c.dtype("dtype", own);
  if (!c.ok()) return {};
  if (numbers.empty()) return Filled(c, c.Number(0, type), shape);
  if (numbers.size() == 1 && all_known) {
    return Filled(c, c.Number(numbers[0].known_number(), type), shape);
  }
  // Integers are not converted to doubles on the way, which would round large
  // ones.
  const bool is_float = IsFloat(own);
  std::vector<Tensor> parts;
  if (all_known && !is_float) {
    std::vector<int64_t> known;
    for (const Value& number : numbers) known.push_back(number.dim.constant());
    return ops::Cast(
        ops::Reshape(Tensor(&c.builder(), c.builder().Integers(known)), shape),
        type);
  }
  if (all_known) {
    std::vector<double> known;
    for (const Value& number : numbers) known.push_back(number.known_number());
    const auto* bytes = reinterpret_cast<const uint8_t*>(known.data());
    const Tensor wide(
        &c.builder(),
        c.builder().Constant(
            DType::kF64, {static_cast<int64_t>(known.size())},
            graph::ConstantData::Copy({bytes, known.size() * sizeof(double)})));
    return ops::Reshape(ops::Cast(wide, type), shape);
  }
  for (const Value& number : numbers) {
    const Tensor one = number.is_tensor() ? c.machine().ToTensor(number)
                                          : c.machine().ToScalar(number);
    parts.push_back(ops::Reshape(ops::Cast(one, type), {Dim(1)}));
  }
  return ops::Reshape(Concat(parts, 0), shape);
}

// Imports as_tensor, which returns the same tensor if its type is the requested
// one.
Value AsTensor(Call& c) {
  const Value& data = c.value("data");
  if (data.is_tensor()) {
    const DType type = c.tensor("data").dtype();
    if (!c.ok() || c.dtype("dtype", type) == type) return data;
  }
  return c.machine().NewTensor(NewTensor(c));
}

// Imports conversions. If the type does not change, the result is the same
// tensor, unless the call asks for a copy.
Value CastTo(Call& c, DType type, bool copies = false) {
  const Tensor x = c.tensor("self");
  if (!c.ok() || (x.dtype() == type && !copies)) return c.value("self");
  return c.machine().NewTensor(ops::Cast(x, type));
}
Value ToType(Call& c) {
  return CastTo(c, c.dtype("dtype", c.tensor("self").dtype()), c.flag("copy"));
}
Value ToLike(Call& c) {
  return CastTo(c, c.tensor("other").dtype(), c.flag("copy"));
}
Value ToCopy(Call& c) {
  return CastTo(c, c.dtype("dtype", c.tensor("self").dtype()), true);
}
Value TypeOf(Call& c) {
  return CastTo(c, c.dtype("dtype", c.tensor("self").dtype()));
}
Value TypeAs(Call& c) { return CastTo(c, c.tensor("other").dtype()); }
Value ToDevice(Call& c) { return c.value("self"); }
template <DType type>
Value CastAlways(Call& c) {
  return CastTo(c, type);
}

Value Meshgrid(Call& c) {
  const std::vector<Tensor> vectors = c.tensors("tensors");
  const bool by_columns = c.text("indexing") == "xy";
  const int rank = static_cast<int>(vectors.size());
  if (rank > kMaxRank)
    c.FailUnsupported("expected at most " + std::to_string(kMaxRank) +
                      " tensors");
  if (!c.ok()) return {};
  // In meshgrid, indexing "xy" swaps the first two axes.
  const auto axis_of = [&](int i) {
    return by_columns && rank > 1 && i < 2 ? 1 - i : i;
  };
  Shape shape(vectors.size());
  for (int i = 0; i < rank; ++i) {
    if (!c.CheckRank("tensors", vectors[static_cast<size_t>(i)], 0, 1))
      return {};
    shape[static_cast<size_t>(axis_of(i))] =
        graph::ElementCount(vectors[static_cast<size_t>(i)].shape());
  }
  std::vector<Value> grids;
  for (int i = 0; i < rank; ++i) {
    const Tensor& x = vectors[static_cast<size_t>(i)];
    Shape along(vectors.size(), Dim(1));
    along[static_cast<size_t>(axis_of(i))] = graph::ElementCount(x.shape());
    const Value& given = c.value("tensors").list->items[static_cast<size_t>(i)];
    grids.push_back(ExpandedViewOf(
        c.machine(), ReshapedViewOf(c.machine(), *given.cell, along), shape));
  }
  return c.machine().NewList(std::move(grids));
}

// Imports dropout, which returns its input in evaluation.
Value Dropout(Call& c) { return c.value("input"); }

#define EMBER_TORCH_OPTIONS                          \
  "*, ScalarType? dtype=None, Layout? layout=None, " \
  "Device? device=None, bool? pin_memory=None, "     \
  "MemoryFormat? memory_format=None)"

constexpr OperatorRow kRows[] = {
    {"zeros(int[] size, " EMBER_TORCH_OPTIONS, Zeros},
    {"ones(int[] size, " EMBER_TORCH_OPTIONS, Ones},
    // PyTorch leaves the contents of torch.empty unspecified. The import fills
    // them with zeros.
    {"empty(int[] size, " EMBER_TORCH_OPTIONS, Zeros},
    {"full(int[] size, Operand fill_value, " EMBER_TORCH_OPTIONS, Full},
    {"zeros_like(Tensor self, " EMBER_TORCH_OPTIONS, ZerosLike},
    {"ones_like(Tensor self, " EMBER_TORCH_OPTIONS, OnesLike},
    {"empty_like(Tensor self, " EMBER_TORCH_OPTIONS, ZerosLike},
    {"full_like(Tensor self, Operand fill_value, " EMBER_TORCH_OPTIONS,
     FullLike},
    {"new_zeros(Tensor self, int[] size, " EMBER_TORCH_OPTIONS, NewZeros},
    {"new_ones(Tensor self, int[] size, " EMBER_TORCH_OPTIONS, NewOnes},
    {"new_empty(Tensor self, int[] size, " EMBER_TORCH_OPTIONS, NewZeros},
    {"new_full(Tensor self, int[] size, Operand "
     "fill_value, " EMBER_TORCH_OPTIONS,
     NewFull},
    {"fill(Tensor self, Operand value)", Fill},
    {"zero(Tensor self)", ZeroOf},
    {"copy(Tensor self, Tensor src, bool non_blocking=False)", CopyFrom},
    {"arange(Scalar end, " EMBER_TORCH_OPTIONS, ArangeEnd},
    {"arange(Scalar start, Scalar end, " EMBER_TORCH_OPTIONS, ArangeStart},
    {"arange(Scalar start, Scalar end, Scalar step, " EMBER_TORCH_OPTIONS,
     ArangeStep},
    {"linspace(Scalar start, Scalar end, int steps, " EMBER_TORCH_OPTIONS,
     Linspace},
    {"eye(int n, " EMBER_TORCH_OPTIONS, EyeSquare},
    {"eye(int n, int m, " EMBER_TORCH_OPTIONS, EyeOf},
    {"tensor(any data, *, ScalarType? dtype=None, Device? device=None, "
     "bool requires_grad=False)",
     NewTensor},
    {"as_tensor(any data, *, ScalarType? dtype=None, Device? device=None)",
     AsTensor},
    {"scalar_tensor(Operand data, " EMBER_TORCH_OPTIONS, NewTensor},
    {"to(Tensor self, ScalarType? dtype=None, bool non_blocking=False, "
     "bool copy=False, MemoryFormat? memory_format=None)",
     ToType},
    {"to(Tensor self, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
     "bool copy=False, MemoryFormat? memory_format=None)",
     ToType},
    {"to(Tensor self, Device device, ScalarType dtype, "
     "bool non_blocking=False, bool copy=False, "
     "MemoryFormat? memory_format=None)",
     ToType},
    {"to(Tensor self, Device? device, ScalarType? dtype=None, "
     "bool non_blocking=False, bool copy=False, "
     "MemoryFormat? memory_format=None)",
     ToType},
    {"to(Tensor self, Tensor other, bool non_blocking=False, "
     "bool copy=False, MemoryFormat? memory_format=None)",
     ToLike},
    {"_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
     "MemoryFormat? memory_format=None)",
     ToCopy},
    {"type(Tensor self, ScalarType dtype)", TypeOf},
    {"type_as(Tensor self, Tensor other)", TypeAs},
    {"_cast_Float(Tensor self, bool non_blocking=False)",
     CastAlways<DType::kF32>},
    {"float(Tensor self)", CastAlways<DType::kF32>},
    {"double(Tensor self)", CastAlways<DType::kF64>},
    {"half(Tensor self)", CastAlways<DType::kF16>},
    {"bfloat16(Tensor self)", CastAlways<DType::kBF16>},
    {"long(Tensor self)", CastAlways<DType::kI64>},
    {"int(Tensor self)", CastAlways<DType::kI32>},
    {"bool(Tensor self)", CastAlways<DType::kBool>},
    {"pin_memory(Tensor self, Device? device=None)", ToDevice},
    {"meshgrid(Tensor[] tensors, *, str indexing='ij')", Meshgrid},
    {"dropout(Tensor input, float p, bool train)", Dropout},
    {"feature_dropout(Tensor input, float p, bool train)", Dropout},
    {"alpha_dropout(Tensor input, float p, bool train)", Dropout},
    {"feature_alpha_dropout(Tensor input, float p, bool train)", Dropout},
};

}  // namespace

std::span<const OperatorRow> CreationRows() { return kRows; }

}  // namespace ember::torchscript

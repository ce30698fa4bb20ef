// Imports queries about values (types, sizes, equality), and the ranges of
// loops.
#include "frontends/torchscript/items.h"
#include "frontends/torchscript/operator_table.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

// Compares two lists of numbers of which some are known only at run time. The
// result is a bool that the program computes: true if all are equal.
Value EqualByRun(Call& c, const Value& a, const Value& b) {
  if (!a.is_sequence() || !b.is_sequence()) {
    c.FailUnsupported("expected numbers or lists of them to compare, found " +
                      Describe(a) + " and " + Describe(b));
    return {};
  }
  Tensor all;
  for (size_t i = 0; i < a.list->items.size(); ++i) {
    const Value& x = a.list->items[i];
    const Value& y = b.list->items[i];
    if (!x.is_number() || !y.is_number()) {
      c.FailUnsupported("expected lists of numbers to compare, found " +
                        Describe(x) + " and " + Describe(y));
      return {};
    }
    const Tensor one =
        ops::Equal(ops::Cast(c.machine().ToScalar(x), DType::kF64),
                   ops::Cast(c.machine().ToScalar(y), DType::kF64));
    all = all ? ops::And(all, one) : one;
  }
  return Value::Dynamic(Kind::kBool, all);
}

Value EqualValues(Call& c) {
  const Value& a = c.value("a");
  const Value& b = c.value("b");
  const std::optional<bool> known = AreEqual(c, a, b, 0);
  return known ? Value::Bool(*known) : EqualByRun(c, a, b);
}
Value UnequalValues(Call& c) {
  Value equal = EqualValues(c);
  if (!equal.is_dynamic()) return Value::Bool(equal.dim == Dim(0));
  if (!c.ok()) return {};
  return Value::Dynamic(Kind::kBool, ops::Not(equal.dynamic));
}

Value IsNone(Call& c) {
  const Value& a = c.value("a");
  const Value& b = c.value("b");
  return Value::Bool(a.is_none() || b.is_none() ? a.is_none() && b.is_none()
                                                : IsSame(a, b));
}
Value IsNotNone(Call& c) { return Value::Bool(IsNone(c).dim == Dim(0)); }

Value SizeOf(Call& c) {
  const Tensor x = c.tensor("self");
  std::vector<Value> sizes;
  for (const Dim& dim : x.shape()) sizes.push_back(Value::Int(dim));
  return c.machine().NewList(std::move(sizes));
}
Value SizeOfDim(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1)) return {};
  return Value::Int(x.dim(c.axis("dim", x.rank())));
}
Value RankOf(Call& c) { return Value::Int(Dim(c.tensor("self").rank())); }
Value CountOf(Call& c) {
  return Value::Int(graph::ElementCount(c.tensor("self").shape()));
}
Value DTypeOf(Call& c) {
  if (c.value("self").is_quantized()) {
    const DType type = c.tensor("self").dtype();
    return Value::Int(Dim(type == DType::kI8   ? 12
                          : type == DType::kU8 ? 13
                                               : 14));
  }
  const DType dtype = c.machine().Read(*c.value("self").cell).dtype();
  if (c.value("self").is_complex())
    return Value::Int(Dim(dtype == DType::kF64 ? 10 : 9));
  return Value::Int(Dim(ScalarTypeOf(dtype)));
}
Value IsComplex(Call& c) { return Value::Bool(c.value("self").is_complex()); }
Value DeviceOf(Call&) { return Value::Text(Kind::kDevice, "cpu"); }
Value False(Call&) { return Value::Bool(false); }
Value True(Call&) { return Value::Bool(true); }
Value Nothing(Call&) { return Value::None(); }
Value Zero(Call&) { return Value::Int(Dim(0)); }
Value IsFloatingPoint(Call& c) {
  return Value::Bool(c.tensor("self").is_float());
}
Value IsSigned(Call& c) {
  return Value::Bool(ember::IsSigned(c.tensor("self").dtype()) ||
                     c.tensor("self").is_float());
}
Value Same(Call& c) { return c.value("a"); }

// Imports _infer_size: the shape to which two shapes broadcast.
Value InferSize(Call& c) {
  const StatusOr<Shape> shape =
      graph::BroadcastShapes(c.dims("a"), c.dims("b"));
  if (!shape.ok()) {
    c.FailInvalid(std::string(shape.status().message()));
    return {};
  }
  std::vector<Value> sizes;
  for (const Dim& dim : *shape) sizes.push_back(Value::Int(dim));
  return c.machine().NewList(std::move(sizes));
}

// Imports __range_length: the number of iterations of "for i in range(lo, hi,
// step)".
Value RangeLength(Call& c) {
  const Dim low = c.dim("lo");
  const Dim high = c.dim("hi");
  const int64_t step = c.integer("step");
  if (!c.ok()) return {};
  if (step == 0) {
    c.FailInvalid("step: expected a number other than 0");
    return {};
  }
  const Dim distance = step > 0 ? high - low : low - high;
  const Dim width(step > 0 ? step : -step);
  return Value::Int(
      LargerOf(FloorDivide(distance + width - Dim(1), width), Dim(0)));
}
Value DeriveIndex(Call& c) {
  const Value& index = c.value("index");
  const Value& start = c.value("start");
  const Value& step = c.value("step");
  if (!index.is_dynamic() && !start.is_dynamic() && !step.is_dynamic())
    return Value::Int(start.dim + index.dim * step.dim);
  Machine& machine = c.machine();
  return Value::Dynamic(Kind::kInt,
                        machine.ToScalar(start) +
                            machine.ToScalar(index) * machine.ToScalar(step));
}

Value IsInstance(Call& c) {
  const Value& value = c.value("a");
  const std::string type = c.text("type");
  const auto is = [&](std::string_view name, Kind kind) {
    return value.is(kind) && type.find(name) != std::string::npos;
  };
  return Value::Bool(is("Tensor", Kind::kTensor) || is("int", Kind::kInt) ||
                     is("float", Kind::kFloat) || is("bool", Kind::kBool) ||
                     is("str", Kind::kString) || is("List", Kind::kList) ||
                     is("Tuple", Kind::kTuple) || is("Dict", Kind::kDict) ||
                     is("NoneType", Kind::kNone));
}

constexpr OperatorRow kRows[] = {
    {"size(Tensor self)", SizeOf},
    {"size(Tensor self, int dim)", SizeOfDim},
    {"prim::shape(Tensor self)", SizeOf},
    {"dim(Tensor self)", RankOf},
    {"prim::ndim(Tensor self)", RankOf},
    {"numel(Tensor self)", CountOf},
    {"prim::dtype(any self)", DTypeOf},
    {"prim::device(Tensor self)", DeviceOf},
    {"prim::layout(Tensor self)", Zero},
    {"get_device(Tensor self)", Zero},
    {"prim::is_cuda(Tensor self)", False},
    {"prim::is_cpu(Tensor self)", True},
    {"prim::is_mps(Tensor self)", False},
    {"prim::is_xla(Tensor self)", False},
    {"prim::is_vulkan(Tensor self)", False},
    {"prim::is_meta(Tensor self)", False},
    {"prim::is_sparse(Tensor self)", False},
    {"prim::requires_grad(Tensor self)", False},
    {"prim::type(any a)", Same},
    {"is_floating_point(Tensor self)", IsFloatingPoint},
    {"is_complex(any self)", IsComplex},
    {"is_signed(Tensor self)", IsSigned},
    {"is_pinned(Tensor self, Device? device=None)", False},
    {"is_grad_enabled()", False},
    {"is_autocast_enabled()", False},
    {"is_scripting()", True},
    {"cuda_is_available()", False},
    {"set_grad_enabled(any val)", Nothing},
    {"manual_seed(any seed)", Nothing},
    {"prim::unchecked_unwrap_optional(any a)", Same},
    {"_unwrap_optional(any a)", Same},
    {"prim::unchecked_cast(any a)", Same},
    // prim::fork runs its function at once, so its result is what wait returns.
    {"wait(any a)", Same},
    {"prim::isinstance(any a, str type)", IsInstance},
    {"prim::Print(any a=None, any b=None, any c=None, any d=None)", Nothing},
    {"warn(any message, int stacklevel=2)", Nothing},
    {"__is__(any a, any b)", IsNone},
    {"__isnot__(any a, any b)", IsNotNone},
    {"eq(Value a, Value b)", EqualValues},
    {"ne(Value a, Value b)", UnequalValues},
    {"_infer_size(int[] a, int[] b)", InferSize},
    {"__range_length(int lo, int hi, int step)", RangeLength},
    {"__derive_index(int index, int start, int step)", DeriveIndex},
};

}  // namespace

std::span<const OperatorRow> CoreRows() { return kRows; }

}  // namespace ember::torchscript

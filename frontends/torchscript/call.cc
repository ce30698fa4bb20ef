#include "frontends/torchscript/call.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/one_line.h"
#include "frontends/ops/ranks.h"
#include "frontends/torchscript/known_when_importing.h"

namespace ember::torchscript {

const Value& Call::value(std::string_view name) const {
  for (size_t i = 0; i < schema_.parameters.size(); ++i)
    if (schema_.parameters[i].name == name) return arguments_[i];
  EMBER_CHECK(false) << "no parameter " << name << " in " << schema_.name;
  return arguments_[0];
}

bool Call::has(std::string_view name) const { return !value(name).is_none(); }

std::string Call::What(std::string_view name) const {
  return std::string(name) + ": expected ";
}

Tensor Call::tensor(std::string_view name) {
  const Value& given = value(name);
  if (given.is_none()) return {};
  if (!given.is_tensor() && !given.is_number()) {
    FailInvalid(What(name) + "a tensor, found " + Describe(given));
    return {&builder(), nullptr};
  }
  return machine_.ToTensor(given);
}

std::vector<Tensor> Call::tensors(std::string_view name) {
  const Value& given = value(name);
  if (given.is_tensor()) return {tensor(name)};
  if (!given.is_sequence()) {
    FailInvalid(What(name) + "a list of tensors, found " + Describe(given));
    return {};
  }
  std::vector<Tensor> tensors;
  for (const Value& item : given.list->items) {
    if (item.is_none()) {
      tensors.emplace_back();
      continue;
    }
    tensors.push_back(machine_.ToTensor(item));
  }
  return tensors;
}

Dim Call::dim(std::string_view name) { return machine_.ToDim(value(name)); }

Shape Call::dims(std::string_view name) {
  const Value& given = value(name);
  if (!given.is_sequence()) return {dim(name)};
  Shape dims;
  for (const Value& item : given.list->items) {
    dims.push_back(machine_.ToDim(item));
    if (!ok()) return dims;
  }
  return dims;
}

int64_t Call::integer(std::string_view name) {
  const Dim dim = this->dim(name);
  if (!ok()) return 0;
  if (!dim.is_constant()) {
    FailUnsupported(What(name) + "an int that is known when importing, found " +
                    dim.ToString() + kMakeItKnown);
    return 0;
  }
  return dim.constant();
}

std::vector<int64_t> Call::integers(std::string_view name) {
  std::vector<int64_t> numbers;
  for (const Dim& dim : dims(name)) {
    if (!ok()) return numbers;
    if (!dim.is_constant()) {
      FailUnsupported(What(name) +
                      "ints that are known when importing, found " +
                      dim.ToString() + kMakeItKnown);
      return numbers;
    }
    numbers.push_back(dim.constant());
  }
  return numbers;
}

std::vector<int64_t> Call::integers(std::string_view name, size_t count) {
  std::vector<int64_t> numbers = integers(name);
  if (numbers.size() == 1) numbers.resize(count, numbers[0]);
  if (numbers.size() != count) {
    FailInvalid(What(name) + std::to_string(count) + " ints, found " +
                std::to_string(numbers.size()));
    numbers.resize(count, 1);
  }
  return numbers;
}

double Call::number(std::string_view name) {
  const Value& given = value(name);
  if (given.is_known_number()) return given.known_number();
  if (given.is_tensor() || given.is_dynamic()) {
    const Tensor tensor = machine_.ToTensor(given);
    if (!ok()) return 0;
    const auto known = builder().ConstantContents(tensor.value());
    if (known && known->size() == 1) return known->front();
  }
  FailUnsupported(What(name) + "a number that is known when importing, found " +
                  Describe(given) + kMakeItKnown);
  return 0;
}

std::vector<double> Call::numbers(std::string_view name) {
  const Value& given = value(name);
  if (!given.is_sequence()) return {number(name)};
  std::vector<double> numbers;
  for (const Value& item : given.list->items) {
    if (!item.is_known_number()) {
      FailUnsupported(What(name) +
                      "numbers that are known when importing, found " +
                      Describe(item) + kMakeItKnown);
      return numbers;
    }
    numbers.push_back(item.known_number());
  }
  return numbers;
}

bool Call::flag(std::string_view name) { return number(name) != 0; }

std::string Call::text(std::string_view name) {
  const Value& given = value(name);
  if (given.is(Value::Kind::kString)) return given.text;
  FailInvalid(What(name) + "a str, found " + Describe(given));
  return "";
}

std::vector<int64_t> AllAxes(const Tensor& x) {
  std::vector<int64_t> axes(static_cast<size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

std::vector<int64_t> InverseOrder(const std::vector<int64_t>& order) {
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return back;
}

Tensor WithAxis(const Tensor& x) {
  return x.rank() == 0 ? ops::Reshape(x, {Dim(1)}) : x;
}
Tensor WithoutAxis(const Tensor& y, const Tensor& x) {
  return x.rank() == 0 && y.rank() > 0 ? ops::Reshape(y, {}) : y;
}

bool CheckNumbers(Call& c, std::string_view name, const Tensor& x,
                  std::string_view other_name, const Tensor& other) {
  if (!c.ok()) return false;
  if (x.dtype() == other.dtype()) return true;
  c.machine().Want(x, other.dtype());
  const std::string& input = x.value()->name();
  c.FailInvalid(std::string(name) + ": expected " +
                std::string(DTypeName(other.dtype())) + ", as '" +
                std::string(other_name) + "' has, found " +
                std::string(DTypeName(x.dtype())) +
                (input.empty() ? "" : " in '" + OnOneLine(input) + "'"));
  return false;
}

bool BroadcastTogether(Call& c, Tensor& a, Tensor& b) {
  if (!c.ok()) return false;
  const StatusOr<Shape> shape = graph::BroadcastShapes(a.shape(), b.shape());
  if (!shape.ok()) {
    c.FailInvalid(std::string(shape.status().message()));
    return false;
  }
  a = ops::Broadcast(a, *shape);
  b = ops::Broadcast(b, *shape);
  return c.ok();
}

int NormalAxis(Machine& machine, int64_t axis, int rank) {
  // PyTorch accepts the axes 0 and -1 for a tensor without dims, like for a
  // vector.
  const int64_t places = std::max(rank, 1);
  if (axis < -places || axis >= places) {
    machine.FailInvalid("expected an axis in [" + std::to_string(-places) +
                        ", " + std::to_string(places - 1) + "], found " +
                        std::to_string(axis));
    return 0;
  }
  return static_cast<int>(axis < 0 ? axis + places : axis);
}

int Call::axis(std::string_view name, int rank) {
  return NormalAxis(machine_, integer(name), rank);
}

std::vector<int64_t> Call::axes(std::string_view name, int rank) {
  std::vector<int64_t> axes;
  if (has(name)) axes = integers(name);
  if (axes.empty()) {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }
  for (int64_t& axis : axes) axis = NormalAxis(machine_, axis, rank);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    FailInvalid(What(name) + "axes that differ, found one twice");
  if (rank == 0) axes.clear();
  return axes;
}

double Wrapped(double number, DType dtype) {
  const int bits = 8 * DTypeByteSize(dtype);
  // Only whole numbers for integer types of up to 32 bits wrap. A number beyond
  // 2^53 is returned unchanged, too, because a double cannot represent all
  // integers there.
  if (!IsInteger(dtype) || bits > 32 || std::trunc(number) != number ||
      std::abs(number) > 0x1p53)
    return number;
  const double values = std::ldexp(1.0, bits);
  const double least = IsSigned(dtype) ? -values / 2 : 0;
  const double above = number - least;
  return above - std::floor(above / values) * values + least;
}

Tensor Call::scalar(std::string_view name, DType dtype) {
  const Value& given = value(name);
  if (given.is_known_number())
    return Number(Wrapped(given.known_number(), dtype), dtype);
  return ops::Cast(given.is_number() ? machine_.ToScalar(given) : tensor(name),
                   dtype);
}

DType Call::dtype(std::string_view name, DType otherwise) {
  if (!has(name)) return otherwise;
  const int64_t number = integer(name);
  if (!ok()) return otherwise;
  const std::optional<DType> dtype = DTypeOfScalarType(number);
  if (!dtype) {
    FailUnsupported(
        What(name) +
        "a type of integers, floats or booleans, found ScalarType " +
        std::to_string(number));
    return otherwise;
  }
  return *dtype;
}

bool Call::CheckRank(std::string_view name, const Tensor& x, int minimum,
                     int maximum) {
  if (!ok()) return false;
  const std::string fault = ops::FindRankFault(x, minimum, maximum);
  if (fault.empty()) return true;
  FailInvalid(std::string(name) + ": " + fault);
  return false;
}

Tensor Call::Indices(std::string_view name) {
  const Tensor indices = tensor(name);
  if (!ok()) return indices;
  if (indices.is_float() || indices.dtype() == DType::kBool) {
    machine_.Want(indices, DType::kI64);
    FailInvalid(What(name) + "indices of an integer type, found " +
                std::string(DTypeName(indices.dtype())));
  }
  return ops::Cast(indices, DType::kI64);
}

namespace {

// kScalarTypes[number]: the dtype of PyTorch's ScalarType with this number;
// nullopt if Ember has none.
constexpr std::optional<DType> kScalarTypes[] = {
    DType::kU8,   DType::kI8,   DType::kI16,  DType::kI32,
    DType::kI64,  DType::kF16,  DType::kF32,  DType::kF64,
    std::nullopt, std::nullopt, std::nullopt, DType::kBool,
    std::nullopt, std::nullopt, std::nullopt, DType::kBF16};

}  // namespace

int64_t ScalarTypeOf(DType dtype) {
  for (size_t i = 0; i < std::size(kScalarTypes); ++i)
    if (kScalarTypes[i] == dtype) return static_cast<int64_t>(i);
  return 6;
}

std::optional<DType> DTypeOfScalarType(int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(std::size(kScalarTypes)))
    return std::nullopt;
  return kScalarTypes[number];
}

}  // namespace ember::torchscript

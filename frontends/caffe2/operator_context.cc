#include "frontends/caffe2/operator_context.h"

#include "base/one_line.h"

namespace ember::caffe2 {

std::optional<DType> TypeOfNumber(int64_t number) {
  switch (number) {
    case 1:
      return DType::kF32;
    case 2:
      return DType::kI32;
    case 3:  // Bytes.
    case 6:
      return DType::kU8;
    case 5:
      return DType::kBool;
    case 7:
      return DType::kI8;
    case 8:
      return DType::kU16;
    case 9:
      return DType::kI16;
    case 10:
      return DType::kI64;
    case 12:
      return DType::kF16;
    case 13:
      return DType::kF64;
    default:
      return std::nullopt;
  }
}

const Argument* FindArgument(const OperatorDef& op, std::string_view name) {
  for (const Argument& argument : op.arg())
    if (argument.name() == name) return &argument;
  return nullptr;
}

int64_t OperatorContext::Integer(std::string_view name, int64_t otherwise) {
  const Argument* argument = FindArgument(op_, name);
  if (argument == nullptr) return otherwise;
  if (argument->has_i()) return argument->i();
  FailInvalid(std::string(name) + ": expected an integer");
  return otherwise;
}

double OperatorContext::Number(std::string_view name, double otherwise) {
  const Argument* argument = FindArgument(op_, name);
  if (argument == nullptr) return otherwise;
  if (argument->has_f()) return static_cast<double>(argument->f());
  if (argument->has_i()) return static_cast<double>(argument->i());
  FailInvalid(std::string(name) + ": expected a number");
  return otherwise;
}

std::string OperatorContext::Text(std::string_view name,
                                  std::string_view otherwise) {
  const Argument* argument = FindArgument(op_, name);
  if (argument == nullptr) return std::string(otherwise);
  if (!argument->has_s()) FailInvalid(std::string(name) + ": expected text");
  return argument->s();
}

std::vector<int64_t> OperatorContext::Integers(std::string_view name) {
  const Argument* argument = FindArgument(op_, name);
  if (argument == nullptr) return {};
  if (argument->floats_size() > 0 || argument->has_f() || argument->has_s())
    FailInvalid(std::string(name) + ": expected integers");
  if (argument->has_i() && argument->ints_size() == 0) return {argument->i()};
  return {argument->ints().begin(), argument->ints().end()};
}

DType OperatorContext::Type(std::string_view name, DType otherwise) {
  const Argument* argument = FindArgument(op_, name);
  if (argument == nullptr) return otherwise;
  static constexpr std::pair<std::string_view, int> kNames[] = {
      {"FLOAT", 1},  {"INT32", 2},    {"BYTE", 3},   {"BOOL", 5},
      {"UINT8", 6},  {"INT8", 7},     {"UINT16", 8}, {"INT16", 9},
      {"INT64", 10}, {"FLOAT16", 12}, {"DOUBLE", 13}};
  int64_t number = argument->has_i() ? argument->i() : -1;
  std::string found =
      argument->has_s() ? "'" + argument->s() + "'" : std::to_string(number);
  if (argument->has_s()) {
    std::string upper = argument->s();
    for (char& letter : upper)
      if (letter >= 'a' && letter <= 'z')
        letter = static_cast<char>(letter - 'a' + 'A');
    for (const auto& [word, value] : kNames)
      if (word == upper) number = value;
  }
  if (const std::optional<DType> type = TypeOfNumber(number)) return *type;
  FailUnsupported(std::string(name) + ": expected a type of numbers, found " +
                  OnOneLine(found));
  return otherwise;
}

bool OperatorContext::ChannelsLast() {
  const std::string order = Text("order", "NCHW");
  if (order == "NHWC") return true;
  if (order != "NCHW") {
    FailInvalid("order: expected NCHW or NHWC, found '" + OnOneLine(order) +
                "'");
  }
  return false;
}

Tensor OperatorContext::PerChannel(int input, int axis, int rank, DType type) {
  if (!CheckRank(input, 1, 1)) return Wrap(nullptr);
  return AlongAxis(Cast(Input(input), type), axis, rank);
}

Tensor AsRows(Tensor x, int axis) {
  const auto middle = x.shape().begin() + axis;
  return Reshape(x, {graph::ElementCount(Shape(x.shape().begin(), middle)),
                     graph::ElementCount(Shape(middle, x.shape().end()))});
}

}  // namespace ember::caffe2

#include "frontends/tf_common/operator_base.h"

#include <algorithm>
#include <utility>

#include "frontends/ops/errors.h"
#include "frontends/ops/ranks.h"
#include "frontends/ops/windows.h"

namespace ember::tf_common {

void OperatorBase::FailInvalid(std::string message) {
  ops::FailInvalid(builder_, std::move(message));
}
void OperatorBase::FailUnsupported(std::string message) {
  ops::FailUnsupported(builder_, std::move(message));
}

std::string OperatorBase::Named(int input, std::string_view what) const {
  return std::string(what) + " (input " + std::to_string(input) + ")";
}

std::optional<Shape> OperatorBase::Contents(int input, std::string_view what) {
  if (!ok()) return std::nullopt;
  if (!Input(input)) {
    FailInvalid("missing " + Named(input, what));
    return std::nullopt;
  }
  std::optional<Shape> contents =
      builder_.IntegerContents(Input(input).value());
  if (!contents) {
    FailUnsupported(
        Named(input, what) +
        " depends on the model's data: it must be known when compiling");
  }
  return contents;
}

std::optional<std::vector<int64_t>> OperatorBase::ConstantIntegers(
    int input, std::string_view what) {
  const std::optional<Shape> contents = Contents(input, what);
  if (!contents) return std::nullopt;
  std::optional<std::vector<int64_t>> constants = AsConstants(*contents);
  if (!constants) {
    FailUnsupported(Named(input, what) + ": expected constants, found " +
                    graph::ShapeToString(*contents));
  }
  return constants;
}

std::optional<Shape> OperatorBase::Sizes(int input, std::string_view what) {
  if (!ok()) return std::nullopt;
  Tensor values = Input(input);
  if (!values) {
    FailInvalid("missing " + Named(input, what));
    return std::nullopt;
  }
  if (values.rank() > 1 || values.is_float()) {
    FailInvalid(Named(input, what) +
                ": expected integers in one dim, found type " +
                graph::ToString(values.value()->type()));
    return std::nullopt;
  }
  if (values.rank() == 0) values = Reshape(values, {Dim(1)});
  Shape sizes = builder_.Extents(values.value());
  if (!ok()) return std::nullopt;
  return sizes;
}

std::optional<std::vector<double>> OperatorBase::ConstantNumbers(
    int input, std::string_view what) {
  if (!ok()) return std::nullopt;
  if (!Input(input)) {
    FailInvalid("missing " + Named(input, what));
    return std::nullopt;
  }
  std::optional<std::vector<double>> contents =
      builder_.ConstantContents(Input(input).value());
  if (!contents) {
    FailUnsupported(
        Named(input, what) +
        " depends on the model's data: it must be known when compiling");
  }
  return contents;
}

int OperatorBase::Axis(int64_t axis, int rank) {
  if (axis >= -rank && axis < rank)
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  FailInvalid("axis: expected a value in [" + std::to_string(-rank) + ", " +
              std::to_string(rank - 1) + "], found " + std::to_string(axis));
  return 0;
}

std::vector<int64_t> OperatorBase::Axes(const std::vector<int64_t>& axes,
                                        int rank) {
  std::vector<int64_t> normalized;
  for (const int64_t axis : axes) {
    const int64_t value = Axis(axis, rank);
    if (!ok()) return {};
    // TensorFlow takes an axis that is named twice as if it were once.
    if (std::find(normalized.begin(), normalized.end(), value) ==
        normalized.end())
      normalized.push_back(value);
  }
  std::sort(normalized.begin(), normalized.end());
  return normalized;
}

bool OperatorBase::CheckRank(int input, int minimum, int maximum) {
  if (!ok()) return false;
  if (!Input(input)) {
    FailInvalid("expected input " + std::to_string(input) + ", found none");
    return false;
  }
  const std::string fault = ops::FindRankFault(Input(input), minimum, maximum);
  if (fault.empty()) return true;
  FailInvalid("input " + std::to_string(input) + ": " + fault);
  return false;
}

bool OperatorBase::CheckPositive(std::string_view what, int64_t value) {
  if (value >= 1 && value <= ops::kMaximumWindow) return ok();
  FailInvalid(std::string(what) + ": expected a value in [1, " +
              std::to_string(ops::kMaximumWindow) + "], found " +
              std::to_string(value));
  return false;
}

}  // namespace ember::tf_common

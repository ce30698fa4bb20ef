#include "frontends/coreml/mil_operation.h"

#include <algorithm>
#include <cmath>

#include "frontends/ops/axes.h"
#include "frontends/ops/errors.h"
#include "frontends/ops/ranks.h"
#include "frontends/ops/windows.h"

namespace ember::coreml {
namespace {

using Rows = std::span<const MilRow> (*)();
constexpr Rows kFamilies[] = {MilElementwise, MilLayers, MilMovement};

}  // namespace

const MilRow* FindMil(std::string_view name) {
  for (const Rows family : kFamilies) {
    for (const MilRow& row : family())
      if (row.name == name) return &row;
  }
  return nullptr;
}

std::vector<std::string_view> MilNames() {
  std::vector<std::string_view> names;
  for (const Rows family : kFamilies)
    for (const MilRow& row : family()) names.push_back(row.name);
  std::sort(names.begin(), names.end());
  return names;
}

void MilOperation::FailInvalid(std::string message) {
  ops::FailInvalid(builder_, std::move(message));
}
void MilOperation::FailUnsupported(std::string message) {
  ops::FailUnsupported(builder_, std::move(message));
}

Tensor MilOperation::Input(std::string_view name) {
  const auto found = inputs_.find(name);
  if (found != inputs_.end() && found->second.size() == 1 &&
      found->second[0].tensor)
    return found->second[0].tensor;
  FailInvalid("expected an input '" + std::string(name) + "', found none");
  return {&builder_, nullptr};
}

std::vector<Tensor> MilOperation::Inputs(std::string_view name) {
  std::vector<Tensor> tensors;
  const auto found = inputs_.find(name);
  if (found != inputs_.end()) {
    for (const MilValue& value : found->second)
      if (value.tensor) tensors.push_back(value.tensor);
  }
  if (tensors.empty())
    FailInvalid("expected inputs '" + std::string(name) + "', found none");
  return tensors;
}

std::vector<int64_t> MilOperation::Integers(std::string_view name,
                                            std::vector<int64_t> otherwise) {
  if (!Has(name)) return otherwise;
  const Tensor values = Input(name);
  if (!ok()) return otherwise;
  const auto numbers = builder_.ConstantContents(values.value());
  if (!numbers) {
    FailUnsupported(std::string(name) +
                    ": expected numbers that are known when compiling");
    return otherwise;
  }
  std::vector<int64_t> integers;
  for (const double number : *numbers) {
    if (!(std::abs(number) < 9e18)) {
      FailInvalid(std::string(name) + ": expected integers, found " +
                  std::to_string(number));
      return otherwise;
    }
    integers.push_back(static_cast<int64_t>(number));
  }
  return integers;
}

int64_t MilOperation::Integer(std::string_view name, int64_t otherwise) {
  const std::vector<int64_t> values = Integers(name, {otherwise});
  if (values.size() == 1) return values[0];
  FailInvalid(std::string(name) + ": expected one number, found " +
              std::to_string(values.size()));
  return otherwise;
}

double MilOperation::Number(std::string_view name, double otherwise) {
  if (!Has(name)) return otherwise;
  const Tensor value = Input(name);
  if (!ok()) return otherwise;
  const auto numbers = builder_.ConstantContents(value.value());
  if (numbers && numbers->size() == 1) return numbers->front();
  FailUnsupported(std::string(name) +
                  ": expected a number that is known when compiling");
  return otherwise;
}

std::string MilOperation::Text(std::string_view name, std::string otherwise) {
  const auto found = inputs_.find(name);
  if (found == inputs_.end() || found->second.size() != 1) return otherwise;
  return found->second[0].text;
}

int MilOperation::Axis(std::string_view name, int64_t otherwise, int rank) {
  return ops::NormalizedAxis(builder_, Integer(name, otherwise), rank);
}

std::vector<int64_t> MilOperation::Axes(std::string_view name, int rank) {
  std::vector<int64_t> axes;
  if (!Has(name)) {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }
  for (const int64_t axis : Integers(name)) {
    const int64_t value = ops::NormalizedAxis(builder_, axis, rank);
    if (std::find(axes.begin(), axes.end(), value) == axes.end())
      axes.push_back(value);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

std::optional<int64_t> MilOperation::Extent(const Tensor& x, int axis) {
  const Dim& dim = x.dim(axis);
  if (!ok()) return std::nullopt;
  if (dim.is_constant()) return dim.constant();
  FailUnsupported("expected dim " + std::to_string(axis) +
                  " to be known when compiling, found " +
                  graph::ShapeToString(x.shape()));
  return std::nullopt;
}

bool MilOperation::CheckRank(std::string_view input, int minimum, int maximum) {
  const Tensor x = Input(input);
  if (!ok()) return false;
  const std::string fault = ops::FindRankFault(x, minimum, maximum);
  if (fault.empty()) return true;
  FailInvalid(std::string(input) + ": " + fault);
  return false;
}

bool MilOperation::CheckRange(std::string_view what, int64_t value,
                              int64_t minimum) {
  if (value >= minimum && value <= ops::kMaximumWindow) return ok();
  FailInvalid(std::string(what) + ": expected a value in [" +
              std::to_string(minimum) + ", " +
              std::to_string(ops::kMaximumWindow) + "], found " +
              std::to_string(value));
  return false;
}

}  // namespace ember::coreml

#include "frontends/coreml/mil_operation.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace ember::coreml {
namespace {

using Rows = std::span<const MilRow> (*)();
constexpr Rows kFamilies[] = {MilBlockwise, MilCompressed, MilElementwise,
                              MilIndexing,  MilLayers,     MilLists,
                              MilMovement,  MilRecurrent};

}  // namespace

const MilRow* FindMil(std::string_view name) {
  for (const Rows family : kFamilies) {
    for (const MilRow& row : family())
      if (row.name == name) return &row;
  }
  return nullptr;
}

std::vector<std::string_view> MilNames() {
  std::vector<std::string_view> names(std::begin(kMilWithoutRow),
                                      std::end(kMilWithoutRow));
  for (const Rows family : kFamilies)
    for (const MilRow& row : family()) names.push_back(row.name);
  std::sort(names.begin(), names.end());
  return names;
}

uint32_t BitsAt(std::span<const uint8_t> packed, int64_t index, int64_t bits) {
  uint32_t value = 0;
  for (int64_t i = 0; i < bits; ++i) {
    const int64_t place = index * bits + i;
    const uint32_t bit =
        packed[static_cast<size_t>(place / 8)] >> (place % 8) & 1u;
    value |= bit << i;
  }
  return value;
}

Tensor MilOperation::Input(std::string_view name) {
  const auto found = inputs_.find(name);
  if (found != inputs_.end() && found->second.size() == 1 &&
      found->second[0].tensor)
    return found->second[0].tensor;
  FailInvalid("expected an input '" + std::string(name) + "', found none");
  return {&builder(), nullptr};
}

std::vector<Tensor> MilOperation::All(std::string_view name) const {
  std::vector<Tensor> tensors;
  const auto found = inputs_.find(name);
  if (found == inputs_.end()) return tensors;
  for (const MilValue& value : found->second)
    if (value.tensor) tensors.push_back(value.tensor);
  return tensors;
}

bool MilOperation::Grows(std::string_view name) const {
  const auto found = inputs_.find(name);
  return found != inputs_.end() && found->second.size() == 1 &&
         found->second[0].grows;
}

std::vector<Tensor> MilOperation::Inputs(std::string_view name) {
  std::vector<Tensor> tensors = All(name);
  if (tensors.empty())
    FailInvalid("expected inputs '" + std::string(name) + "', found none");
  return tensors;
}

std::vector<int64_t> MilOperation::Integers(std::string_view name,
                                            std::vector<int64_t> otherwise) {
  if (!Has(name)) return otherwise;
  const Tensor values = Input(name);
  if (!ok()) return otherwise;
  const auto numbers = ConstantNumbers(values, name);
  if (!numbers) return otherwise;
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
  const auto numbers = ConstantNumbers(value, name);
  if (!numbers) return otherwise;
  if (numbers->size() == 1) return numbers->front();
  FailInvalid(std::string(name) + ": expected one number, found " +
              std::to_string(numbers->size()));
  return otherwise;
}

std::string MilOperation::Text(std::string_view name, std::string otherwise) {
  const auto found = inputs_.find(name);
  if (found == inputs_.end() || found->second.size() != 1) return otherwise;
  return found->second[0].text;
}

std::vector<std::string> MilOperation::Texts(std::string_view name) const {
  const auto found = inputs_.find(name);
  if (found == inputs_.end() || found->second.size() != 1) return {};
  return found->second[0].texts;
}

int MilOperation::Axis(std::string_view name, int64_t otherwise, int rank) {
  return ImportContext::Axis(Integer(name, otherwise), rank);
}

std::vector<int64_t> MilOperation::Axes(std::string_view name, int rank) {
  if (Has(name)) return ImportContext::Axes(Integers(name), rank);
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

}  // namespace ember::coreml

#include "frontends/ops/import_context.h"

#include <utility>

#include "frontends/ops/axes.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/errors.h"
#include "frontends/ops/ranks.h"

namespace ember::ops {

void ImportContext::Fail(const Status& status) { ops::Fail(builder_, status); }
void ImportContext::FailInvalid(std::string message) {
  ops::FailInvalid(builder_, std::move(message));
}
void ImportContext::FailUnsupported(std::string message) {
  ops::FailUnsupported(builder_, std::move(message));
}

int ImportContext::Axis(int64_t axis, int rank) {
  return NormalizedAxis(builder_, axis, rank);
}
std::vector<int64_t> ImportContext::Axes(const std::vector<int64_t>& axes,
                                         int rank) {
  return SortedAxes(builder_, axes, rank);
}

bool ImportContext::CheckRank(const Tensor& operand, std::string_view what,
                              int minimum, int maximum) {
  if (!ok()) return false;
  if (!operand) {
    FailInvalid("expected " + std::string(what) + ", found none");
    return false;
  }
  const std::string fault = FindRankFault(operand, minimum, maximum);
  if (fault.empty()) return true;
  FailInvalid(std::string(what) + ": " + fault);
  return false;
}

bool ImportContext::CheckRange(std::string_view what, int64_t value,
                               int64_t minimum, int64_t maximum) {
  if (value >= minimum && value <= maximum) return ok();
  FailInvalid(std::string(what) + ": expected a value in [" +
              std::to_string(minimum) + ", " + std::to_string(maximum) +
              "], found " + std::to_string(value));
  return false;
}

std::optional<int64_t> ImportContext::Extent(const Tensor& x, int axis) {
  const auto extents = Extents(x, axis, axis + 1);
  if (!extents) return std::nullopt;
  return extents->front();
}

std::optional<std::vector<int64_t>> ImportContext::Extents(const Tensor& x,
                                                           int first,
                                                           int last) {
  std::vector<int64_t> extents;
  for (int i = first; i < last; ++i) {
    const Dim& dim = x.dim(i);
    if (!ok()) return std::nullopt;
    if (!dim.is_constant()) {
      FailUnsupported("expected dim " + std::to_string(i) +
                      " to be known when compiling, found " +
                      graph::ShapeToString(x.shape()));
      return std::nullopt;
    }
    extents.push_back(dim.constant());
  }
  return extents;
}

bool ImportContext::CheckPresent(const Tensor& operand, std::string_view what) {
  if (!ok()) return false;
  if (!operand) FailInvalid("missing " + std::string(what));
  return ok();
}

std::optional<Shape> ImportContext::Contents(const Tensor& operand,
                                             std::string_view what) {
  if (!CheckPresent(operand, what)) return std::nullopt;
  std::optional<Shape> contents = builder_.IntegerContents(operand.value());
  if (!contents) FailDataDependent(operand, what);
  return contents;
}

std::optional<std::vector<int64_t>> ImportContext::ConstantIntegers(
    const Tensor& operand, std::string_view what) {
  const std::optional<Shape> contents = Contents(operand, what);
  if (!contents) return std::nullopt;
  std::optional<std::vector<int64_t>> constants = AsConstants(*contents);
  if (!constants) {
    FailUnsupported(std::string(what) + ": expected constants, found " +
                    graph::ShapeToString(*contents));
  }
  return constants;
}

std::optional<std::vector<double>> ImportContext::ConstantNumbers(
    const Tensor& operand, std::string_view what) {
  if (!CheckPresent(operand, what)) return std::nullopt;
  std::optional<std::vector<double>> contents =
      builder_.ConstantContents(operand.value());
  if (!contents) FailDataDependent(operand, what);
  return contents;
}

std::optional<Shape> ImportContext::Sizes(Tensor operand,
                                          std::string_view what) {
  if (!CheckPresent(operand, what)) return std::nullopt;
  if (operand.rank() > 1 || operand.is_float()) {
    FailInvalid(std::string(what) +
                ": expected integers in one dim, found type " +
                graph::ToString(operand.value()->type()));
    return std::nullopt;
  }
  if (operand.rank() == 0) operand = Reshape(operand, {Dim(1)});
  if (!ok()) return std::nullopt;
  if (!operand.dim(0).is_constant() &&
      !builder_.IntegerContents(operand.value())) {
    FailUnsupported(
        std::string(what) + ": expected a known number of sizes, found " +
        graph::ShapeToString(operand.shape()) + "; fix the dim with --shape");
    return std::nullopt;
  }
  Shape sizes = builder_.Extents(operand.value());
  if (!ok()) return std::nullopt;
  return sizes;
}

void ImportContext::FailDataDependent(const Tensor&, std::string_view what) {
  FailUnsupported(
      std::string(what) +
      " depends on the model's data: it must be known when compiling");
}

}  // namespace ember::ops

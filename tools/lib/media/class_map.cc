#include "tools/lib/media/class_map.h"

#include <algorithm>
#include <cmath>

#include "tools/lib/tensors/elements.h"

namespace ember::tools {
namespace {

constexpr int64_t kMinSide = 8, kMaxClasses = 4096;

bool IsSide(int64_t extent) {
  return extent >= kMinSide && extent <= Picture::kMaxPixels;
}

// The dims of a segmentation's result. If `classes` is 1, each pixel has one
// value: the number of its class, or a score of class 1.
struct Axes {
  int64_t classes = 1, height = 0, width = 0;
  bool classes_first = true;
};

std::optional<Axes> AxesOf(std::vector<int64_t> dims) {
  while (dims.size() > 2 && dims.front() == 1) dims.erase(dims.begin());
  if (dims.size() == 2) {
    if (!IsSide(dims[0]) || !IsSide(dims[1])) return std::nullopt;
    return Axes{1, dims[0], dims[1]};
  }
  if (dims.size() != 3) return std::nullopt;
  // The axis of the classes is the first or the last one, whichever is shorter.
  const bool is_first = dims[0] < dims[2];
  const int64_t classes = is_first ? dims[0] : dims[2];
  const int64_t height = is_first ? dims[1] : dims[0];
  const int64_t width = is_first ? dims[2] : dims[1];
  if (!IsSide(height) || !IsSide(width) || classes > kMaxClasses)
    return std::nullopt;
  return Axes{classes, height, width, is_first};
}

// True if the map may belong to the input: it has about the same proportion and
// is not much smaller.
bool Shows(const Axes& axes, const PictureView& view) {
  constexpr int64_t kMaxStride = 8;
  constexpr double kTolerance = 0.15;
  const auto x = static_cast<double>(axes.width) / view.width;
  const auto y = static_cast<double>(axes.height) / view.height;
  return axes.width * kMaxStride >= view.width &&
         axes.height * kMaxStride >= view.height &&
         std::fabs(x - y) <= kTolerance * std::max(x, y);
}

bool IsOutsideOfUnit(const vm::Tensor& tensor) {
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    const double value = FloatElement(tensor, i);
    if (value < 0 || value > 1) return true;
  }
  return false;
}

int32_t LargestClass(const vm::Tensor& tensor, const Axes& axes, int64_t at) {
  int32_t best = 0;
  double largest = -INFINITY;
  for (int64_t c = 0; c < axes.classes; ++c) {
    const int64_t index = axes.classes_first ? c * axes.height * axes.width + at
                                             : at * axes.classes + c;
    const double value = FloatElement(tensor, index);
    if (value <= largest) continue;
    largest = value;
    best = static_cast<int32_t>(c);
  }
  return best;
}

std::optional<ClassMap> MapOf(const std::string& name, const vm::Tensor& tensor,
                              const PictureView& view) {
  if (tensor.strings != nullptr) return std::nullopt;
  const std::optional<Axes> axes = AxesOf(tensor.dims);
  if (!axes || !Shows(*axes, view)) return std::nullopt;
  const bool is_float = IsFloat(tensor.type);
  constexpr int64_t kColours = 3;
  if (!is_float && axes->classes != 1 &&
      (DTypeByteSize(tensor.type) > 1 || axes->classes == kColours))
    return std::nullopt;
  ClassMap map;
  map.width = static_cast<int>(axes->width);
  map.height = static_cast<int>(axes->height);
  const bool is_mask = axes->classes == 1 && is_float;
  map.classes = is_mask ? 2 : axes->classes == 1 ? 0 : axes->classes;
  const double limit = is_mask && IsOutsideOfUnit(tensor) ? 0 : 0.5;
  for (int64_t i = 0; i < axes->height * axes->width; ++i) {
    if (axes->classes > 1) {
      map.numbers.push_back(LargestClass(tensor, *axes, i));
    } else if (is_mask) {
      map.numbers.push_back(FloatElement(tensor, i) > limit ? 1 : 0);
    } else {
      map.numbers.push_back(static_cast<int32_t>(
          std::clamp<int64_t>(IntegerElement(tensor, i), -1, INT32_MAX)));
    }
  }
  map.form = "'" + name + "', the class of each of " +
             std::to_string(map.width) + "x" + std::to_string(map.height) +
             " points";
  return map;
}

}  // namespace

std::optional<ClassMap> FindClassMap(std::span<const std::string> names,
                                     std::span<const vm::Tensor> results,
                                     const PictureView& view) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (std::optional<ClassMap> map = MapOf(names[i], results[i], view))
      return map;
  }
  return std::nullopt;
}

std::vector<int32_t> OnPicture(const ClassMap& map, const PictureView& view,
                               int width, int height) {
  std::vector<int32_t> numbers(
      static_cast<size_t>(width) * static_cast<size_t>(height), -1);
  for (int y = 0; y < height; ++y) {
    const double input_y = (y + 0.5 - view.top) / view.y_scale / view.height;
    const int row = static_cast<int>(std::floor(input_y * map.height));
    if (row < 0 || row >= map.height) continue;
    for (int x = 0; x < width; ++x) {
      const double input_x = (x + 0.5 - view.left) / view.x_scale / view.width;
      const int column = static_cast<int>(std::floor(input_x * map.width));
      if (column < 0 || column >= map.width) continue;
      numbers[static_cast<size_t>(y) * static_cast<size_t>(width) +
              static_cast<size_t>(x)] =
          map.numbers[static_cast<size_t>(row) *
                          static_cast<size_t>(map.width) +
                      static_cast<size_t>(column)];
    }
  }
  return numbers;
}

}  // namespace ember::tools

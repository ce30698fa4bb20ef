#include "tools/lib/media/detections.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "tools/lib/tensors/elements.h"

namespace ember::tools {
namespace {

// A result of the model. Leading 1s of its shape are removed from `dims`, but
// at least one dim is kept, and two if the last dim is 4 (a list of boxes).
struct Result {
  std::string name;  // name of the result, in lower case
  const vm::Tensor* tensor = nullptr;
  std::vector<int64_t> dims;

  double At(int64_t index) const { return FloatElement(*tensor, index); }
  bool Has(std::string_view part) const {
    return name.find(part) != std::string::npos;
  }
};

std::vector<Result> ResultsOf(std::span<const std::string> names,
                              std::span<const vm::Tensor> tensors) {
  std::vector<Result> results;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].strings != nullptr) continue;
    Result& result = results.emplace_back();
    result.name = names[i];
    std::ranges::transform(
        result.name, result.name.begin(),
        [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    result.tensor = &tensors[i];
    result.dims = tensors[i].dims;
    std::vector<int64_t>& dims = result.dims;
    const size_t kept = dims.size() > 1 && dims.back() == 4 ? 2 : 1;
    while (dims.size() > kept && dims.front() == 1) dims.erase(dims.begin());
  }
  return results;
}

// The results that together describe the detections; null where the model has
// none.
struct Parts {
  const Result* boxes = nullptr;
  const Result* scores = nullptr;
  const Result* classes = nullptr;
  const Result* count = nullptr;
  const Result* indices = nullptr;
  bool scores_have_classes = false;  // true: the scores are [N, C] or [C, N];
                                     // false: [N]
  bool classes_first = false;        // [C, N]
  int64_t class_count = 0;
};

bool IsList(const Result& result, int64_t n) {
  return result.dims == std::vector<int64_t>{n};
}

bool IsTensorflow(const Result& result) {
  return result.Has("detection_boxes") || result.Has("detection_postprocess") ||
         result.Has("partitionedcall");
}

// True if the elements look like class numbers: they are integers, or floats
// that are all whole numbers, of which at least one is above 1.
bool AreClasses(const Result& result) {
  if (IsInteger(result.tensor->type)) return true;
  bool is_above_one = false;
  for (int64_t i = 0; i < result.tensor->element_count(); ++i) {
    if (result.At(i) != std::floor(result.At(i))) return false;
    is_above_one |= result.At(i) > 1;
  }
  return is_above_one;
}

// Looks among the results of shape [N] for the scores and the classes of the N
// boxes.
void TakeLists(const std::vector<Result>& results, int64_t n, Parts& parts) {
  std::vector<const Result*> lists;
  for (const Result& result : results) {
    if (&result == parts.boxes || !IsList(result, n)) continue;
    if (result.Has("score") || result.Has("conf") || result.Has("prob")) {
      parts.scores = &result;
    } else if (result.Has("class") || result.Has("label")) {
      parts.classes = &result;
    } else {
      lists.push_back(&result);
    }
  }
  for (const Result* list : lists) {
    const bool is_class = AreClasses(*list);
    if (is_class && parts.classes == nullptr) {
      parts.classes = list;
    } else if (!is_class && parts.scores == nullptr) {
      parts.scores = list;
    } else if (parts.classes == nullptr && lists.size() > 1) {
      parts.classes = list;
    }
  }
}

// Looks for a result with a score for each box and class, [N, C] or [C, N].
void TakeMatrix(const std::vector<Result>& results, int64_t n, Parts& parts) {
  for (const Result& result : results) {
    if (&result == parts.boxes || result.dims.size() != 2) continue;
    const bool is_float = IsFloat(result.tensor->type);
    const bool rows = result.dims[0] == n, columns = result.dims[1] == n;
    if (!is_float || rows == columns) continue;
    parts.scores = &result;
    parts.scores_have_classes = true;
    parts.classes_first = columns;
    parts.class_count = result.dims[rows ? 1 : 0];
    return;
  }
}

// Returns the result that has the boxes, [N, 4] floats: the only one of this
// shape whose name contains "box", or, if no name does, the only one of this
// shape. Null if there is none or are several (a detector's own encoding has a
// result for each stride).
const Result* FindBoxes(const std::vector<Result>& results) {
  std::vector<const Result*> all, named;
  for (const Result& result : results) {
    if (result.dims.size() != 2 || result.dims[1] != 4 ||
        !IsFloat(result.tensor->type) || result.Has("raw"))
      continue;
    all.push_back(&result);
    if (result.Has("box")) named.push_back(&result);
  }
  const std::vector<const Result*>& found = named.empty() ? all : named;
  return found.size() == 1 ? found.front() : nullptr;
}

std::optional<Parts> FindParts(const std::vector<Result>& results) {
  Parts parts;
  parts.boxes = FindBoxes(results);
  if (parts.boxes == nullptr) return std::nullopt;
  const int64_t n = parts.boxes->dims[0];
  TakeLists(results, n, parts);
  if (parts.scores == nullptr) TakeMatrix(results, n, parts);
  for (const Result& result : results) {
    if (result.tensor->type == DType::kI64 && result.dims.size() == 2 &&
        result.dims[1] == 3)
      parts.indices = &result;
    if (n != 1 && result.tensor->element_count() == 1 &&
        (result.Has("num") || result.Has("count") || IsTensorflow(result)))
      parts.count = &result;
  }
  if (parts.scores == nullptr) return std::nullopt;
  return parts;
}

// Converts the four coordinates of a box to its corners in pixels of the
// picture.
class Corners {
 public:
  Corners(BoxOrder order, bool is_relative, const PictureView& view)
      : order_(order), is_relative_(is_relative), view_(view) {}

  void Set(const double (&box)[4], Detection& detection) const {
    double x1 = box[0], y1 = box[1], x2 = box[2], y2 = box[3];
    if (order_ == BoxOrder::kYxyx) {
      std::swap(x1, y1);
      std::swap(x2, y2);
    } else if (order_ == BoxOrder::kXywh) {
      x2 += x1;
      y2 += y1;
    } else if (order_ == BoxOrder::kCxcywh) {
      x1 -= x2 / 2;
      y1 -= y2 / 2;
      x2 += x1;
      y2 += y1;
    }
    const double x_unit = is_relative_ ? view_.width : 1;
    const double y_unit = is_relative_ ? view_.height : 1;
    detection.left = view_.left + x1 * x_unit * view_.x_scale;
    detection.right = view_.left + x2 * x_unit * view_.x_scale;
    detection.top = view_.top + y1 * y_unit * view_.y_scale;
    detection.bottom = view_.top + y2 * y_unit * view_.y_scale;
  }

 private:
  BoxOrder order_;
  bool is_relative_;
  const PictureView& view_;
};

bool IsFinite(const Detection& one) {
  return std::isfinite(one.left) && std::isfinite(one.top) &&
         std::isfinite(one.right) && std::isfinite(one.bottom) &&
         std::isfinite(one.score);
}

double Overlap(const Detection& a, const Detection& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (width <= 0 || height <= 0) return 0;
  const auto area = [](const Detection& one) {
    return (one.right - one.left) * (one.bottom - one.top);
  };
  const double both = width * height;
  return both / (area(a) + area(b) - both);
}

// Sorts the detections by score and keeps at most options.max_count of them.
// Leaves out boxes that are not finite and, if `removes_overlap`, each box that
// overlaps a better one of the same class.
void Finish(const DetectionOptions& options, bool removes_overlap,
            std::vector<Detection>& found) {
  std::erase_if(found, [](const Detection& one) { return !IsFinite(one); });
  std::ranges::stable_sort(found, std::greater<>(), &Detection::score);
  std::vector<Detection> kept;
  for (const Detection& one : found) {
    if (kept.size() >= options.max_count) break;
    const bool is_covered =
        removes_overlap &&
        std::ranges::any_of(kept, [&](const Detection& other) {
          return other.number == one.number &&
                 Overlap(one, other) > options.max_overlap;
        });
    if (!is_covered) kept.push_back(one);
  }
  found = std::move(kept);
}

// The form of a result whose rows have `width` numbers each. The other fields
// are indices in a row: `box` of the first of the box's four coordinates,
// `score`, and `number` of the class.
struct Rows {
  const Result* result;
  int64_t width, box, score, number;
};

std::optional<Rows> FindRows(const std::vector<Result>& results) {
  for (const Result& result : results) {
    if (result.dims.empty() || result.dims.size() > 2 ||
        !IsFloat(result.tensor->type))
      continue;
    // If there is only one row, the leading dim 1 of its shape has been
    // removed.
    const int64_t width = result.dims.back();
    if (width == 7) return Rows{&result, 7, 3, 2, 1};
    constexpr int64_t kMaxRows = 1000;
    if (width == 6 && results.size() == 1 &&
        result.tensor->element_count() <= 6 * kMaxRows)
      return Rows{&result, 6, 0, 4, 5};
  }
  return std::nullopt;
}

bool AreRelative(const Result& boxes, int64_t width, int64_t first) {
  constexpr double kLargest = 2;
  for (int64_t i = 0; i < boxes.tensor->element_count(); ++i) {
    const int64_t column = i % width;
    if (column >= first && column < first + 4 &&
        std::fabs(boxes.At(i)) > kLargest)
      return false;
  }
  return true;
}

Detections FromRows(const Rows& rows, const PictureView& view,
                    const DetectionOptions& options) {
  Detections detections;
  detections.form = "rows of " + std::to_string(rows.width) + " numbers";
  const BoxOrder order =
      options.order == BoxOrder::kAuto ? BoxOrder::kXyxy : options.order;
  const Corners corners(order, AreRelative(*rows.result, rows.width, rows.box),
                        view);
  const int64_t count = rows.result->tensor->element_count() / rows.width;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = [&](int64_t column) {
      return rows.result->At(i * rows.width + column);
    };
    // A row with a negative image number marks the end of the detections.
    if (rows.width == 7 && at(0) < 0) break;
    if (!(at(rows.score) >= options.min_score)) continue;
    Detection& one = detections.found.emplace_back();
    one.score = at(rows.score);
    one.number = std::lround(std::clamp(at(rows.number), -1e9, 1e9));
    corners.Set(
        {at(rows.box), at(rows.box + 1), at(rows.box + 2), at(rows.box + 3)},
        one);
  }
  Finish(options, false, detections.found);
  return detections;
}

// Reads the score and the class of box i. Returns false if the score is below
// options.min_score.
bool ReadScore(const Parts& parts, int64_t i, const DetectionOptions& options,
               Detection& one) {
  if (!parts.scores_have_classes) {
    one.score = parts.scores->At(i);
    if (parts.classes != nullptr) {
      one.number = std::lround(std::clamp(parts.classes->At(i), -1e9, 1e9));
    }
    return one.score >= options.min_score;
  }
  const int64_t n = parts.boxes->dims[0];
  one.score = -INFINITY;
  // If there are two classes, class 0 is taken for the background and skipped.
  for (int64_t c = parts.class_count == 2 ? 1 : 0; c < parts.class_count; ++c) {
    const double score = parts.scores->At(
        parts.classes_first ? c * n + i : i * parts.class_count + c);
    if (score <= one.score) continue;
    one.score = score;
    one.number = c;
  }
  return one.score >= options.min_score;
}

Detections FromParts(const Parts& parts, const PictureView& view,
                     const DetectionOptions& options) {
  Detections detections;
  detections.classes = parts.class_count;
  detections.form =
      "boxes '" + parts.boxes->name + "', scores '" + parts.scores->name + "'";
  BoxOrder order = options.order;
  if (order == BoxOrder::kAuto)
    order = IsTensorflow(*parts.boxes) ? BoxOrder::kYxyx : BoxOrder::kXyxy;
  const Corners corners(order, AreRelative(*parts.boxes, 4, 0), view);
  int64_t count = parts.boxes->dims[0];
  if (parts.count != nullptr) {
    count = static_cast<int64_t>(
        std::clamp<double>(parts.count->At(0), 0, static_cast<double>(count)));
  }
  const bool is_selected =
      parts.indices != nullptr && parts.scores_have_classes;
  if (is_selected) count = parts.indices->dims[0];
  for (int64_t i = 0; i < count; ++i) {
    Detection one;
    int64_t box = i;
    if (is_selected) {
      box = IntegerElement(*parts.indices->tensor, 3 * i + 2);
      if (box < 0 || box >= parts.boxes->dims[0]) continue;
    }
    if (!ReadScore(parts, box, options, one)) continue;
    const auto at = [&](int64_t k) { return parts.boxes->At(4 * box + k); };
    corners.Set({at(0), at(1), at(2), at(3)}, one);
    detections.found.push_back(one);
  }
  Finish(options, parts.scores_have_classes, detections.found);
  return detections;
}

}  // namespace

std::optional<Detections> FindDetections(std::span<const std::string> names,
                                         std::span<const vm::Tensor> results,
                                         const PictureView& view,
                                         const DetectionOptions& options) {
  const std::vector<Result> all = ResultsOf(names, results);
  if (const std::optional<Parts> parts = FindParts(all))
    return FromParts(*parts, view, options);
  if (const std::optional<Rows> rows = FindRows(all))
    return FromRows(*rows, view, options);
  return std::nullopt;
}

}  // namespace ember::tools

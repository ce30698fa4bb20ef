#include "tools/lib/media/classify.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include "base/one_line.h"
#include "tools/lib/tensors/elements.h"
#include "vm/isa/model_metadata.h"

namespace ember::tools {
namespace {

bool AreProbabilities(const std::vector<double>& scores) {
  constexpr double kTolerance = 1e-4;
  return std::ranges::all_of(scores, [](double score) {
    return score >= -kTolerance && score <= 1 + kTolerance;
  });
}

void Softmax(std::vector<double>& scores) {
  const double largest = *std::ranges::max_element(scores);
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (double& score : scores) score /= sum;
}

std::optional<double> NumberOf(std::span<const vm::MetadataEntry> metadata,
                               const std::string& key) {
  const vm::MetadataEntry* entry = vm::FindMetadata(metadata, key);
  if (entry == nullptr) return std::nullopt;
  const std::string_view text = entry->value;
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::optional<ScoreScale> ScaleOfResult(
    std::span<const vm::MetadataEntry> metadata, size_t number) {
  const std::string key = "tflite.output." + std::to_string(number);
  const std::optional<double> step = NumberOf(metadata, key + ".scale");
  const std::optional<double> zero = NumberOf(metadata, key + ".zero_point");
  if (!step || !zero || !(*step > 0) || !(std::fabs(*zero) < 1e9))
    return std::nullopt;
  return ScoreScale{*step, std::lround(*zero)};
}

std::optional<int64_t> ClassCount(const vm::Tensor& result) {
  if (result.strings != nullptr || result.type == DType::kBool)
    return std::nullopt;
  int64_t classes = 1;
  for (const int64_t dim : result.dims) {
    if (dim == 1) continue;
    if (classes != 1 || dim == 0) return std::nullopt;
    classes = dim;
  }
  if (classes < 2) return std::nullopt;
  return classes;
}

std::optional<std::string> TopText(std::string_view name,
                                   const vm::Tensor& result,
                                   const Labels& labels, int64_t top,
                                   std::optional<ScoreScale> scale) {
  const std::optional<int64_t> classes = ClassCount(result);
  if (!classes) return std::nullopt;
  std::vector<double> scores;
  const bool is_float = IsFloat(result.type) || scale;
  for (int64_t i = 0; i < *classes; ++i) {
    double& score = scores.emplace_back(FloatElement(result, i));
    if (scale && !IsFloat(result.type))
      score = (score - static_cast<double>(scale->zero_point)) * scale->step;
  }
  // Comparisons with NaN are always false, so NaN scores are replaced by the
  // lowest score before sorting.
  size_t nan_count = 0;
  for (double& score : scores) {
    if (!std::isnan(score)) continue;
    score = -INFINITY;
    ++nan_count;
  }
  const bool uses_softmax =
      is_float && nan_count == 0 && !AreProbabilities(scores);
  if (uses_softmax) Softmax(scores);
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)];
  });
  const int64_t shown = std::min(top, *classes);
  std::string text = OnOneLine(name) + ": top " + std::to_string(shown) +
                     " of " + std::to_string(*classes) +
                     (uses_softmax ? " (softmax applied)" : "");
  if (nan_count > 0)
    text += ", " + std::to_string(nan_count) + " scores are NaN";
  text += '\n';
  for (int64_t i = 0; i < shown; ++i) {
    const int64_t number = order[static_cast<size_t>(i)];
    char line[64];
    std::snprintf(
        line, sizeof(line), is_float ? "  %8.4f  %5lld" : "  %8.0f  %5lld",
        scores[static_cast<size_t>(number)], static_cast<long long>(number));
    text += line;
    if (!labels.empty())
      text += "  " + OnOneLine(labels.Name(number, *classes));
    text += '\n';
  }
  return text;
}

}  // namespace ember::tools

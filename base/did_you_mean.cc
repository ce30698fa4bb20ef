#include "base/did_you_mean.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ember {
namespace {

// Returns the edit distance: the number of characters to add, leave out or
// replace to change one text to the other.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t change = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, change});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string_view> NearestName(
    std::string_view name, std::span<const std::string_view> candidates) {
  std::optional<std::string_view> nearest;
  size_t best = 3;
  for (const std::string_view candidate : candidates) {
    const size_t distance = EditDistance(candidate, name);
    if (distance >= best || distance >= candidate.size()) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string DidYouMean(std::string_view name,
                       std::span<const std::string_view> candidates) {
  const std::optional<std::string_view> nearest = NearestName(name, candidates);
  if (!nearest) return "";
  return "; did you mean '" + std::string(*nearest) + "'?";
}

}  // namespace ember

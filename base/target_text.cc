#include "base/target_text.h"

#include <charconv>

namespace ember {

bool TargetText::Has(std::string_view feature) const {
  bool has = false;
  ForEachFeature([&](std::string_view found) {
    has |= found.substr(0, found.find('=')) == feature;
  });
  return has;
}

std::optional<int64_t> TargetText::Number(std::string_view feature) const {
  std::optional<int64_t> number;
  ForEachFeature([&](std::string_view found) {
    if (number || !found.starts_with(feature)) return;
    found.remove_prefix(feature.size());
    if (found.starts_with('=')) found.remove_prefix(1);
    int64_t value = 0;
    const char* const end = found.data() + found.size();
    const auto [at, error] = std::from_chars(found.data(), end, value);
    const bool is_kilo = at + 1 == end && *at == 'K';
    // Text other than a number behind the name shows that this is another
    // feature, whose name is longer.
    if (!found.empty() && (error != std::errc() || (at != end && !is_kilo)))
      return;
    number = is_kilo && value < INT64_MAX >> 10 ? value << 10 : value;
  });
  return number;
}

}  // namespace ember

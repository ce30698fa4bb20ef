// Reads the text that describes a machine, such as
// "x86_64-linux+avx2+fma+l2=1024K+cores=8" or
// "vulkan1.3+subgroup32+shared49152". No other code takes such texts apart.
//
//   TargetText target("x86_64-linux+avx2+l2=1024K+cores=8");
//   target.name();           // "x86_64-linux"
//   target.Has("avx2");      // true
//   target.Number("l2");     // 1048576
//
// The kind of machine comes first, then features: each is a name, or a name and
// its value, as in "cores=8", or "shared49152" where the value is a number. A
// view of the text, which must outlive it. Thread-safe.
#ifndef EMBER_BASE_TARGET_TEXT_H_
#define EMBER_BASE_TARGET_TEXT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace ember {

class TargetText {
 public:
  explicit TargetText(std::string_view text) : text_(text) {}

  std::string_view name() const { return text_.substr(0, text_.find('+')); }
  // True if the text has the feature `feature`, either the name alone or
  // "name=" with a value.
  bool Has(std::string_view feature) const;
  // Returns the value of a feature: 8 for "cores=8" and "subgroup8", 32768 for
  // "l1=32K", 0 for "dot". Returns nullopt if there is no such feature or if
  // its value is not a number.
  std::optional<int64_t> Number(std::string_view feature) const;

  // Calls visit(feature) for each feature, as written in the text.
  template <typename Visitor>
  void ForEachFeature(Visitor&& visit) const {
    std::string_view rest = text_;
    while (true) {
      const size_t plus = rest.find('+');
      if (plus == std::string_view::npos) return;
      rest.remove_prefix(plus + 1);
      visit(rest.substr(0, rest.find('+')));
    }
  }

 private:
  std::string_view text_;
};

}  // namespace ember

#endif  // EMBER_BASE_TARGET_TEXT_H_

// The text that describes a machine: "x86_64-linux+avx2+fma+l2=1024K+cores=8",
// "vulkan1.3+subgroup32+shared49152". The one place that takes it apart.
//
//   TargetText target("x86_64-linux+avx2+l2=1024K+cores=8");
//   target.name();           // "x86_64-linux"
//   target.Has("avx2");      // true
//   target.Number("l2");     // 1048576
//
// Behind the name of the machine's kind stand features, each a name, or a name
// and its value: "cores=8", or "shared49152" where the value is a number. A
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
  // Whether there is a feature "name", or "name=" with a value.
  bool Has(std::string_view feature) const;
  // Of "cores=8" and "subgroup8" 8, of "l1=32K" 32768, of "dot" 0; nothing
  // where there is no such feature, or its value is no number.
  std::optional<int64_t> Number(std::string_view feature) const;

  // Calls visit(feature) for each, as written.
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

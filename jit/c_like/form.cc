#include "jit/c_like/form.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"

namespace ember::jit::c_like {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";

}  // namespace

std::string Fill(std::string_view form,
                 std::initializer_list<GapValue> values) {
  std::string text;
  size_t begin = 0;
  for (size_t gap; (gap = form.find('$', begin)) != std::string_view::npos;) {
    text += form.substr(begin, gap - begin);
    const bool is_in_braces = form.substr(gap + 1).starts_with('{');
    const size_t name = gap + 1 + (is_in_braces ? 1 : 0);
    const size_t end =
        std::min(form.find_first_not_of(kLetters, name), form.size());
    const std::string_view wanted = form.substr(name, end - name);
    const auto* const found = std::ranges::find(values, wanted, &GapValue::gap);
    EMBER_CHECK(found != values.end()) << "no value for the gap $" << wanted;
    text += found->value;
    begin = end + (is_in_braces ? 1 : 0);
  }
  text += form.substr(begin);
  return text;
}

}  // namespace ember::jit::c_like

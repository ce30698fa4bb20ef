// Forms: texts of a language with named gaps, which make up most of a
// language's table.
//
//   Fill("const $type $name = $value;",
//        {{"type", "float"}, {"name", "v1"}, {"value", "x[0]"}});
//   // "const float v1 = x[0];"
//
// A gap is `$name`, or `${name}` if a letter follows. A gap without a value is
// a bug of the table. Thread-safe.
#ifndef EMBER_JIT_C_LIKE_FORM_H_
#define EMBER_JIT_C_LIKE_FORM_H_

#include <initializer_list>
#include <string>
#include <string_view>

namespace ember::jit::c_like {

struct GapValue {
  std::string_view gap;
  std::string_view value;
};

// Returns the form with values in its gaps. Values that the form has no gap for
// are not used.
std::string Fill(std::string_view form, std::initializer_list<GapValue> values);

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_FORM_H_

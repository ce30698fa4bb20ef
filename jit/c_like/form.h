// Fills the gaps of forms. A form is a text of a language with named gaps; most
// fields of a language's table (language.h) are forms.
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

// Returns the form with each gap replaced by the value of its name. Values
// without a gap are ignored.
std::string Fill(std::string_view form, std::initializer_list<GapValue> values);

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_FORM_H_

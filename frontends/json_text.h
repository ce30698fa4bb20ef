// Parses JSON as Python's json module writes it: with words for numbers that
// JSON does not have (Infinity, -Infinity and NaN).
//
//   EMBER_ASSIGN_OR_RETURN(const nlohmann::json config,
//                          ParseJsonText(text, "config.json",
//                              {.infinity = "1e308",
//                               .negative_infinity = "-1e308",
//                               .nan = "null"}));
//
// A text of more than kMaxJsonText bytes is an error. Errors are one line and
// name `what`. Thread-safe.
#ifndef EMBER_FRONTENDS_JSON_TEXT_H_
#define EMBER_FRONTENDS_JSON_TEXT_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/status.h"

namespace ember::frontends {

// Largest number of bytes of a model's description: far more than any model
// has, and far less than a computer's memory.
inline constexpr size_t kMaxJsonText = size_t{256} << 20;

// The JSON text that replaces each word (Infinity, -Infinity, NaN) that is not
// JSON.
struct JsonWords {
  std::string_view infinity, negative_infinity, nan;
};

StatusOr<nlohmann::json> ParseJsonText(std::string_view text,
                                       std::string_view what,
                                       const JsonWords& words);

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_JSON_TEXT_H_

// Fuzzes the JSON grammar: what it accepts, nlohmann-json parses, and what
// nlohmann-json parses, it accepts, but for the limits.
//
//   ./dev fuzz --seconds=3600 //llm/grammar:grammar_fuzz_test
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "llm/grammar/json_machine.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ember::llm::JsonMachine machine({.white_space = 255, .digits = 255});
  bool is_accepted = true;
  for (size_t i = 0; i < size && is_accepted; ++i) {
    is_accepted = machine.Push(data[i]);
  }
  const bool is_json = is_accepted && machine.IsComplete();
  // The parser skips a byte order mark, and reads surrogates, deep nesting and
  // large exponents, which the grammar does not have.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool is_limited = size > 60 || text.starts_with("\xef\xbb\xbf") ||
                          text.find("\\ud") != std::string_view::npos ||
                          text.find("\\uD") != std::string_view::npos ||
                          text.find_first_of("eE") != std::string_view::npos ||
                          text.find('\0') != std::string_view::npos;
  const bool is_parsed =
      !nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false)
           .is_discarded();
  if (is_json && !is_parsed) std::abort();
  if (is_parsed && !is_json && !is_limited) std::abort();
  return 0;
}

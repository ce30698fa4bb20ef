// Fuzzes JsonMachine by comparing it with nlohmann-json: each must accept
// exactly the texts that the other accepts, except for the limits of
// JsonMachine.
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
  // Texts with these features are skipped, because nlohmann-json accepts them
  // and JsonMachine does not: a byte order mark, surrogates, deep nesting,
  // large exponents.
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

// Fuzzes tokenizer.json files from strangers: reading, making the tokenizer and
// encoding a text must not do harm. An input is a tokenizer.json, a zero byte
// and a text.
//
//   ./dev fuzz --seconds=3600 //llm/tokenizer:json_fuzz_test
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "llm/tokenizer/json_definition.h"
#include "llm/tokenizer/text_stream.h"
#include "llm/tokenizer/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember::llm;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t zero = std::min(input.find('\0'), input.size());
  auto definition = ReadJsonTokenizer(input.substr(0, zero));
  if (!definition.ok()) return 0;
  const auto tokenizer = Tokenizer::Create(*std::move(definition));
  if (!tokenizer.ok()) return 0;
  // Seed files are a tokenizer.json only, without a text after it. Then a part
  // of the file itself is the text.
  std::string_view text = input.substr(std::min(zero + 1, size));
  if (text.empty()) text = input.substr(0, 200);
  const auto ids = tokenizer->Encode(text, {.parse_special = true});
  if (!ids.ok()) return 0;
  TextStream stream(*tokenizer, {.render_special = true});
  std::string decoded;
  for (const int32_t id : *ids) {
    if (!tokenizer->vocabulary().Has(id)) std::abort();
    decoded += stream.Push(id);
  }
  decoded += stream.Finish();
  if (!ember::IsUtf8(decoded)) std::abort();
  return 0;
}

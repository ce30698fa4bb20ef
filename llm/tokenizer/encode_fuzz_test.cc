// Fuzzes tokenizers with texts: encoding any bytes must give ids, and decoding
// these must give valid UTF-8. Decoding with a byte-level tokenizer must return
// the text. The first byte of an input chooses the tokenizer, the others are
// the text.
//
//   ./dev fuzz --seconds=3600 //llm/tokenizer:encode_fuzz_test
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/utf8.h"
#include "llm/text/utf8.h"
#include "llm/tokenizer/json_definition.h"
#include "llm/tokenizer/text_stream.h"
#include "llm/tokenizer/tokenizer.h"

namespace ember::llm {
namespace {

constexpr const char* kNames[] = {"gpt2",  "llama2",    "llama3",
                                  "qwen2", "wordpiece", "unigram"};
// Number of first tokenizers in the list that are byte-level without a
// normalizer, so that decoding must give the text back.
constexpr size_t kKeepsText = 1;

const std::vector<Tokenizer>& Tokenizers() {
  static const auto* const kAll = [] {
    auto* const all = new std::vector<Tokenizer>;
    for (const char* const name : kNames) {
      const auto text =
          ReadFile(std::string("llm/tokenizer/testdata/") + name + ".json");
      if (!text.ok()) {
        std::fprintf(stderr, "%s\n", text.status().ToString().c_str());
        std::abort();
      }
      nlohmann::json sample = nlohmann::json::parse(*text);
      nlohmann::json& tokenizer = sample["tokenizer"];
      // The normalizer of this sample composes characters, which changes texts,
      // so it is removed.
      if (std::string_view(name) == "gpt2") tokenizer["normalizer"] = nullptr;
      auto definition = ReadJsonTokenizer(tokenizer.dump());
      if (!definition.ok()) std::abort();
      auto made = Tokenizer::Create(*std::move(definition));
      if (!made.ok()) std::abort();
      all->push_back(*std::move(made));
    }
    return all;
  }();
  return *kAll;
}

void Check(const Tokenizer& tokenizer, std::string_view text, bool keeps_text) {
  const auto ids =
      tokenizer.Encode(text, {.add_special = false, .parse_special = true});
  if (!ids.ok()) std::abort();
  TextStream stream(tokenizer, {.render_special = true});
  std::string decoded;
  for (const int32_t id : *ids) {
    if (!tokenizer.vocabulary().Has(id)) std::abort();
    decoded += stream.Push(id);
  }
  decoded += stream.Finish();
  if (!IsUtf8(decoded)) std::abort();
  if (keeps_text && decoded != ToValidUtf8(text)) std::abort();
}

}  // namespace
}  // namespace ember::llm

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember::llm;
  if (size == 0) return 0;
  const std::vector<Tokenizer>& all = Tokenizers();
  const size_t index = data[0] % all.size();
  const std::string_view text(reinterpret_cast<const char*>(data) + 1,
                              size - 1);
  Check(all[index], text, index < kKeepsText);
  return 0;
}

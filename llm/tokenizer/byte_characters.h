// Converts between the bytes of byte-level vocabularies and the visible
// characters by which files write them. A space, for example, is written as
// "Ġ".
//
//   BytesOfCharacters("Ġthe");   // " the"
//   CharactersOfBytes(" the");   // "Ġthe"
//
// Thread-safe. Source: GPT-2's encoder.
#ifndef EMBER_LLM_TOKENIZER_BYTE_CHARACTERS_H_
#define EMBER_LLM_TOKENIZER_BYTE_CHARACTERS_H_

#include <string>
#include <string_view>

namespace ember::llm {

// Characters that do not stand for a byte are kept as they are.
std::string BytesOfCharacters(std::string_view text);
std::string CharactersOfBytes(std::string_view bytes);

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_BYTE_CHARACTERS_H_

// Files of models that no frontend reads, for messages: what a file is, and how
// its model comes here all the same.
//
//   if (const OtherFormat* other = FindOtherFormat(contents, "m.gguf"))
//     … "found " + other->title + ": " + other->advice
//
// Only files that FindFormat (formats.h) does not know are asked about.
#ifndef EMBER_FRONTENDS_OTHER_FORMATS_H_
#define EMBER_FRONTENDS_OTHER_FORMATS_H_

#include <span>
#include <string_view>

namespace ember::frontends {

struct OtherFormat {
  std::string_view title;   // "a GGUF file (llama.cpp)"
  std::string_view advice;  // "export …"
  bool (*sniff)(std::string_view contents, std::string_view path);
};

std::span<const OtherFormat> OtherFormats();

// Null: it is none of them.
const OtherFormat* FindOtherFormat(std::string_view contents,
                                   std::string_view path);

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_OTHER_FORMATS_H_

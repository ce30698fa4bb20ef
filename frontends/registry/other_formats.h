// Files of models that no frontend reads, for messages: what such a file is,
// and how its model can be converted to a format that a frontend reads.
//
//   if (const OtherFormat* other = FindOtherFormat(contents, "m.pte"))
//     … "found " + other->title + ": " + other->advice
//
// The functions are only correct for files that FindFormat (formats.h) does not
// know.
#ifndef EMBER_FRONTENDS_REGISTRY_OTHER_FORMATS_H_
#define EMBER_FRONTENDS_REGISTRY_OTHER_FORMATS_H_

#include <span>
#include <string_view>

namespace ember::frontends {

struct OtherFormat {
  // Name of the format for messages, such as "an OpenVINO model (.xml with
  // .bin)".
  std::string_view title;
  std::string_view advice;  // "export …"
  bool (*sniff)(std::string_view contents, std::string_view path);
};

std::span<const OtherFormat> OtherFormats();

// Returns the row of OtherFormats that recognises the file; null if none does.
const OtherFormat* FindOtherFormat(std::string_view contents,
                                   std::string_view path);

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_REGISTRY_OTHER_FORMATS_H_

// The formats that this build reads.
//
//   for (const Format* format : Formats()) …
//   const Format* format = FindFormat(contents, path);  // null: none of them
#ifndef EMBER_FRONTENDS_FORMATS_H_
#define EMBER_FRONTENDS_FORMATS_H_

#include <span>
#include <string>
#include <string_view>

#include "frontends/frontend.h"

namespace ember::frontends {

std::span<const Format* const> Formats();

// The format whose contents these are.
const Format* FindFormat(std::string_view contents);
// The format that a file name ends as, for files whose contents are damaged.
const Format* FindFormatByName(std::string_view path);

// The file that a user's path means: itself, or of a folder the file in it that
// a format calls its model's; the path where there is none.
std::string FileOfModel(const std::string& path);

// ".onnx or .tflite": the usual extensions, for messages.
std::string ExtensionsText();

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_FORMATS_H_

// The formats that this build reads.
//
//   for (const Format* format : Formats()) …
//   const Format* format = FindFormat(contents);  // null: none of them
#ifndef EMBER_FRONTENDS_REGISTRY_FORMATS_H_
#define EMBER_FRONTENDS_REGISTRY_FORMATS_H_

#include <span>
#include <string>
#include <string_view>

#include "frontends/frontend.h"

namespace ember::frontends {

std::span<const Format* const> Formats();

// Returns the format of a file with these contents; null if no format
// recognises them.
const Format* FindFormat(std::string_view contents);
// Returns the format by the file's extension, for files whose contents are
// damaged; null if no format has it.
const Format* FindFormatByName(std::string_view path);

// Returns the model's file for a user's path: the path itself; or, for a
// folder, the file in it that a format recognises, if there is one.
std::string FileOfModel(const std::string& path);

// Returns the usual file extension of each format as one text, for messages:
// ".onnx or .tflite".
std::string ExtensionsText();

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_REGISTRY_FORMATS_H_

#include "frontends/formats.h"

#include "frontends/keras/format.h"
#include "frontends/mxnet/format.h"
#include "frontends/onnx/format.h"
#include "frontends/tflite/format.h"

namespace ember::frontends {
namespace {

constexpr const Format* kFormats[] = {
    &onnx::kFormat,
    &tflite::kFormat,
    &keras::kFormat,
    &mxnet::kFormat,
};

}  // namespace

std::span<const Format* const> Formats() { return kFormats; }

const Format* FindFormat(std::string_view contents) {
  for (const Format* format : kFormats) {
    if (format->sniff(contents)) return format;
  }
  return nullptr;
}

const Format* FindFormatByName(std::string_view path) {
  for (const Format* format : kFormats) {
    for (const std::string_view extension : format->extensions) {
      if (path.ends_with(extension)) return format;
    }
  }
  return nullptr;
}

std::string ExtensionsText() {
  std::string text;
  for (size_t i = 0; i < std::size(kFormats); ++i) {
    if (i > 0) text += i + 1 < std::size(kFormats) ? ", " : " or ";
    text += kFormats[i]->extensions.front();
  }
  return text;
}

}  // namespace ember::frontends

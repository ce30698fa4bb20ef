#include "frontends/registry/formats.h"

#include <filesystem>
#include <system_error>

#include "frontends/caffe/format.h"
#include "frontends/caffe2/format.h"
#include "frontends/coreml/format.h"
#include "frontends/gguf/format.h"
#include "frontends/keras/format.h"
#include "frontends/mxnet/format.h"
#include "frontends/onnx/format.h"
#include "frontends/safetensors/format.h"
#include "frontends/stablehlo/format.h"
#include "frontends/tensorflow/format.h"
#include "frontends/tflite/format.h"
#include "frontends/torch_export/format.h"
#include "frontends/torchscript/format.h"

namespace ember::frontends {
namespace {

// Order matters: an extension that several formats share belongs to the first
// of them. Caffe2 shares its extensions with TensorFlow.
constexpr const Format* kFormats[] = {
    &onnx::kFormat,        &tflite::kFormat,       &caffe2::kFormat,
    &tensorflow::kFormat,  &keras::kFormat,        &mxnet::kFormat,
    &caffe::kFormat,       &coreml::kFormat,       &stablehlo::kFormat,
    &torchscript::kFormat, &torch_export::kFormat, &gguf::kFormat,
    &safetensors::kFormat,
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

std::string FileOfModel(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return path;
  for (const Format* format : kFormats) {
    if (format->file_of_folder == nullptr) continue;
    if (std::string file = format->file_of_folder(path); !file.empty())
      return file;
  }
  return path;
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

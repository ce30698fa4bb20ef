// A model that a user names or passes as bytes, and the opened file or bytes
// with its format.
//
//   EMBER_ASSIGN_OR_RETURN(
//       OpenedModel opened,
//       OpenUncompiled(ModelSource::OfUserPath("resnet50.onnx")));
//   opened.kind.format->import(opened.file, {});
//
// The kind of a model is recognised by its contents. Errors are one line that
// begins with the model's name. The functions are thread-safe.
#ifndef EMBER_TOOLS_LIB_MODELS_MODEL_SOURCE_H_
#define EMBER_TOOLS_LIB_MODELS_MODEL_SOURCE_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"
#include "frontends/model_file.h"

namespace ember::tools {

// The kind of a file: a compiled module, the text of a dispatch or module
// (text_module.h), a model of a format, or none of these.
struct ModelFileKind {
  bool is_module = false;
  bool is_text = false;
  const frontends::Format* format = nullptr;
};

// Returns the kind of a file, recognised by its contents. The path decides only
// if the contents could be of several kinds.
ModelFileKind SniffModelFile(std::string_view contents, std::string_view path);
// Describes contents for error messages: "an ELF program", "a ZIP archive
// (PyTorch, Keras?)".
std::string DescribeContents(std::string_view contents);

struct ModelSource {
  // Returns the source for a path as the user typed it
  // (tools/lib/cli/paths.h). "-" is stdin, which OpenModel reads.
  static ModelSource OfUserPath(const std::string& path);

  std::string name;  // name in messages, with which errors begin
  // Path of the model's file or folder for the operating system. Unused if
  // `contents` is set.
  std::string path;
  // The bytes of a model that is in memory. `name` must then contain no slash.
  std::optional<graph::ConstantData> contents = std::nullopt;
  // Folder of further files (such as weights) of a model in memory; empty:
  // none.
  std::string folder = "";
  // Name of the format (frontends::Format::name); empty: the contents decide.
  std::string format = "";
};

// The name of a model in error messages.
struct ModelName {
  // Puts `shown` in front of an error's message, unless it is there already.
  Status Begin(const Status& status) const;

  std::string shown;  // ModelSource::name
  std::string path;   // frontends::ModelFile::path
  bool is_in_memory = false;
};

// A model whose file was opened once. Its kind, its inputs and the model itself
// are read from the same open file.
struct OpenedModel {
  ModelName name;
  frontends::ModelFile file;
  ModelFileKind kind;
};

StatusOr<OpenedModel> OpenModel(const ModelSource& source);
// Opens a model that must be in a format of a frontend. Error: it is a compiled
// module or a text.
StatusOr<OpenedModel> OpenUncompiled(const ModelSource& source);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_MODEL_SOURCE_H_

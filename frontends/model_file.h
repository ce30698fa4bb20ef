// A model's file that is opened, mapped and parsed once, however many steps
// need it: recognising its format, listing its inputs, importing it once or
// twice.
//
//   ModelFile file("net.tflite");
//   EMBER_ASSIGN_OR_RETURN(const graph::ConstantData mapped, file.Map());
//   format = FindFormat(AsText(mapped.bytes));
//   EMBER_ASSIGN_OR_RETURN(const auto inputs, format->inputs(file, {}));
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, format->import(file, {}));
//
// A model that is in memory is a ModelFile, too (InMemory).
//
// Errors name the path and the system's reason. Move-only; one thread.
#ifndef EMBER_FRONTENDS_MODEL_FILE_H_
#define EMBER_FRONTENDS_MODEL_FILE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/file.h"
#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::frontends {

class ModelFile {
 public:
  // `path` is passed to the operating system as it is. The file is opened when
  // its contents are first needed.
  explicit ModelFile(std::string path) : path_(std::move(path)) {}
  // Returns a model whose bytes are in memory. Errors name it `name`, which has
  // no slash. Files beside the model are looked for in `folder`; if `folder` is
  // empty, the model has no files beside it.
  static ModelFile InMemory(std::string_view name, std::string_view folder,
                            graph::ConstantData contents);
  ModelFile(ModelFile&&) = default;
  ModelFile& operator=(ModelFile&&) = default;

  const std::string& path() const { return path_; }
  // Returns the last part of the path, which names the model in errors.
  std::string name() const;
  // Returns the path of the folder with the file: "." for "net.tflite"; "" if
  // the model has no folder.
  std::string folder() const;

  // Returns the whole file. The first call opens and maps it.
  StatusOr<graph::ConstantData> Map();

  // Returns the result of `parse`, a function that takes the ConstantData of
  // Map and returns a StatusOr of a T or of a pointer to one. Only the first
  // call for a T and a `variant` parses; later ones return the same object.
  // After parsing, the file stays mapped only as long as the object holds the
  // owner of its bytes.
  template <typename T, typename Parse>
  StatusOr<std::shared_ptr<T>> Parsed(const Parse& parse,
                                      std::string_view variant = "") {
    if (parsed_ == nullptr || type_ != &kType<T> || variant_ != variant) {
      EMBER_ASSIGN_OR_RETURN(const graph::ConstantData contents, Map());
      ++parse_count_;
      EMBER_ASSIGN_OR_RETURN(auto parsed, parse(contents));
      if constexpr (std::is_same_v<decltype(parsed), T>) {
        parsed_ = std::make_shared<T>(std::move(parsed));
      } else {
        parsed_ = std::shared_ptr<T>(std::move(parsed));
      }
      type_ = &kType<T>;
      variant_ = variant;
      held_ = nullptr;
    }
    return std::static_pointer_cast<T>(std::const_pointer_cast<void>(parsed_));
  }

  // Returns how often the file was parsed.
  int parse_count() const { return parse_count_; }

 private:
  // One variable per type T: its address identifies T in type_.
  template <typename T>
  static constexpr char kType = 0;

  std::string path_;
  std::weak_ptr<const MappedFile> mapped_;
  std::shared_ptr<const MappedFile> held_;  // null after parsing
  std::shared_ptr<const void> parsed_;      // null before parsing
  const char* type_ = nullptr;
  std::string variant_;
  int parse_count_ = 0;
  // Set only for a model in memory: its bytes.
  std::optional<graph::ConstantData> contents_;
  bool has_folder_ = true;
};

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_MODEL_FILE_H_

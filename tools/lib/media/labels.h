// Reads the names (labels) of a model's classes.
//
//   EMBER_ASSIGN_OR_RETURN(Labels labels, ReadLabels("labels.txt"));
//   labels.Name(281, 1000)   // "tabby, tabby cat"
//
// A file has a label in each line, with or without its number before it ("281
// tabby", "281: tabby") or the number of a WordNet synset ("n02123045 tabby");
// or it is JSON: a list of texts, or an object from numbers to texts or to
// lists whose last text is the label. Empty lines at the end do not count.
// Errors are one line that names the file. Thread-compatible.
#ifndef EMBER_TOOLS_LIB_MEDIA_LABELS_H_
#define EMBER_TOOLS_LIB_MEDIA_LABELS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "vm/isa/module_definition.h"

namespace ember::tools {

struct Labels {
  std::vector<std::string> names;
  std::string source;  // origin of the labels, for messages: a file or a
                       // metadata key

  bool empty() const { return names.empty(); }
  // True if a result with `classes` classes can have these labels: there are as
  // many labels, or one fewer, in which case class 0 is an unlabelled
  // background.
  bool Fits(int64_t classes) const;
  // Returns the label of a class, or a text such as "class 7" if it has none.
  // `classes` is the number of classes of the result; 0: not known.
  std::string Name(int64_t number, int64_t classes) const;
};

// Reads labels from a file. The path is as the user typed it
// (tools/lib/cli/paths.h).
StatusOr<Labels> ReadLabels(const std::string& path);
// Parses labels from the text of a file; `name` is the file's, for errors.
StatusOr<Labels> ParseLabels(std::string_view text, std::string_view name);

// Returns the labels of a model's result, from the first of these keys that
// exists: "labels" (vm-compile --metadata labels=@FILE), tflite.output.N.labels
// and .value_labels, coreml.class_labels, onnx.metadata.names (as Ultralytics
// writes it). No labels if there are none.
Labels LabelsOfModel(std::span<const vm::MetadataEntry> metadata,
                     size_t result_count);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_LABELS_H_

// Collects the information in a model's file that is not the model itself: the
// graph's metadata. A key is the format's name followed by the format's own key
// (docs/formats.md).
//
//   MetadataCollector metadata("onnx");
//   metadata.Add("producer_name", model.producer_name());
//   metadata.Add("metadata.labels", "cat\ndog");   // onnx.metadata.labels
//   graph.set_metadata(std::move(metadata).Take());
//
// Empty values are not added; of two values with the same key the first counts.
// Values that are no UTF-8, or that contain zero bytes, become "hex:" and two
// digits for each byte. Values that are too long, or that exceed the limits of
// base/metadata_rules.h, never prevent a model from being compiled: they are
// left out, and the key "onnx.left_out" has a line with the reason for each.
// Not thread-safe.
#ifndef EMBER_FRONTENDS_METADATA_H_
#define EMBER_FRONTENDS_METADATA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/graph/graph.h"

namespace ember::frontends {

// Returns the shortest text that reads back as the same float: "0.5".
std::string NumberText(float value);

class MetadataCollector {
 public:
  // `format`: frontends::Format::name.
  explicit MetadataCollector(std::string_view format);

  // Adds an entry, unless the value is empty. An entry that exceeds a limit is
  // left out. `name`: the key without the format's name; it may contain any
  // bytes.
  void Add(std::string_view name, std::string_view value);
  void AddNumber(std::string_view name, float value);
  void AddInteger(std::string_view name, int64_t value);
  // Adds a file next to the model or in its archive. It is left out if it is no
  // text.
  void AddFile(std::string_view name, std::string_view contents);
  // True if the names and values that callers passed exceed a limit, so that no
  // further value is added.
  bool full() const;
  // Records a part that is left out. `why`: "expected …, found …".
  void LeaveOut(std::string_view name, std::string_view why);

  graph::Metadata Take() &&;

 private:
  // Adds the size of an entry to seen_. Returns false if the sum exceeds the
  // limit, so that the entry must be left out.
  bool See(std::string_view name, std::string_view value);

  std::string prefix_;
  graph::Metadata entries_;
  size_t bytes_ = 0;
  // Bytes of all names and values that callers passed, and kBytesPerEntry more
  // for each.
  size_t seen_ = 0;
  std::string left_out_;
};

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_METADATA_H_

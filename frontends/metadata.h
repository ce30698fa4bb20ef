// Collects what a model's file says beside the model: the graph's metadata.
// Keys are the format's own names behind the format (docs/formats.md).
//
//   MetadataCollector metadata("onnx");
//   metadata.Add("producer_name", model.producer_name());
//   metadata.Add("metadata.labels", "cat\ndog");   // onnx.metadata.labels
//   graph.set_metadata(std::move(metadata).Take());
//
// What is empty is not added; of two values of one key the first counts. What
// is no UTF-8, or has bytes 0, becomes "hex:" and two digits for each byte.
// What is too long, and what goes beyond the limits of base/metadata_rules.h,
// never keeps a model from being compiled: the key "onnx.left_out" then has a
// line for each, which says why. Not thread-safe.
#ifndef EMBER_FRONTENDS_METADATA_H_
#define EMBER_FRONTENDS_METADATA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/graph/graph.h"

namespace ember::frontends {

// "0.5": the shortest that reads back as the same float.
std::string NumberText(float value);

class MetadataCollector {
 public:
  // format: as in frontends::Format::name.
  explicit MetadataCollector(std::string_view format);

  // name: without the format, may hold anything.
  void Add(std::string_view name, std::string_view value);
  void AddNumber(std::string_view name, float value);
  void AddInteger(std::string_view name, int64_t value);
  // A file beside the model or in its archive: text, or it is left out.
  void AddFile(std::string_view name, std::string_view contents);
  // Whether so much was given that nothing more is taken.
  bool full() const;
  // A part that cannot be read. why: "expected …, found …".
  void LeaveOut(std::string_view name, std::string_view why);

  graph::Metadata Take() &&;

 private:
  // Counts it; false: it is too much.
  bool See(std::string_view name, std::string_view value);

  std::string prefix_;
  graph::Metadata entries_;
  size_t bytes_ = 0;
  size_t seen_ = 0;  // bytes that were given, and a few more for each entry
  std::string left_out_;
};

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_METADATA_H_

// Maps the files next to a model that hold its weights ("external data"). Each
// file is mapped once; a file outside the model's folder is refused.
//
//   ExternalFiles files("models/bert");
//   EMBER_ASSIGN_OR_RETURN(ExternalBytes data,
//                          files.Read("weights.bin", 0, 4096));
//
// Errors: those of frontends/file_inside.h, and a range outside the file; one
// line, whatever the location contains. Not thread-safe.
#ifndef EMBER_FRONTENDS_ONNX_NODE_EXTERNAL_DATA_H_
#define EMBER_FRONTENDS_ONNX_NODE_EXTERNAL_DATA_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "base/file.h"
#include "base/status.h"

namespace ember::onnx {

struct ExternalBytes {
  std::shared_ptr<const void> owner;  // keeps the mapping
  std::span<const uint8_t> bytes;
};

class ExternalFiles {
 public:
  // `folder`: the folder of the model. If empty, external data is refused.
  // `model` is the path of its file, which may be a link (file_inside.h).
  explicit ExternalFiles(std::string folder, std::string model = "")
      : folder_(std::move(folder)), model_(std::move(model)) {}

  // Returns `length` bytes of a file from the offset on. length < 0: to the end
  // of the file.
  StatusOr<ExternalBytes> Read(const std::string& location, int64_t offset,
                               int64_t length);

 private:
  StatusOr<std::shared_ptr<MappedFile>> Open(const std::string& location);

  std::string folder_, model_;
  std::map<std::string, std::shared_ptr<MappedFile>> files_;
};

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_NODE_EXTERNAL_DATA_H_

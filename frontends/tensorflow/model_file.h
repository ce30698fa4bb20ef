// Parses bytes into TensorFlow's messages: binary or text, GraphDef or
// SavedModel.
#ifndef EMBER_FRONTENDS_TENSORFLOW_MODEL_FILE_H_
#define EMBER_FRONTENDS_TENSORFLOW_MODEL_FILE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "third_party/tensorflow/tensorflow.pb.h"

namespace ember::tensorflow {

enum class FileKind : uint8_t {
  kNone,
  kGraph,
  kSavedModel,
  kGraphText,
  kSavedModelText
};

// Returns the kind of a file. Only the beginning of the contents is examined,
// so the rest may be malformed.
FileKind KindOf(std::string_view contents);

// Parses a file into the message that its kind selects. The bytes are read in
// pieces, and are not needed afterwards.
Status ParseFile(std::span<const uint8_t> bytes, FileKind kind, GraphDef& graph,
                 SavedModel& saved);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_MODEL_FILE_H_

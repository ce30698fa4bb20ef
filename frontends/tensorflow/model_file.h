// Bytes as TensorFlow's messages: binary or text, GraphDef or SavedModel.
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

// By how the contents begin; the whole need not be sound.
FileKind KindOf(std::string_view contents);

// Fills the message that the kind says; the bytes are read in pieces, and may
// go afterwards.
Status ParseFile(std::span<const uint8_t> bytes, FileKind kind, GraphDef& graph,
                 SavedModel& saved);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_MODEL_FILE_H_

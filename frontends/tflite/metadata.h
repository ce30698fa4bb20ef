// Reads the metadata of a TensorFlow Lite file: the model's description, the
// entries of its metadata, and the text files of the ZIP archive that is
// appended to the file.
//
//   graph.set_metadata(MetadataOf(*model, file));
//
// docs/formats.md lists the keys. Damaged entries are left out, and named.
// Thread-safe.
//
// Source: TensorFlow Lite Support's metadata_schema.fbs.
#ifndef EMBER_FRONTENDS_TFLITE_METADATA_H_
#define EMBER_FRONTENDS_TFLITE_METADATA_H_

#include <cstdint>
#include <span>

#include "compiler/graph/graph.h"
#include "frontends/tflite/model.h"

namespace ember::tflite {

// Returns the metadata. file: the bytes of the whole file, which contains the
// model.
graph::Metadata MetadataOf(const Model& model, std::span<const uint8_t> file);

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_METADATA_H_

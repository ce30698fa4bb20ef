// What a TensorFlow Lite file says beside its model: its description, the
// entries of its metadata, and the text files of the ZIP archive behind it.
//
//   graph.set_metadata(MetadataOf(*model, file));
//
// docs/formats.md lists the keys. What is damaged is left out, and named.
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

// file: all of it, in which the model was found.
graph::Metadata MetadataOf(const Model& model, std::span<const uint8_t> file);

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_METADATA_H_

// Reads the metadata of an ONNX file: its producer, its version, and the
// properties that the producer added.
//
//   graph.set_metadata(MetadataOf(*model));
//
// docs/formats.md lists the keys. Thread-safe. Source: ONNX's IR.md.
#ifndef EMBER_FRONTENDS_ONNX_IMPORT_METADATA_H_
#define EMBER_FRONTENDS_ONNX_IMPORT_METADATA_H_

#include "compiler/graph/graph.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {

graph::Metadata MetadataOf(const ModelProto& model);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_IMPORT_METADATA_H_

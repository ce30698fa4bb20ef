// Reads the metadata of a Core ML model: author, descriptions, entries that its
// maker added, and the labels of its classes.
//
//   graph.set_metadata(MetadataOf(model));
//
// docs/formats.md lists the keys. Thread-safe. Source: Apple's Model.proto.
#ifndef EMBER_FRONTENDS_COREML_METADATA_H_
#define EMBER_FRONTENDS_COREML_METADATA_H_

#include "compiler/graph/graph.h"
#include "frontends/coreml/model.h"

namespace ember::coreml {

graph::Metadata MetadataOf(const Model& model);

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_METADATA_H_

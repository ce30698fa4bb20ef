// Reads the metadata of a SavedModel: tags, the version that wrote it, its
// signatures, and its assets, which are text files such as vocabularies.
//
//   graph.set_metadata(MetadataOf(*model));
//
// docs/formats.md lists the keys. A GraphDef has no metadata. Thread-safe.
#ifndef EMBER_FRONTENDS_TENSORFLOW_METADATA_H_
#define EMBER_FRONTENDS_TENSORFLOW_METADATA_H_

#include "compiler/graph/graph.h"
#include "frontends/tensorflow/model.h"

namespace ember::tensorflow {

graph::Metadata MetadataOf(const Model& model);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_METADATA_H_

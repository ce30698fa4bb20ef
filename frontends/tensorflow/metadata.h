// What a SavedModel says beside its graph: tags, the version that wrote it, its
// signatures, and its assets, which are files of text such as vocabularies.
//
//   graph.set_metadata(MetadataOf(*model));
//
// docs/formats.md lists the keys. Nothing of a GraphDef. Thread-safe.
#ifndef EMBER_FRONTENDS_TENSORFLOW_METADATA_H_
#define EMBER_FRONTENDS_TENSORFLOW_METADATA_H_

#include "compiler/graph/graph.h"
#include "frontends/tensorflow/model.h"

namespace ember::tensorflow {

graph::Metadata MetadataOf(const Model& model);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_METADATA_H_

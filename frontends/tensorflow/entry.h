// Finds the part of a model to import: its inputs, its outputs, and their
// names.
//
//   EMBER_ASSIGN_OR_RETURN(Entry entry, FindEntry(*model, ""));
//   FindEntry(*model, "serving_default")       // a SavedModel's signature
//   FindEntry(*model, "Mfcc->labels_softmax")  // cut out of the graph
//
// Without a text the entry is the signature serving_default, or the only
// signature. For a GraphDef the entry has as inputs the placeholders that the
// outputs need, in the order of the graph, and as outputs all results that no
// node uses. "A,B:1->C" cuts a part out of the graph: inputs on the left,
// outputs on the right. If a side is empty, its inputs or outputs are chosen as
// for an empty text.
#ifndef EMBER_FRONTENDS_TENSORFLOW_ENTRY_H_
#define EMBER_FRONTENDS_TENSORFLOW_ENTRY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/tensorflow/model.h"

namespace ember::tensorflow {

struct EntryInput {
  std::string name;
  Source source;
  DataType type = DT_INVALID;
  // Extents of the input's dims; -1 is open. Nullopt if the rank is unknown,
  // too.
  std::optional<std::vector<int64_t>> shape;
};

struct EntryOutput {
  std::string name;
  Source source;
  // DT_STRING if the output is known to be a string; else DT_INVALID.
  DataType type = DT_INVALID;
};

struct Entry {
  std::vector<EntryInput> inputs;
  std::vector<EntryOutput> outputs;
};

StatusOr<Entry> FindEntry(const Model& model, const std::string& text);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_ENTRY_H_

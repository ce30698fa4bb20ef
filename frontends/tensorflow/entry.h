// What of a model is imported: which values it is given and which it gives, and
// what these are called.
//
//   EMBER_ASSIGN_OR_RETURN(Entry entry, FindEntry(*model, ""));
//   FindEntry(*model, "serving_default")       // a SavedModel's signature
//   FindEntry(*model, "Mfcc->labels_softmax")  // cut out of the graph
//
// Without a text: the signature serving_default, or the only one there is; of a
// GraphDef its placeholders that the results need, in their order, and all
// results that nothing uses. "A,B:1->C" cuts: either side may be empty, and is
// then found as without a text.
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
  // -1: open. Nullopt: not even how many dims is known.
  std::optional<std::vector<int64_t>> shape;
};

struct EntryOutput {
  std::string name;
  Source source;
  DataType type = DT_INVALID;  // DT_STRING where that is known
};

struct Entry {
  std::vector<EntryInput> inputs;
  std::vector<EntryOutput> outputs;
};

StatusOr<Entry> FindEntry(const Model& model, const std::string& text);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_ENTRY_H_

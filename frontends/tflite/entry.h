// Finds the function of a model that is imported, and names its inputs and
// outputs.
//
//   EMBER_ASSIGN_OR_RETURN(Entry entry, FindEntry(*model, "serving_default"));
//
// The names are those of the signature. A subgraph without a signature uses the
// names of its tensors.
#ifndef EMBER_FRONTENDS_TFLITE_ENTRY_H_
#define EMBER_FRONTENDS_TFLITE_ENTRY_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/tflite/model.h"

namespace ember::tflite {

struct EntryTensor {
  // Name of the input or output, unique among the inputs or among the outputs.
  std::string name;
  int tensor = 0;
};

struct Entry {
  int subgraph = 0;
  std::vector<EntryTensor> inputs, outputs;
};

// Finds the entry with this signature. An empty signature means the first
// subgraph. An unknown signature is an error that lists the signatures in the
// file.
StatusOr<Entry> FindEntry(const Model& model, const std::string& signature);

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_ENTRY_H_

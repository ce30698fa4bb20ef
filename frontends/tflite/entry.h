// Which function of a model is imported, and what its inputs and outputs are
// called.
//
//   EMBER_ASSIGN_OR_RETURN(Entry entry, FindEntry(*model, "serving_default"));
//
// A signature names them; a subgraph without one has the names of its tensors.
#ifndef EMBER_FRONTENDS_TFLITE_ENTRY_H_
#define EMBER_FRONTENDS_TFLITE_ENTRY_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/tflite/model.h"

namespace ember::tflite {

struct EntryTensor {
  std::string name;  // different from all others of its list
  int tensor = 0;
};

struct Entry {
  int subgraph = 0;
  std::vector<EntryTensor> inputs, outputs;
};

// signature: empty for the first subgraph. An unknown one is an error that
// names those there are.
StatusOr<Entry> FindEntry(const Model& model, const std::string& signature);

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_ENTRY_H_

// Makes checkpoints for tests (checkpoint.h describes them), and SavedModels
// with them.
#ifndef EMBER_FRONTENDS_TENSORFLOW_TESTING_CHECKPOINT_WRITER_H_
#define EMBER_FRONTENDS_TENSORFLOW_TESTING_CHECKPOINT_WRITER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "third_party/tensorflow/tensorflow.pb.h"

namespace ember::tensorflow {

// Returns a sorted table of these entries in two blocks. Keys share their
// common parts.
std::string MakeSortedTable(const std::map<std::string, std::string>& entries,
                            bool compress);

struct TestVariable {
  DataType type = DT_FLOAT;
  std::vector<int64_t> dims;
  std::string bytes;
};

struct TestCheckpoint {
  std::string index;
  std::string data;
};
TestCheckpoint MakeCheckpoint(
    const std::map<std::string, TestVariable>& variables, bool compress);

// Writes saved_model.pb and variables/ to an existing folder.
void WriteSavedModel(const std::string& folder, const SavedModel& model,
                     const TestCheckpoint& checkpoint);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_TESTING_CHECKPOINT_WRITER_H_

// Makes HDF5 files for tests: groups of links, text attributes and contiguous
// datasets, in the layout of newer versions of the library. Checksums are
// zeros.
//
//   FileBuilder file;
//   file.Text("", "model_config", "{}");
//   file.Texts("model_weights/dense", "weight_names", {"dense/kernel:0"});
//   file.Dataset("model_weights/dense/dense/kernel:0", DType::kF32, {2}, bytes);
//   const std::string contents = file.Finish();
//
// A path makes the groups that it needs. A test aid; not thread-safe.
#ifndef EMBER_FRONTENDS_HDF5_TESTING_FILE_BUILDER_H_
#define EMBER_FRONTENDS_HDF5_TESTING_FILE_BUILDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace ember::hdf5 {

class FileBuilder {
 public:
  FileBuilder();
  ~FileBuilder();

  // Adds a scalar string of variable length.
  void Text(const std::string& path, const std::string& name,
            const std::string& text);
  // Adds a list of strings of fixed length.
  void Texts(const std::string& path, const std::string& name,
             const std::vector<std::string>& texts);
  void Group(const std::string& path) { At(path); }
  void Dataset(const std::string& path, DType dtype,
               const std::vector<int64_t>& dims, const std::string& bytes);
  // Adds a dataset of one chunk. `stored` is the output of the filters (1
  // deflate, 2 shuffle). Equal chunks are written once.
  void Chunk(const std::string& path, DType dtype,
             const std::vector<int64_t>& dims, const std::vector<int>& filters,
             const std::string& stored);
  std::string Finish();

 private:
  struct Node;
  Node& At(const std::string& path);
  uint64_t Write(const Node& node, std::string& out);

  std::unique_ptr<Node> root_;
  std::map<std::string, uint64_t> chunks_;  // Addresses by contents.
};

}  // namespace ember::hdf5

#endif  // EMBER_FRONTENDS_HDF5_TESTING_FILE_BUILDER_H_

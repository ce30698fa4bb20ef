// Parameters, buffers and constants of a torch.export archive that share a
// storage, as tied weights do.
//
//   const SharedStorages shared(file);
//   shared.FirstOf("head.weight");   // "embedding.weight"
//
// PyTorch sees a write to one of them through the others. Tensors with the same
// elements are imported as one tensor. If the program writes to a tensor that
// shares only some of its elements, or shares them under another type, the
// import is refused. Immutable, thread-safe.
#ifndef EMBER_FRONTENDS_TORCH_EXPORT_SHARED_STORAGES_H_
#define EMBER_FRONTENDS_TORCH_EXPORT_SHARED_STORAGES_H_

#include <functional>
#include <map>
#include <string>

#include "base/status.h"
#include "frontends/torch_export/exported_file.h"

namespace ember::torch_export {

class SharedStorages {
 public:
  explicit SharedStorages(const ExportedFile& file);

  // Returns the name of the first tensor of the program with the same elements
  // of the same storage: the name itself if there is no earlier one.
  const std::string& FirstOf(const std::string& name) const;

  // Checks that the program may write to a tensor: fails if its range of
  // addresses overlaps that of another parameter, buffer or constant that does
  // not have exactly the same elements.
  Status CheckWrite(const std::string& name) const;

 private:
  // For each tensor, the name of the first tensor with the same elements.
  std::map<std::string, std::string, std::less<>> firsts_;
  // For the first tensor of each set with the same elements, the name of
  // another tensor that shares a part of them.
  std::map<std::string, std::string, std::less<>> overlaps_;
};

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_SHARED_STORAGES_H_

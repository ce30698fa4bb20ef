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

  // Fails if a tensor that the program reads shares elements with the tensor
  // without having the same elements.
  Status CheckWrite(const std::string& name) const;

 private:
  // Names of tensors with the same elements, by the name of the first.
  std::map<std::string, std::string, std::less<>> firsts_;
  // For each first tensor, the name of one that shares a part of its elements.
  std::map<std::string, std::string, std::less<>> overlaps_;
};

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_SHARED_STORAGES_H_

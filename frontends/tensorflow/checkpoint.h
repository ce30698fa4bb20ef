// The variables of a SavedModel: a checkpoint in TensorFlow's "tensor bundle"
// format (tensorflow/core/util/tensor_bundle): PREFIX.index, a sorted table of
// names, and PREFIX.data-00000-of-00001 … with the numbers.
//
//   EMBER_ASSIGN_OR_RETURN(auto checkpoint,
//                          Checkpoint::Open("model/variables/variables"));
//   EMBER_ASSIGN_OR_RETURN(CheckpointTensor kernel,
//                          checkpoint->Find("dense/kernel"));
//
// The data files stay mapped, and a tensor's bytes are a part of them. The
// index is checked against the files' sizes; each tensor's checksum is verified
// when the tensor is looked up. Not supported: big-endian files, tensors that
// were saved in slices, strings. Errors are one line. Immutable; thread-safe.
#ifndef EMBER_FRONTENDS_TENSORFLOW_CHECKPOINT_H_
#define EMBER_FRONTENDS_TENSORFLOW_CHECKPOINT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/file.h"
#include "base/status.h"
#include "third_party/tensorflow/tensorflow.pb.h"

namespace ember::tensorflow {

struct CheckpointTensor {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> bytes;  // row-major, little-endian
};

class Checkpoint : public std::enable_shared_from_this<Checkpoint> {
 public:
  // Opens a checkpoint. `prefix`: the path of the index without ".index".
  static StatusOr<std::shared_ptr<const Checkpoint>> Open(
      const std::string& prefix);

  StatusOr<CheckpointTensor> Find(const std::string& key) const;

 private:
  Checkpoint() = default;
  Status Read(const std::string& prefix);

  std::string name_;  // Path of the index file, for error messages.
  std::map<std::string, std::string, std::less<>> entries_;
  std::vector<MappedFile> shards_;
};

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_CHECKPOINT_H_

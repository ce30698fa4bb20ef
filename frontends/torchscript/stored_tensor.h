// Tensors in PyTorch's archives: where they are, and as constants of a graph.
//
//   EMBER_ASSIGN_OR_RETURN(StoredTensor stored,
//                          FindStoredTensor(zip, "net/data/", call));
//   Value weight = NewStored(stored, "fc.weight", machine);
//
// Elements stay where the archive has them: they become a constant of the graph
// when an operator reads them first. Errors are one line.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_STORED_TENSOR_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_STORED_TENSOR_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "frontends/archive/zip_archive.h"
#include "frontends/torchscript/machine.h"
#include "frontends/torchscript/pickle.h"

namespace ember::torchscript {

struct StoredTensor {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims, strides;
  std::span<const uint8_t> storage;  // from the first element on
  std::shared_ptr<const void> owner;
};

// A pickle that is an entry of an archive.
StatusOr<std::unique_ptr<Pickle>> ReadPickle(const archive::ZipArchive& archive,
                                             const std::string& name);
// Fails unless the archive, whose names all begin with the prefix, has numbers
// of little-endian machines.
Status CheckByteOrder(const archive::ZipArchive& archive,
                      const std::string& prefix);

// The value without the calls around it that only mark it.
const PickleValue& Unwrapped(const PickleValue& value);
bool IsTensorCall(const PickleValue& value);
// A tensor call whose fifth argument is a quantization.
bool IsQuantizedTensorCall(const PickleValue& value);
// The tensor that a call of a pickle makes, whose storage is an entry of the
// folder: "net/data/".
StatusOr<StoredTensor> FindStoredTensor(const archive::ZipArchive& archive,
                                        std::string_view folder,
                                        const PickleValue& call);
// A tensor whose first element is `offset` elements into an entry. Dims and
// strides are as many, and none is below 0.
StatusOr<StoredTensor> TensorInEntry(const archive::ZipArchive& archive,
                                     const std::string& entry, DType dtype,
                                     std::vector<int64_t> dims,
                                     std::vector<int64_t> strides,
                                     int64_t offset);

// Adds the tensor to the graph, in its row-major order.
Tensor AddStored(const StoredTensor& stored, const std::string& name,
                 graph::GraphBuilder& builder);
// A tensor that is added when it is first read; one constant for all that have
// the same elements in the same places.
Value NewStored(const StoredTensor& stored, const std::string& name,
                Machine& machine);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_STORED_TENSOR_H_

// Tensors in PyTorch's archives: finds them, and adds them to a graph as
// constants.
//
//   EMBER_ASSIGN_OR_RETURN(StoredTensor stored,
//                          FindStoredTensor(zip, "net/data/", call));
//   Value weight = NewStored(stored, "fc.weight", machine);
//
// Elements stay in the archive: they become a constant of the graph when an
// operator first reads them. Errors are one line.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_STORED_TENSOR_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_STORED_TENSOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
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
  // The bytes of the storage, from the first element of the tensor to the
  // storage's end.
  std::span<const uint8_t> storage;
  std::shared_ptr<const void> owner;
  // `entry`: name of the archive's entry that is the storage; empty for a
  // tensor without elements. `offset`: index of the tensor's first element in
  // it.
  std::string entry;
  int64_t offset = 0;
};

struct StorageCells {
  // The first tensor that was made of each storage, by entry and type. Later
  // tensors of the same storage are views of it, so that writes are shared as
  // in PyTorch.
  std::map<std::string, Cell*> roots;
  // Keys of storages that hold tensors of several types. A write would change
  // the bits that another type reads, so these tensors cannot be written to.
  std::set<std::string> of_several_types;
};

// Reads a pickle that is an entry of an archive.
StatusOr<std::unique_ptr<Pickle>> ReadPickle(const archive::ZipArchive& archive,
                                             const std::string& name);
// Fails unless the archive holds little-endian numbers. All names in the
// archive begin with `prefix`.
Status CheckByteOrder(const archive::ZipArchive& archive,
                      const std::string& prefix);

// Returns the value inside of calls that only mark it, for example as a
// parameter; the value itself if there is no such call.
const PickleValue& Unwrapped(const PickleValue& value);
bool IsTensorCall(const PickleValue& value);
// True for a pickle's call that makes a quantized tensor. Its fifth argument
// describes the quantization.
bool IsQuantizedTensorCall(const PickleValue& value);
// Returns the keys of the storages for which a pickle has tensors of several
// types.
std::set<std::string> StoragesOfSeveralTypes(const PickleValue& root);
// Finds the tensor that a call of a pickle makes. Its storage is an entry of
// the folder ("net/data/").
StatusOr<StoredTensor> FindStoredTensor(const archive::ZipArchive& archive,
                                        std::string_view folder,
                                        const PickleValue& call);
// Returns a tensor in the archive's entry `entry`. `offset`: index of its first
// element. There must be as many strides as dims, and none below 0.
StatusOr<StoredTensor> TensorInEntry(const archive::ZipArchive& archive,
                                     const std::string& entry, DType dtype,
                                     std::vector<int64_t> dims,
                                     std::vector<int64_t> strides,
                                     int64_t offset);

// Adds the tensor to the graph as a constant with row-major elements.
Tensor AddStored(const StoredTensor& stored, const std::string& name,
                 graph::GraphBuilder& builder);
// Returns a tensor that is added to the graph when it is first read. Tensors
// with the same elements of the same storage share a constant. `cells` has the
// tensors that share storages: a write to one changes the others. Null means
// that no storage is shared.
Value NewStored(const StoredTensor& stored, const std::string& name,
                Machine& machine, StorageCells* cells = nullptr);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_STORED_TENSOR_H_

#include "frontends/torch_export/shared_storages.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/one_line.h"

namespace ember::torch_export {
namespace {

using torchscript::StoredTensor;

// A tensor and the range of addresses from its first to its last element.
struct Reach {
  std::string name;
  StoredTensor stored;
  uintptr_t begin = 0, end = 0;
};

bool IsStored(InputSpec::Kind kind) {
  return kind == InputSpec::Kind::kParameter ||
         kind == InputSpec::Kind::kBuffer ||
         kind == InputSpec::Kind::kTensorConstant;
}

// Returns the program's tensors that have elements, in the program's order. A
// tensor that cannot be read is left out, because the import reports the error
// when it reads it.
std::vector<Reach> ReachesOf(const ExportedFile& file) {
  std::vector<Reach> reaches;
  for (const InputSpec& spec : file.program().inputs) {
    if (!IsStored(spec.kind)) continue;
    StatusOr<StoredTensor> stored = file.FindTensor(spec.name);
    if (!stored.ok() || stored->entry.empty()) continue;
    int64_t last = 0;
    for (size_t i = 0; i < stored->dims.size(); ++i)
      last += (stored->dims[i] - 1) * stored->strides[i];
    Reach reach{.name = spec.name, .stored = *std::move(stored)};
    reach.begin = reinterpret_cast<uintptr_t>(reach.stored.storage.data());
    reach.end = reach.begin +
                static_cast<uintptr_t>(last + 1) *
                    static_cast<uintptr_t>(DTypeByteSize(reach.stored.dtype));
    reaches.push_back(std::move(reach));
  }
  return reaches;
}

bool HaveSameElements(const StoredTensor& a, const StoredTensor& b) {
  if (a.storage.data() != b.storage.data() || a.dtype != b.dtype ||
      a.dims != b.dims)
    return false;
  // The strides of a dim of 1 may differ, because no element depends on them.
  for (size_t i = 0; i < a.dims.size(); ++i)
    if (a.dims[i] != 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

}  // namespace

SharedStorages::SharedStorages(const ExportedFile& file) {
  std::vector<Reach> reaches = ReachesOf(file);
  // Sorts by the address of the first element. A stable sort keeps the
  // program's order among tensors with the same address, so that FirstOf is the
  // first in the program.
  std::ranges::stable_sort(reaches, {}, &Reach::begin);
  for (size_t i = 0; i < reaches.size(); ++i) {
    const Reach& reach = reaches[i];
    std::string first = reach.name;
    for (size_t j = i; j > 0; --j) {
      const Reach& earlier = reaches[j - 1];
      if (earlier.begin != reach.begin) break;
      if (HaveSameElements(earlier.stored, reach.stored)) first = earlier.name;
    }
    firsts_.emplace(reach.name, first);
  }
  // Finds tensors whose bytes overlap although their elements are not the same.
  // A long tensor may overlap several that begin after it.
  for (size_t i = 0; i < reaches.size(); ++i) {
    for (size_t j = i + 1;
         j < reaches.size() && reaches[j].begin < reaches[i].end; ++j) {
      const std::string& a = FirstOf(reaches[i].name);
      const std::string& b = FirstOf(reaches[j].name);
      if (a == b) continue;
      overlaps_.emplace(a, reaches[j].name);
      overlaps_.emplace(b, reaches[i].name);
    }
  }
}

const std::string& SharedStorages::FirstOf(const std::string& name) const {
  const auto found = firsts_.find(name);
  return found == firsts_.end() ? name : found->second;
}

Status SharedStorages::CheckWrite(const std::string& name) const {
  const auto found = overlaps_.find(FirstOf(name));
  if (found == overlaps_.end()) return OkStatus();
  return UnimplementedError(
      "tensor '" + OnOneLine(name) +
      "', which the program writes to: expected elements of its own, found "
      "that it shares a storage with tensor '" +
      OnOneLine(found->second) +
      "', which has other dims or another type; make one of them a copy "
      "(clone) before exporting");
}

}  // namespace ember::torch_export

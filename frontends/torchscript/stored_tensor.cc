#include "frontends/torchscript/stored_tensor.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "frontends/torchscript/views.h"

namespace ember::torchscript {
namespace {

using Kind = PickleValue::Kind;

constexpr uint64_t kMaxPickle = uint64_t{1} << 28;

std::optional<DType> DTypeOfStorage(std::string_view name) {
  static constexpr std::pair<std::string_view, DType> kNames[] = {
      {"torch.FloatStorage", DType::kF32},
      {"torch.DoubleStorage", DType::kF64},
      {"torch.HalfStorage", DType::kF16},
      {"torch.BFloat16Storage", DType::kBF16},
      {"torch.LongStorage", DType::kI64},
      {"torch.IntStorage", DType::kI32},
      {"torch.ShortStorage", DType::kI16},
      {"torch.CharStorage", DType::kI8},
      {"torch.ByteStorage", DType::kU8},
      {"torch.BoolStorage", DType::kBool},
      {"torch.QInt8Storage", DType::kI8},
      {"torch.QUInt8Storage", DType::kU8},
      {"torch.QInt32Storage", DType::kI32}};
  for (const auto& [storage, dtype] : kNames)
    if (storage == name) return dtype;
  return std::nullopt;
}

StatusOr<std::vector<int64_t>> Extents(const PickleValue& value,
                                       std::string_view what) {
  std::vector<int64_t> extents;
  if (value.kind != Kind::kTuple && value.kind != Kind::kList)
    return DataLossError(std::string(what) + " of a tensor: expected a tuple");
  if (value.items.size() > static_cast<size_t>(ops::kMaxRank)) {
    return UnimplementedError("a tensor: expected at most " +
                              std::to_string(ops::kMaxRank) + " dims, found " +
                              std::to_string(value.items.size()));
  }
  for (const PickleValue* item : value.items) {
    if (item->kind != Kind::kInteger || item->integer < 0) {
      return DataLossError(std::string(what) +
                           " of a tensor: expected ints from 0 on");
    }
    extents.push_back(item->integer);
  }
  return extents;
}

bool IsContiguous(const StoredTensor& stored) {
  int64_t expected = 1;
  for (size_t i = stored.dims.size(); i-- > 0;) {
    if (stored.dims[i] != 1 && stored.strides[i] != expected) return false;
    expected *= stored.dims[i];
  }
  return true;
}

// True for functions of PyTorch that return their first argument, such as those
// that mark a list with its type. A pickle calls them around values.
bool IsWrapper(std::string_view name) {
  return name == "torch.jit._pickle.restore_type_tag" ||
         name == "torch.jit._pickle.build_intlist" ||
         name == "torch.jit._pickle.build_tensorlist" ||
         name == "torch.jit._pickle.build_doublelist" ||
         name == "torch.jit._pickle.build_boollist" ||
         name == "torch._utils._rebuild_parameter" ||
         name == "torch._utils._rebuild_parameter_with_state";
}

// Returns a text that is equal for two tensors if they have the same element
// type, first element, dims and strides in one storage.
std::string KeyOf(const StoredTensor& stored) {
  std::string key =
      std::to_string(reinterpret_cast<uintptr_t>(stored.storage.data())) + " " +
      std::string(DTypeName(stored.dtype));
  for (size_t i = 0; i < stored.dims.size(); ++i) {
    key += " " + std::to_string(stored.dims[i]) + ":" +
           std::to_string(stored.strides[i]);
  }
  return key;
}

}  // namespace

StatusOr<std::unique_ptr<Pickle>> ReadPickle(const archive::ZipArchive& archive,
                                             const std::string& name) {
  EMBER_ASSIGN_OR_RETURN(const archive::ZipContents contents,
                         archive.Read(name, kMaxPickle));
  StatusOr<Pickle> pickle = Pickle::Read(contents.bytes);
  if (!pickle.ok()) return pickle.status().WithContext(OnOneLine(name));
  return std::make_unique<Pickle>(*std::move(pickle));
}

Status CheckByteOrder(const archive::ZipArchive& archive,
                      const std::string& prefix) {
  if (!archive.Has(prefix + "byteorder")) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(const archive::ZipContents contents,
                         archive.Read(prefix + "byteorder", 64));
  const std::string order(contents.bytes.begin(), contents.bytes.end());
  if (order.starts_with("little")) return OkStatus();
  return UnimplementedError("byteorder: expected little, found '" +
                            OnOneLine(order) + "'");
}

bool IsQuantizedTensorCall(const PickleValue& value) {
  return value.kind == Kind::kCall &&
         value.callee->text == "torch._utils._rebuild_qtensor";
}

bool IsTensorCall(const PickleValue& value) {
  return value.kind == Kind::kCall &&
         (value.callee->text == "torch._utils._rebuild_tensor_v2" ||
          value.callee->text == "torch._utils._rebuild_tensor" ||
          IsQuantizedTensorCall(value));
}

const PickleValue& Unwrapped(const PickleValue& value) {
  const PickleValue* at = &value;
  for (int i = 0; i < 8 && at->kind == Kind::kCall && !at->items.empty() &&
                  IsWrapper(at->callee->text);
       ++i)
    at = at->items[0];
  return *at;
}

std::set<std::string> StoragesOfSeveralTypes(const PickleValue& root) {
  std::map<std::string, std::string> types;
  std::set<std::string> found;
  std::set<const PickleValue*> seen = {&root};
  std::vector<const PickleValue*> rest = {&root};
  while (!rest.empty()) {
    const PickleValue& value = *rest.back();
    rest.pop_back();
    if (value.kind == Kind::kTuple && value.items.size() >= 3 &&
        value.items[1]->kind == Kind::kGlobal &&
        value.items[2]->kind == Kind::kString) {
      const std::string& key = value.items[2]->text;
      const std::string& type = value.items[1]->text;
      if (types.emplace(key, type).first->second != type) found.insert(key);
    }
    const auto visit = [&](const PickleValue* next) {
      if (next != nullptr && seen.insert(next).second) rest.push_back(next);
    };
    for (const PickleValue* item : value.items) visit(item);
    visit(value.callee);
    visit(value.state);
  }
  return found;
}

StatusOr<StoredTensor> FindStoredTensor(const archive::ZipArchive& archive,
                                        std::string_view folder,
                                        const PickleValue& call) {
  if (call.items.size() < 4 || call.items[0]->kind != Kind::kPersistent ||
      call.items[1]->kind != Kind::kInteger || call.items[1]->integer < 0)
    return DataLossError("a tensor: expected its storage, offset and shape");
  const PickleValue& id = *call.items[0]->items[0];
  if (id.kind != Kind::kTuple || id.items.size() < 3 ||
      id.items[1]->kind != Kind::kGlobal || id.items[2]->kind != Kind::kString)
    return DataLossError("a tensor: expected its storage to have type and key");
  const std::optional<DType> dtype = DTypeOfStorage(id.items[1]->text);
  if (!dtype) {
    return UnimplementedError(
        "a tensor: expected a storage of integers, floats or booleans, found " +
        OnOneLine(id.items[1]->text));
  }
  EMBER_ASSIGN_OR_RETURN(std::vector<int64_t> dims,
                         Extents(*call.items[2], "the shape"));
  EMBER_ASSIGN_OR_RETURN(std::vector<int64_t> strides,
                         Extents(*call.items[3], "the strides"));
  if (dims.size() != strides.size())
    return DataLossError("a tensor: expected a stride per dim");
  return TensorInEntry(archive, std::string(folder) + id.items[2]->text, *dtype,
                       std::move(dims), std::move(strides),
                       call.items[1]->integer);
}

StatusOr<StoredTensor> TensorInEntry(const archive::ZipArchive& archive,
                                     const std::string& entry, DType dtype,
                                     std::vector<int64_t> dims,
                                     std::vector<int64_t> strides,
                                     int64_t offset) {
  StoredTensor stored;
  stored.dtype = dtype;
  stored.dims = std::move(dims);
  stored.strides = std::move(strides);
  // `last` becomes the index of the last element of the storage that the tensor
  // uses. The storage must be long enough for it.
  bool is_empty = false;
  int64_t last = offset;
  bool fits = true;
  for (size_t i = 0; i < stored.dims.size(); ++i) {
    is_empty |= stored.dims[i] == 0;
    int64_t reach = 0;
    fits = fits &&
           !__builtin_mul_overflow(std::max<int64_t>(stored.dims[i] - 1, 0),
                                   stored.strides[i], &reach) &&
           !__builtin_add_overflow(last, reach, &last);
  }
  if (is_empty) return stored;
  EMBER_ASSIGN_OR_RETURN(const archive::ZipContents contents,
                         archive.Read(entry, uint64_t{1} << 40));
  const auto width = static_cast<int64_t>(DTypeByteSize(stored.dtype));
  const auto elements = static_cast<int64_t>(contents.bytes.size()) / width;
  if (!fits || last >= elements) {
    return DataLossError("entry '" + OnOneLine(entry) +
                         "': expected at least " +
                         (fits ? std::to_string(last + 1) : "2^63") +
                         " elements, found " + std::to_string(elements));
  }
  stored.storage = contents.bytes.subspan(static_cast<size_t>(offset * width));
  stored.entry = entry;
  stored.offset = offset;
  stored.owner = contents.owner;
  return stored;
}

Tensor AddStored(const StoredTensor& stored, const std::string& name,
                 graph::GraphBuilder& builder) {
  const auto width = static_cast<size_t>(DTypeByteSize(stored.dtype));
  // An axis with stride 0 repeats its elements. It is stored with extent 1, and
  // broadcast in the graph.
  std::vector<int64_t> dims = stored.dims;
  std::vector<int64_t> strides = stored.strides;
  bool is_repeated = false;
  uint64_t count = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (strides[i] == 0 && dims[i] > 1) {
      dims[i] = 1;
      is_repeated = true;
    }
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(dims[i]), &count)) {
      builder.Fail(DataLossError("a tensor: expected less than 2^64 elements"));
      return {&builder, nullptr};
    }
  }
  StoredTensor core = stored;
  core.dims = dims;
  core.strides = strides;
  graph::ConstantData data;
  if (count == 0) {
    data = graph::ConstantData::Copy({});
  } else if (IsContiguous(core)) {
    const std::span<const uint8_t> bytes = stored.storage.first(count * width);
    const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % width == 0;
    data = aligned ? graph::ConstantData{.owner = stored.owner, .bytes = bytes}
                   : graph::ConstantData::Copy(bytes);
  } else {
    // If strides above 0 overlap, a small storage can describe a huge tensor.
    // So tensors with more elements than their storage are refused.
    if (count > stored.storage.size() / width) {
      builder.Fail(UnimplementedError(
          "a tensor: expected strides under which elements do not overlap"));
      return {&builder, nullptr};
    }
    std::vector<uint8_t> copy(count * width);
    std::vector<int64_t> index(dims.size());
    for (uint64_t i = 0; i < count; ++i) {
      int64_t at = 0;
      for (size_t d = 0; d < dims.size(); ++d) at += index[d] * strides[d];
      std::memcpy(copy.data() + i * width,
                  stored.storage.data() + static_cast<size_t>(at) * width,
                  width);
      for (size_t d = dims.size(); d-- > 0;) {
        if (++index[d] < dims[d]) break;
        index[d] = 0;
      }
    }
    auto owner = std::make_shared<std::vector<uint8_t>>(std::move(copy));
    data.bytes = *owner;
    data.owner = std::move(owner);
  }
  Tensor constant(&builder,
                  builder.Constant(stored.dtype, dims, std::move(data)));
  if (constant.value() != nullptr && constant.value()->name().empty())
    constant.value()->set_name(name);
  if (!is_repeated) return constant;
  return ops::Broadcast(constant,
                        Shape(stored.dims.begin(), stored.dims.end()));
}

namespace {

Value NewAlone(const StoredTensor& stored, const std::string& name,
               Machine& machine) {
  return machine.NewStored([stored, name, &machine] {
    // Weights that share a storage, and weights of a second copy of the module,
    // become one constant.
    Tensor& constant = machine.stored()[KeyOf(stored)];
    if (!constant) constant = AddStored(stored, name, machine.outermost());
    return constant;
  });
}

}  // namespace

Value NewStored(const StoredTensor& stored, const std::string& name,
                Machine& machine, StorageCells* cells) {
  Value value = NewAlone(stored, name, machine);
  if (cells == nullptr || stored.entry.empty()) return value;
  const std::string key = stored.entry.substr(stored.entry.rfind('/') + 1);
  const bool is_read_only = cells->of_several_types.contains(key);
  const auto width = static_cast<int64_t>(DTypeByteSize(stored.dtype));
  const auto rest = static_cast<int64_t>(stored.storage.size()) / width;
  const StridedPart part{Shape(stored.dims.begin(), stored.dims.end()),
                         Shape(stored.strides.begin(), stored.strides.end()),
                         Dim(stored.offset)};
  const Dim count(stored.offset + rest);
  Cell*& root =
      cells->roots[stored.entry + " " + std::string(DTypeName(stored.dtype))];
  if (root == nullptr) {
    root = value.cell;
    if (part.IsWhole(count) && !is_read_only) return value;
    const auto before = static_cast<size_t>(stored.offset * width);
    StoredTensor all;
    all.dtype = stored.dtype;
    all.dims = {stored.offset + rest};
    all.strides = {1};
    all.storage = {stored.storage.data() - before,
                   stored.storage.size() + before};
    all.owner = stored.owner;
    root = NewAlone(all, name + ".storage", machine).cell;
  }
  Cell& cell = *value.cell;
  cell.base = cell.root = root;
  cell.stamp = root->stamp;
  cell.strides = part.strides;
  cell.views = 1;
  cell.read = [part, count](Tensor base) {
    return part.Read(ops::Reshape(base, {count}));
  };
  if (part.CanWrite() && !is_read_only) {
    cell.write = [part, count](Tensor base, Tensor written) {
      const Tensor vector = ops::Reshape(base, {count});
      return ops::Reshape(part.Write(vector, written), base.shape());
    };
  }
  return value;
}

}  // namespace ember::torchscript

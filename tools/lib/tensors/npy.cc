#include "tools/lib/tensors/npy.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "base/file.h"
#include "tools/lib/tensors/elements.h"

namespace ember::tools {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

struct NpyType {
  // NumPy's name of the type without the byte-order character: "f4" of "<f4".
  std::string_view code;
  DType type;
};
constexpr NpyType kTypes[] = {
    {"b1", DType::kBool}, {"i1", DType::kI8},  {"i2", DType::kI16},
    {"i4", DType::kI32},  {"i8", DType::kI64}, {"u1", DType::kU8},
    {"u2", DType::kU16},  {"u4", DType::kU32}, {"u8", DType::kU64},
    {"f2", DType::kF16},  {"f4", DType::kF32}, {"f8", DType::kF64},
};

Status Malformed(std::string_view name, std::string_view expected,
                 std::string_view found) {
  return InvalidArgumentError(std::string(name) + ": expected " +
                              std::string(expected) + ", found " +
                              std::string(found));
}

// Returns the text after `'key':` in the header of a .npy file, which is a
// Python dict literal. Returns nothing if the key is missing.
std::optional<std::string_view> HeaderValue(std::string_view header,
                                            std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "':";
  const size_t begin = header.find(quoted);
  if (begin == std::string_view::npos) return std::nullopt;
  std::string_view value = header.substr(begin + quoted.size());
  const size_t first = value.find_first_not_of(' ');
  if (first == std::string_view::npos) return std::nullopt;
  return value.substr(first);
}

StatusOr<DType> ParseDescr(std::string_view header, std::string_view name) {
  const std::optional<std::string_view> value = HeaderValue(header, "descr");
  if (!value || value->empty() || value->front() != '\'') {
    return Malformed(name, "an array of numbers",
                     "a structured type or no 'descr'");
  }
  const std::string_view descr = value->substr(1, value->find('\'', 1) - 1);
  const std::string_view code = descr.substr(descr.empty() ? 0 : 1);
  for (const NpyType& row : kTypes) {
    if (code != row.code) continue;
    const char order = descr.front();
    if (order == '<' || order == '=' ||
        (order == '|' && DTypeByteSize(row.type) == 1)) {
      return row.type;
    }
  }
  return Malformed(name, "little-endian numbers or bools",
                   "the NumPy type '" + std::string(descr) + "'");
}

StatusOr<std::vector<int64_t>> ParseShapeTuple(std::string_view header,
                                               std::string_view name) {
  const std::optional<std::string_view> value = HeaderValue(header, "shape");
  if (!value || value->empty() || value->front() != '(') {
    return Malformed(name, "'shape': (...) in the header", "none");
  }
  std::vector<int64_t> dims;
  int64_t number = -1;
  for (const char c : value->substr(1)) {
    if (c >= '0' && c <= '9') {
      number = (number < 0 ? 0 : number) * 10 + (c - '0');
      if (number > (int64_t{1} << 48))
        return Malformed(name, "dims below 2^48", "a larger one");
    } else if (c == ',' || c == ')') {
      if (number >= 0) dims.push_back(number);
      number = -1;
      if (c == ')') return dims;
    } else if (c != ' ') {
      break;
    }
  }
  return Malformed(name, "a tuple of numbers as 'shape'", "something else");
}

// Copies elements from Fortran order, in which the first dim varies fastest, to
// the C order of tensors.
void CopyFromFortranOrder(std::string_view data, vm::Tensor& tensor) {
  const auto size = static_cast<size_t>(DTypeByteSize(tensor.type));
  const size_t rank = tensor.dims.size();
  // For each dim, the distance in `data` of neighbouring elements, in elements.
  std::vector<size_t> strides;
  size_t stride = 1;
  for (const int64_t dim : tensor.dims) {
    strides.push_back(stride);
    stride *= static_cast<size_t>(dim);
  }
  std::vector<int64_t> index(rank);
  size_t from = 0;
  auto* to = static_cast<char*>(tensor.data);
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    std::memcpy(to, data.data() + from * size, size);
    to += size;
    for (size_t d = rank; d-- > 0;) {
      from += strides[d];
      if (++index[d] < tensor.dims[d]) break;
      from -= strides[d] * static_cast<size_t>(tensor.dims[d]);
      index[d] = 0;
    }
  }
}

}  // namespace

bool IsNpyType(DType type) {
  return std::ranges::any_of(
      kTypes, [&](const NpyType& row) { return row.type == type; });
}

StatusOr<vm::Tensor> ParseNpy(std::string_view contents,
                              std::string_view name) {
  if (!contents.starts_with(kMagic))
    return Malformed(name, "an .npy file", "something else");
  const size_t length_bytes = contents.size() > 6 && contents[6] == 1 ? 2 : 4;
  const size_t prefix = 8 + length_bytes;
  if (contents.size() < prefix)
    return Malformed(name, "a header", "the end of the file");
  if (contents[6] < 1 || contents[6] > 3) {
    return Malformed(name, "version 1 to 3 of .npy",
                     "version " + std::to_string(contents[6]));
  }
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<size_t>(static_cast<uint8_t>(contents[8 + i]))
              << (8 * i);
  }
  if (contents.size() - prefix < length)
    return Malformed(name, "a header", "the end of the file");
  const std::string_view header = contents.substr(prefix, length);
  const std::string_view data = contents.substr(prefix + length);

  EMBER_ASSIGN_OR_RETURN(const DType type, ParseDescr(header, name));
  EMBER_ASSIGN_OR_RETURN(std::vector<int64_t> dims,
                         ParseShapeTuple(header, name));
  const std::optional<std::string_view> order =
      HeaderValue(header, "fortran_order");
  // The size that the header declares is compared with the file's size before
  // memory is allocated. So a damaged header cannot make the tool allocate much
  // memory.
  EMBER_ASSIGN_OR_RETURN(const int64_t bytes, vm::TensorByteSize(type, dims));
  if (static_cast<int64_t>(data.size()) != bytes) {
    return Malformed(name,
                     std::to_string(bytes) + " bytes of data for " +
                         vm::TensorTypeText(type, dims),
                     std::to_string(data.size()));
  }
  EMBER_ASSIGN_OR_RETURN(vm::Tensor tensor,
                         vm::Tensor::Allocate(type, std::move(dims)));
  if (bytes > 0 && order && order->starts_with("True"))
    CopyFromFortranOrder(data, tensor);
  else if (bytes > 0)
    std::memcpy(tensor.data, data.data(), data.size());
  return tensor;
}

StatusOr<std::string> SerializeNpy(const vm::Tensor& tensor) {
  if (!IsNpyType(tensor.type)) {
    EMBER_ASSIGN_OR_RETURN(vm::Tensor wide,
                           vm::Tensor::Allocate(DType::kF32, tensor.dims));
    for (int64_t i = 0; i < tensor.element_count(); ++i)
      SetFloatElement(wide, i, FloatElement(tensor, i));
    return SerializeNpy(wide);
  }
  std::string descr;
  for (const NpyType& row : kTypes) {
    if (row.type == tensor.type) {
      descr =
          (DTypeByteSize(row.type) == 1 ? "|" : "<") + std::string(row.code);
    }
  }
  EMBER_CHECK(!descr.empty()) << DTypeName(tensor.type);
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (int64_t dim : tensor.dims) header += std::to_string(dim) + ", ";
  if (tensor.dims.size() > 1) header.resize(header.size() - 2);
  if (tensor.dims.size() == 1) header.pop_back();
  header += "), }";
  // The header is padded so that the data starts at a multiple of 64 bytes.
  header.append(63 - (kMagic.size() + 4 + header.size()) % 64, ' ');
  header += '\n';
  std::string contents(kMagic);
  contents += '\x01';
  contents += '\0';
  contents += static_cast<char>(header.size() & 0xff);
  contents += static_cast<char>(header.size() >> 8);
  contents += header;
  contents.append(static_cast<const char*>(tensor.data),
                  static_cast<size_t>(tensor.byte_size));
  return contents;
}

StatusOr<vm::Tensor> ReadNpy(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  return ParseNpy(
      {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()},
      path);
}

Status WriteNpy(const std::string& path, const vm::Tensor& tensor) {
  EMBER_ASSIGN_OR_RETURN(const std::string contents, SerializeNpy(tensor));
  return WriteFileAtomically(path, contents);
}

}  // namespace ember::tools

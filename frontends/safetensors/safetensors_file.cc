#include "frontends/safetensors/safetensors_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/byte_cursor.h"
#include "base/checked_math.h"
#include "base/one_line.h"
#include "frontends/json_text.h"

namespace ember::safetensors {
namespace {

using nlohmann::json;

constexpr size_t kLengthBytes = 8;
constexpr size_t kMaxRank = 8;

struct TypeRow {
  std::string_view name;
  int bytes;
  std::optional<DType> type;
};
constexpr TypeRow kTypes[] = {
    {"F64", 8, DType::kF64},        {"F32", 4, DType::kF32},
    {"F16", 2, DType::kF16},        {"BF16", 2, DType::kBF16},
    {"I64", 8, DType::kI64},        {"I32", 4, DType::kI32},
    {"I16", 2, DType::kI16},        {"I8", 1, DType::kI8},
    {"U64", 8, DType::kU64},        {"U32", 4, DType::kU32},
    {"U16", 2, DType::kU16},        {"U8", 1, DType::kU8},
    {"BOOL", 1, DType::kBool},      {"F8_E4M3", 1, DType::kF8E4M3FN},
    {"F8_E5M2", 1, DType::kF8E5M2}, {"F8_E8M0", 1, std::nullopt},
    {"C64", 8, std::nullopt},
};

const TypeRow* FindType(std::string_view name) {
  for (const TypeRow& row : kTypes)
    if (row.name == name) return &row;
  return nullptr;
}

uint64_t HeaderLength(std::string_view contents) {
  ByteCursor in(AsBytes(contents));
  return in.Unsigned(kLengthBytes);
}

std::string Quoted(std::string_view name) {
  return "tensor '" + OnOneLine(name.substr(0, 200)) + "'";
}

// Returns the list under `key` as numbers; nullopt unless it has at most `most`
// items, all of them integers that are at least 0 and below 2^62.
std::optional<std::vector<int64_t>> Numbers(const json& entry, const char* key,
                                            size_t most) {
  const auto list = entry.find(key);
  if (list == entry.end() || !list->is_array() || list->size() > most)
    return std::nullopt;
  std::vector<int64_t> numbers;
  for (const json& item : *list) {
    if (!item.is_number_unsigned()) return std::nullopt;
    const auto number = item.get<uint64_t>();
    if (number >> 62 != 0) return std::nullopt;
    numbers.push_back(static_cast<int64_t>(number));
  }
  return numbers;
}

StatusOr<StoredTensor> ReadTensor(const std::string& name, const json& entry,
                                  std::span<const uint8_t> data) {
  const auto fail = [&](const std::string& what) {
    return DataLossError(Quoted(name) + ": expected " + what);
  };
  if (!entry.is_object()) return fail("an object with dtype and shape");
  const auto type = entry.find("dtype");
  if (type == entry.end() || !type->is_string()) return fail("a dtype");
  StoredTensor tensor;
  tensor.type_name = OnOneLine(type->get_ref<const std::string&>());
  const TypeRow* row = FindType(tensor.type_name);
  if (row == nullptr)
    return fail("a known dtype, found '" + tensor.type_name.substr(0, 50) +
                "'");
  tensor.type = row->type;
  const auto dims = Numbers(entry, "shape", kMaxRank);
  if (!dims) return fail("a shape of at most 8 numbers");
  tensor.dims = *dims;
  std::optional<int64_t> size = row->bytes;
  for (const int64_t dim : tensor.dims)
    size = size ? CheckedMultiply(*size, dim) : size;
  const auto offsets = Numbers(entry, "data_offsets", 2);
  if (!offsets || offsets->size() != 2) return fail("two data_offsets");
  const int64_t begin = (*offsets)[0], end = (*offsets)[1];
  if (begin > end || static_cast<uint64_t>(end) > data.size()) {
    return fail("data_offsets within " + std::to_string(data.size()) +
                " bytes, found " + std::to_string(begin) + " to " +
                std::to_string(end) +
                "; the file is cut short or damaged: download it again");
  }
  if (!size || *size != end - begin) {
    return fail("as many bytes as its shape has, found " +
                std::to_string(end - begin));
  }
  tensor.bytes = data.subspan(static_cast<size_t>(begin),
                              static_cast<size_t>(end - begin));
  return tensor;
}

Status CheckOverlaps(
    const std::map<std::string, StoredTensor, std::less<>>& tensors) {
  std::vector<std::pair<const uint8_t*, const std::string*>> order;
  for (const auto& [name, tensor] : tensors)
    if (!tensor.bytes.empty()) order.emplace_back(tensor.bytes.data(), &name);
  std::ranges::sort(order);
  for (size_t i = 1; i < order.size(); ++i) {
    const StoredTensor& before = tensors.find(*order[i - 1].second)->second;
    if (before.bytes.data() + before.bytes.size() <= order[i].first) continue;
    return DataLossError(Quoted(*order[i - 1].second) + " and " +
                         Quoted(*order[i].second) +
                         ": expected separate data, found an overlap");
  }
  return OkStatus();
}

}  // namespace

bool SafetensorsFile::IsSafetensors(std::string_view contents) {
  if (contents.size() <= kLengthBytes + 1) return false;
  const uint64_t length = HeaderLength(contents);
  if (length < 2 || length > contents.size() - kLengthBytes ||
      contents[kLengthBytes] != '{')
    return false;
  const size_t next = contents.find_first_not_of(" \t\r\n", kLengthBytes + 1);
  return next != std::string_view::npos && contents[next] == '"';
}

StatusOr<SafetensorsFile> SafetensorsFile::Open(
    std::span<const uint8_t> bytes, std::shared_ptr<const void> owner) {
  if (bytes.size() < kLengthBytes)
    return DataLossError("safetensors file: expected the header's length");
  const uint64_t length = HeaderLength(AsText(bytes));
  if (length > bytes.size() - kLengthBytes) {
    return DataLossError(
        "safetensors file: expected a header of " + std::to_string(length) +
        " bytes, found the end of the file; it is cut short or damaged: "
        "download it again");
  }
  if (length > kMaxHeader) {
    return ResourceExhaustedError(
        "safetensors file: expected a header of at most 16 MiB, found " +
        std::to_string(length) + " bytes");
  }
  EMBER_ASSIGN_OR_RETURN(
      const json header,
      frontends::ParseJsonText(
          AsText(bytes.subspan(kLengthBytes, static_cast<size_t>(length))),
          "safetensors header",
          {.infinity = "1e308", .negative_infinity = "-1e308", .nan = "null"}));
  if (!header.is_object())
    return DataLossError("safetensors header: expected an object");
  SafetensorsFile file;
  file.owner_ = std::move(owner);
  const std::span<const uint8_t> data =
      bytes.subspan(kLengthBytes + static_cast<size_t>(length));
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    EMBER_ASSIGN_OR_RETURN(StoredTensor tensor, ReadTensor(name, entry, data));
    file.tensors_.emplace(name, std::move(tensor));
  }
  EMBER_RETURN_IF_ERROR(CheckOverlaps(file.tensors_));
  return file;
}

}  // namespace ember::safetensors

#include "frontends/hdf5/file.h"

#include <utility>

#include "base/byte_cursor.h"

namespace ember::hdf5 {
namespace {

constexpr std::string_view kSignature("\x89HDF\r\n\x1a\n", 8);

// Returns the position of the signature, after a user block of 512 bytes or a
// power of two times that, if there is one; nullopt if there is no signature.
std::optional<size_t> FindSignature(std::string_view contents) {
  for (size_t at = 0; at + kSignature.size() <= contents.size();
       at = at == 0 ? 512 : at * 2) {
    if (contents.substr(at, kSignature.size()) == kSignature) return at;
  }
  return std::nullopt;
}

}  // namespace

StatusOr<std::vector<std::string>> Object::Names() const {
  EMBER_ASSIGN_OR_RETURN(const File::Group* const group,
                         file_->GroupAt(address_));
  std::vector<std::string> names;
  for (const File::Link& link : group->links) names.push_back(link.name);
  return names;
}

StatusOr<std::optional<Object>> Object::Find(std::string_view path) const {
  Object at = *this;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part.empty()) continue;
    EMBER_ASSIGN_OR_RETURN(const File::Group* const group,
                           file_->GroupAt(at.address_));
    const auto found = group->by_name.find(part);
    if (found == group->by_name.end()) return std::optional<Object>();
    at = Object(file_, found->second);
  }
  return std::optional<Object>(at);
}

StatusOr<std::optional<std::vector<std::string>>> Object::Strings(
    std::string_view attribute) const {
  EMBER_ASSIGN_OR_RETURN(const auto found,
                         file_->FindAttribute(address_, attribute));
  if (!found) return std::optional<std::vector<std::string>>();
  StatusOr<std::vector<std::string>> texts = file_->ReadTexts(*found);
  if (!texts.ok()) {
    return texts.status().WithContext("attribute '" + std::string(attribute) +
                                      "'");
  }
  return std::optional<std::vector<std::string>>(*std::move(texts));
}

StatusOr<Dataset> Object::Read() const { return file_->DatasetAt(address_); }

File::File(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner)
    : bytes_(bytes),
      owner_(std::move(owner)),
      // The read budget: number of bytes that may be read in all. Each
      // structure is read once, so reading a whole file takes less than its
      // size. The remainder is for strings that several attributes share.
      budget_(16 * bytes.size() + (1 << 20)) {}

bool File::IsFile(std::string_view contents) {
  return FindSignature(contents).has_value();
}

StatusOr<std::shared_ptr<File>> File::Open(std::span<const uint8_t> bytes,
                                           std::shared_ptr<const void> owner) {
  std::shared_ptr<File> file(new File(bytes, std::move(owner)));
  EMBER_RETURN_IF_ERROR(file->ReadSuperblock());
  return file;
}

Status File::ReadSuperblock() {
  const std::optional<size_t> start = FindSignature(AsText(bytes_));
  if (!start)
    return DataLossError("expected an HDF5 file, found no signature of one");
  base_ = *start;
  ByteCursor in(bytes_.subspan(*start + kSignature.size()));
  const uint64_t version = in.Unsigned(1);
  if (version > 3) {
    return DataLossError("HDF5 superblock: expected version 0 to 3, found " +
                         std::to_string(version));
  }
  if (version < 2) in.Skip(4);
  const uint64_t address_width = in.Unsigned(1);
  const uint64_t length_width = in.Unsigned(1);
  const auto is_width = [](uint64_t width) {
    return width == 2 || width == 4 || width == 8;
  };
  if (!is_width(address_width) || !is_width(length_width)) {
    return DataLossError(
        "HDF5 superblock: expected offsets and lengths of 2, 4 or 8 bytes, "
        "found " +
        std::to_string(address_width) + " and " + std::to_string(length_width));
  }
  address_width_ = static_cast<int>(address_width);
  length_width_ = static_cast<int>(length_width);
  if (version < 2) {
    in.Skip(1 + 2 + 2 + 4);
    if (version == 1) in.Skip(4);
    // The superblock has four addresses next (base, free space, end of file,
    // driver information), then the root group's entry, which is the offset of
    // its name and the address of its header.
    const uint64_t base = Address(in);
    if (base != 0) base_ = base;
    in.Skip(static_cast<uint64_t>(address_width_) * 4);
    root_ = Address(in);
  } else {
    in.Skip(1);
    const uint64_t base = Address(in);
    if (base != 0) base_ = base;
    in.Skip(static_cast<uint64_t>(address_width_) * 2);
    root_ = Address(in);
  }
  if (!in.ok()) return DataLossError("HDF5 superblock: the file is cut off");
  return OkStatus();
}

Status File::Charge(uint64_t size) {
  // Reading 0 bytes is charged as one byte, so that loops over empty structures
  // end.
  const uint64_t cost = std::max<uint64_t>(size, 1);
  if (cost > budget_) {
    return DataLossError(
        "HDF5 structures that refer to each other so that they take many times "
        "the file's size");
  }
  budget_ -= cost;
  return OkStatus();
}

bool File::IsDefined(uint64_t address) const {
  const uint64_t undefined = address_width_ == 8
                                 ? ~uint64_t{0}
                                 : (uint64_t{1} << (8 * address_width_)) - 1;
  return address != undefined;
}

uint64_t File::Address(ByteCursor& in) const {
  return in.Unsigned(address_width_);
}
uint64_t File::Length(ByteCursor& in) const {
  return in.Unsigned(length_width_);
}

StatusOr<std::span<const uint8_t>> File::From(uint64_t address) const {
  if (base_ > bytes_.size() || address >= bytes_.size() - base_) {
    return DataLossError("HDF5 address " + std::to_string(address) +
                         ": expected one in a file of " +
                         std::to_string(bytes_.size()) + " bytes");
  }
  return bytes_.subspan(base_ + address);
}

StatusOr<std::span<const uint8_t>> File::At(uint64_t address, uint64_t size) {
  if (size == 0) return std::span<const uint8_t>();
  EMBER_ASSIGN_OR_RETURN(const auto rest, From(address));
  if (size > rest.size()) {
    return DataLossError("HDF5 address " + std::to_string(address) +
                         ": expected " + std::to_string(size) +
                         " bytes, found " + std::to_string(rest.size()) +
                         " to the end of the file");
  }
  EMBER_RETURN_IF_ERROR(Charge(size));
  return rest.first(size);
}

}  // namespace ember::hdf5

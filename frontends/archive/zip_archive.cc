#include "frontends/archive/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/one_line.h"

namespace ember::archive {
namespace {

// kEndSize: smallest size in bytes of the record that ends the archive, which
// is its size without a comment.
constexpr uint64_t kEndSize = 22;
constexpr uint64_t kLongestComment = 65535;
constexpr uint64_t kEntrySize = 46;
constexpr uint64_t kLocalSize = 30;
constexpr uint64_t kStored = 0, kDeflated = 8;
constexpr uint64_t kEncrypted = 1;
constexpr uint64_t kMaxInflation = 1032;
// A 32-bit field with this value means that the number is in the ZIP64 field.
constexpr uint64_t kNarrow = 0xffffffff;

Status Malformed(std::string_view what) {
  return DataLossError("ZIP archive: " + std::string(what));
}

}  // namespace

bool ZipArchive::IsArchive(std::string_view contents) {
  return contents.starts_with("PK\x03\x04") ||
         contents.starts_with("PK\x05\x06");
}

StatusOr<ZipArchive> ZipArchive::Open(std::span<const uint8_t> bytes,
                                      std::shared_ptr<const void> owner) {
  ZipArchive archive(bytes, std::move(owner));
  EMBER_RETURN_IF_ERROR(archive.ReadDirectory());
  return archive;
}

uint64_t ZipArchive::Number(uint64_t at, int width) const {
  uint64_t value = 0;
  for (int i = 0; i < width; ++i)
    value |= static_cast<uint64_t>(bytes_[at + static_cast<uint64_t>(i)])
             << (8 * i);
  return value;
}

Status ZipArchive::ReadDirectory() {
  if (bytes_.size() < kEndSize)
    return Malformed("expected at least 22 bytes, found " +
                     std::to_string(bytes_.size()));
  // The end record is the last structure of an archive. Only a comment may
  // follow it, so the search runs backwards.
  uint64_t end = bytes_.size() - kEndSize;
  const uint64_t first = end > kLongestComment ? end - kLongestComment : 0;
  while (Number(end, 4) != 0x06054b50) {
    if (end == first)
      return Malformed(
          "expected the end of its directory, found none (the "
          "file is cut off)");
    --end;
  }
  uint64_t count = Number(end + 10, 2);
  uint64_t size = Number(end + 12, 4);
  uint64_t offset = Number(end + 16, 4);
  if (Number(end + 4, 2) != 0 && Number(end + 4, 2) != 0xffff)
    return UnimplementedError("ZIP archive of several files");
  if (end >= 20 && Number(end - 20, 4) == 0x07064b50) {
    const uint64_t wide = Number(end - 20 + 8, 8);
    if (!Fits(wide, 56) || Number(wide, 4) != 0x06064b50)
      return Malformed("its ZIP64 directory is malformed");
    count = Number(wide + 32, 8);
    size = Number(wide + 40, 8);
    offset = Number(wide + 48, 8);
  }
  if (!Fits(offset, size))
    return Malformed("its directory lies outside the file");
  uint64_t at = offset;
  const uint64_t stop = offset + size;
  for (uint64_t i = 0; i < count; ++i) {
    if (stop - at < kEntrySize || Number(at, 4) != 0x02014b50)
      return Malformed("its directory is malformed");
    Entry entry;
    entry.flags = Number(at + 8, 2);
    entry.method = Number(at + 10, 2);
    entry.checksum = Number(at + 16, 4);
    entry.packed_size = Number(at + 20, 4);
    entry.size = Number(at + 24, 4);
    const uint64_t name_size = Number(at + 28, 2);
    const uint64_t extra_size = Number(at + 30, 2);
    const uint64_t comment_size = Number(at + 32, 2);
    entry.header = Number(at + 42, 4);
    if (stop - at - kEntrySize < name_size + extra_size + comment_size)
      return Malformed("its directory is malformed");
    const std::string name(
        reinterpret_cast<const char*>(bytes_.data() + at + kEntrySize),
        name_size);
    // The ZIP64 field holds 64-bit numbers for the fields that do not fit 32
    // bits, in the order uncompressed size, compressed size, offset of the
    // local header.
    uint64_t extra = at + kEntrySize + name_size;
    const uint64_t extra_end = extra + extra_size;
    while (extra_end - extra >= 4) {
      const uint64_t kind = Number(extra, 2);
      const uint64_t length = Number(extra + 2, 2);
      if (length > extra_end - extra - 4) break;
      uint64_t field = extra + 4;
      const uint64_t field_end = field + length;
      if (kind == 1) {
        for (uint64_t* value :
             {&entry.size, &entry.packed_size, &entry.header}) {
          if (*value != kNarrow || field_end - field < 8) continue;
          *value = Number(field, 8);
          field += 8;
        }
      }
      extra = field_end;
    }
    at += kEntrySize + name_size + extra_size + comment_size;
    if (entries_.emplace(name, entry).second) names_.push_back(name);
  }
  return OkStatus();
}

StatusOr<ZipContents> ZipArchive::Read(std::string_view name,
                                       uint64_t most) const {
  const std::string what = "'" + OnOneLine(name) + "' of the ZIP archive";
  const auto found = entries_.find(name);
  if (found == entries_.end())
    return NotFoundError("expected " + what + ", found none");
  const Entry& entry = found->second;
  if ((entry.flags & kEncrypted) != 0)
    return UnimplementedError(what + ": it is encrypted");
  if (entry.method != kStored && entry.method != kDeflated) {
    return UnimplementedError(
        what + ": expected it stored or deflated, found method " +
        std::to_string(entry.method));
  }
  if (!Fits(entry.header, kLocalSize) || Number(entry.header, 4) != 0x04034b50)
    return DataLossError(what + ": expected its header, found none");
  const uint64_t start = entry.header + kLocalSize +
                         Number(entry.header + 26, 2) +
                         Number(entry.header + 28, 2);
  if (!Fits(start, entry.packed_size))
    return DataLossError(what + ": it is cut off");
  if (entry.size > most) {
    return ResourceExhaustedError(what + ": expected at most " +
                                  std::to_string(most) + " bytes, found " +
                                  std::to_string(entry.size));
  }
  const std::span<const uint8_t> packed =
      bytes_.subspan(start, entry.packed_size);
  if (entry.method == kStored) {
    if (entry.size != entry.packed_size)
      return DataLossError(what + ": its sizes differ");
    return ZipContents{packed, owner_};
  }
  if (entry.size > entry.packed_size * kMaxInflation ||
      entry.packed_size > std::numeric_limits<uInt>::max() ||
      entry.size > std::numeric_limits<uInt>::max())
    return DataLossError(what + ": expected a size that it can inflate to");
  // The buffer has at least one byte: zlib refuses a null pointer even for an
  // empty entry.
  auto inflated =
      std::make_shared<std::vector<uint8_t>>(std::max<size_t>(entry.size, 1));
  z_stream stream{};
  // A negative number of window bits says to zlib that the data has no zlib
  // header.
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return ResourceExhaustedError(what + ": no memory to inflate it");
  stream.next_in = const_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = inflated->data();
  stream.avail_out = static_cast<uInt>(entry.size);
  const int result = inflate(&stream, Z_FINISH);
  const bool whole = result == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!whole || crc32_z(0, inflated->data(), entry.size) != entry.checksum)
    return DataLossError(what + ": its deflated data are damaged");
  return ZipContents{std::span(*inflated).first(entry.size), inflated};
}

}  // namespace ember::archive

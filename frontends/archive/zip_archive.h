// Reads ZIP archives that contain models: entries by name, stored ones in
// place.
//
//   EMBER_ASSIGN_OR_RETURN(ZipArchive archive,
//                          ZipArchive::Open(mapped->bytes(), mapped));
//   EMBER_ASSIGN_OR_RETURN(ZipContents config, archive.Read("config.json"));
//
// Frameworks store weights without compression, so that their bytes can stay in
// the mapped file; libraries for ZIP would copy every entry. Deflated entries
// are inflated into memory of their own.
//
// Supported are plain and ZIP64 archives with stored or deflated entries.
// Refused are encryption, other methods, and archives of several files.
// Checksums are verified for inflated entries, but not for stored ones.
//
// Source: PKWARE's APPNOTE.TXT 6.3.10.
//
// Every offset is checked. An entry may inflate to at most `most` bytes, and to
// at most 1032 times its compressed size, which is deflate's limit. Errors are
// one line. Immutable, thread-safe.
#ifndef EMBER_FRONTENDS_ARCHIVE_ZIP_ARCHIVE_H_
#define EMBER_FRONTENDS_ARCHIVE_ZIP_ARCHIVE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::archive {

struct ZipContents {
  std::span<const uint8_t> bytes;
  std::shared_ptr<const void> owner;
};

class ZipArchive {
 public:
  // Opens an archive in memory. `owner` keeps the bytes alive.
  static StatusOr<ZipArchive> Open(std::span<const uint8_t> bytes,
                                   std::shared_ptr<const void> owner);
  // True if the contents begin with the signature of a ZIP entry or, as an
  // archive without entries does, with that of the end of the directory.
  static bool IsArchive(std::string_view contents);

  // The names of all entries, in the order of the archive's directory.
  const std::vector<std::string>& names() const { return names_; }
  bool Has(std::string_view name) const { return entries_.contains(name); }
  // Returns an entry's contents; kNotFound if the archive has no entry of this
  // name.
  StatusOr<ZipContents> Read(std::string_view name,
                             uint64_t most = uint64_t{1} << 32) const;

 private:
  struct Entry {
    uint64_t method = 0, flags = 0, checksum = 0;
    uint64_t packed_size = 0, size = 0;
    // Offset in the archive of the local header, in bytes.
    uint64_t header = 0;
  };
  ZipArchive(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner)
      : bytes_(bytes), owner_(std::move(owner)) {}
  Status ReadDirectory();
  // Returns the unsigned integer that `width` bytes at offset `at` of the
  // archive encode.
  uint64_t Number(uint64_t at, int width) const;
  bool Fits(uint64_t at, uint64_t size) const {
    return at <= bytes_.size() && size <= bytes_.size() - at;
  }

  std::span<const uint8_t> bytes_;
  std::shared_ptr<const void> owner_;
  std::vector<std::string> names_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace ember::archive

#endif  // EMBER_FRONTENDS_ARCHIVE_ZIP_ARCHIVE_H_

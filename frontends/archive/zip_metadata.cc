#include "frontends/archive/zip_metadata.h"

#include "base/byte_cursor.h"
#include "base/metadata_rules.h"

namespace ember::archive {

void AddZipEntry(const ZipArchive& archive, std::string_view entry,
                 std::string_view name,
                 frontends::MetadataCollector& metadata) {
  if (metadata.full() || entry.ends_with('/')) return;
  const StatusOr<ZipContents> contents =
      archive.Read(entry, kMaxMetadataValueBytes);
  if (contents.ok()) {
    metadata.AddFile(name, AsText(contents->bytes));
  } else {
    metadata.LeaveOut(name, contents.status().message());
  }
}

}  // namespace ember::archive

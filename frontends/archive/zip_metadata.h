// Adds text files of a ZIP archive to the metadata of a model.
//
//   AddZipEntry(archive, "archive/extra/labels.txt", "extra.labels.txt",
//               metadata);
//
// Entries that cannot be read are omitted, and reported by name.
// Thread-compatible.
#ifndef EMBER_FRONTENDS_ARCHIVE_ZIP_METADATA_H_
#define EMBER_FRONTENDS_ARCHIVE_ZIP_METADATA_H_

#include <string_view>

#include "frontends/archive/zip_archive.h"
#include "frontends/metadata.h"

namespace ember::archive {

// Adds an entry of the archive. `name`: the key in the metadata.
void AddZipEntry(const ZipArchive& archive, std::string_view entry,
                 std::string_view name, frontends::MetadataCollector& metadata);

}  // namespace ember::archive

#endif  // EMBER_FRONTENDS_ARCHIVE_ZIP_METADATA_H_

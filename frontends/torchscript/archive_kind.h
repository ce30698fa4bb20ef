// Finds out which kind of PyTorch file an archive is.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_ARCHIVE_KIND_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_ARCHIVE_KIND_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "frontends/archive/zip_archive.h"

namespace ember::torchscript {

// The kind of a PyTorch file, recognised by the names of the entries in it.
enum class ArchiveKind : uint8_t {
  kNone,
  kTorchScript,  // data.pkl with code
  // An archive with data.pkl but without code, which torch.save writes for
  // tensors or for a whole module.
  kTensors,
  kExported,  // torch.export
};
// Returns the kind of an archive. `prefix`: receives the folder ("net/") with
// which all names in the archive begin.
ArchiveKind KindOfArchive(const archive::ZipArchive& archive,
                          std::string* prefix = nullptr);

// Like KindOfArchive, for the contents of a file, which need not be an archive.
ArchiveKind KindOfContents(std::string_view contents);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_ARCHIVE_KIND_H_

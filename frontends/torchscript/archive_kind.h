// What kind of PyTorch's files an archive is.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_ARCHIVE_KIND_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_ARCHIVE_KIND_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "frontends/archive/zip_archive.h"

namespace ember::torchscript {

// What kind of PyTorch's files an archive is, by the names in it.
enum class ArchiveKind : uint8_t {
  kNone,
  kTorchScript,  // data.pkl with code
  kTensors,      // data.pkl without: torch.save of tensors or of a whole module
  kExported,     // torch.export
};
// prefix: of all names in it.
ArchiveKind KindOfArchive(const archive::ZipArchive& archive,
                          std::string* prefix = nullptr);

// The same of a file's contents, which may be no archive.
ArchiveKind KindOfContents(std::string_view contents);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_ARCHIVE_KIND_H_

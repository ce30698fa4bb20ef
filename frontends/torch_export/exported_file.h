// An archive of torch.export: reads its program, and finds its tensors.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ExportedFile> file,
//                          ExportedFile::Open(bytes, owner, ""));
//   EMBER_ASSIGN_OR_RETURN(StoredTensor weight, file->FindTensor("fc.weight"));
//
// Two layouts are read. Archives of torch.export.save up to PyTorch 2.7 have
// serialized_exported_program.json, and the tensors as two files of torch.save
// within the archive. Later ones (archive_format "pt2") have models/NAME.json
// and an entry per storage in data/weights and data/constants, each listed by a
// JSON. Some versions have data/weights/NAME.pt and data/constants/NAME.pt
// instead.
//
// Tensors stay in the file, unless an archive within it is at an unaligned
// address.
//
// Source: torch/csrc/export/pt2_archive_constants.h and the documentation of
// torch.export.pt2_archive.
//
// Errors are one line. Immutable, thread-safe.
#ifndef EMBER_FRONTENDS_TORCH_EXPORT_EXPORTED_FILE_H_
#define EMBER_FRONTENDS_TORCH_EXPORT_EXPORTED_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "frontends/archive/zip_archive.h"
#include "frontends/torch_export/program.h"
#include "frontends/torchscript/pickle.h"
#include "frontends/torchscript/stored_tensor.h"

namespace ember::torch_export {

class ExportedFile {
 public:
  // Opens an archive. `owner` keeps the bytes alive. `entry`: the name of one
  // of several programs; if empty, "model", or the only one.
  static StatusOr<std::unique_ptr<ExportedFile>> Open(
      std::span<const uint8_t> bytes, std::shared_ptr<const void> owner,
      std::string_view entry);

  const Program& program() const { return program_; }
  // Returns the tensor of a parameter, buffer or constant.
  StatusOr<torchscript::StoredTensor> FindTensor(std::string_view name) const;

 private:
  using Payloads = std::map<std::string, Payload, std::less<>>;
  // An archive written by torch.save, within the archive, that holds a dict of
  // tensors by name.
  struct Saved {
    archive::ZipArchive archive;
    std::string prefix;
    std::unique_ptr<torchscript::Pickle> pickle;
  };
  struct Folder {
    // Name of the folder in the archive, with the archive's prefix and a final
    // '/'.
    std::string name;
    Payloads payloads;
  };

  explicit ExportedFile(archive::ZipArchive archive)
      : archive_(std::move(archive)) {}
  Status ReadOldLayout(const std::string& program);
  Status ReadNewLayout(std::string_view entry);
  Status ReadProgramEntry(const std::string& name);
  Status AddFolder(const std::string& name, const std::string& model,
                   const std::vector<std::string>& configs);
  Status AddSaved(const std::string& name);
  static StatusOr<Saved> OpenSaved(const archive::ZipArchive& archive,
                                   const std::string& name);
  StatusOr<torchscript::StoredTensor> FindPayload(const Folder& folder,
                                                  const Payload& payload) const;

  archive::ZipArchive archive_;
  std::string prefix_;
  Program program_;
  std::vector<Folder> folders_;
  std::vector<Saved> saved_;
};

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_EXPORTED_FILE_H_

// An archive of TorchScript: a ZIP of data.pkl (the module's attributes),
// constants.pkl, the code, and one entry per tensor.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ModuleFile> file,
//                          ModuleFile::Open(bytes, owner));
//   EMBER_ASSIGN_OR_RETURN(Object* net, file->Load(machine, interpreter));
//
// Tensors stay where the archive has them: they become constants of the graph
// when code reads them first. Modules are in evaluation mode, whatever they
// were saved in: their attribute `training` is False.
//
// Source: torch/csrc/jit/docs/serialization.md.
//
// Errors are one line. Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_MODULE_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_MODULE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/archive/zip_archive.h"
#include "frontends/torchscript/archive_kind.h"
#include "frontends/torchscript/code.h"
#include "frontends/torchscript/interpreter.h"
#include "frontends/torchscript/machine.h"
#include "frontends/torchscript/pickle.h"
#include "frontends/torchscript/stored_tensor.h"

namespace ember::torchscript {

class ModuleFile {
 public:
  // `owner` keeps the bytes.
  static StatusOr<std::unique_ptr<ModuleFile>> Open(
      std::span<const uint8_t> bytes, std::shared_ptr<const void> owner);

  int version() const { return version_; }
  // The version, and the files of text that torch.jit.save was given
  // (_extra_files), under keys of docs/formats.md.
  graph::Metadata Metadata() const;
  CodeLibrary& code() { return *code_; }
  // The class of the module.
  StatusOr<const Class*> ModuleClass();
  // Of the inputs that the model was traced with, in their order; nullopt for
  // those that are no tensors. Empty: the archive does not say.
  std::vector<std::optional<StoredTensor>> TracedInputs(
      std::string_view method) const;
  // The constants of the code.
  StatusOr<std::vector<Value>> Constants(Machine& machine);
  // The module, with all that is in it.
  StatusOr<Object*> Load(Machine& machine, Interpreter& interpreter);

 private:
  friend class ModuleLoader;
  ModuleFile(archive::ZipArchive archive, std::string prefix);
  // folder: "data", "constants".
  StatusOr<StoredTensor> FindTensor(const PickleValue& call,
                                    std::string_view folder) const;

  archive::ZipArchive archive_;
  std::string prefix_;
  std::unique_ptr<CodeLibrary> code_;
  std::unique_ptr<Pickle> data_, constants_, traced_;
  int version_ = 0;
};

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_MODULE_H_

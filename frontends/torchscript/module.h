// An archive of TorchScript: a ZIP of data.pkl (the module's attributes),
// constants.pkl, the code, and one entry per tensor.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ModuleFile> file,
//                          ModuleFile::Open(bytes, owner));
//   EMBER_ASSIGN_OR_RETURN(Object* net, file->Load(machine, interpreter));
//
// Tensors stay in the archive: they become constants of the graph when the code
// first reads them. Modules are in evaluation mode, even if they were saved in
// training mode: their attribute `training` is False.
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
  // Opens an archive. `owner` keeps the bytes alive.
  static StatusOr<std::unique_ptr<ModuleFile>> Open(
      std::span<const uint8_t> bytes, std::shared_ptr<const void> owner);

  int version() const { return version_; }
  // Returns the version, and the text files that were given to torch.jit.save
  // (_extra_files), under keys of docs/formats.md.
  graph::Metadata Metadata() const;
  CodeLibrary& code() { return *code_; }
  // Returns the class of the module, which has its methods.
  StatusOr<const Class*> ModuleClass();
  // Returns the inputs with which the model was traced, in their order; nullopt
  // for inputs that are no tensors. Empty if the archive does not have them.
  std::vector<std::optional<StoredTensor>> TracedInputs(
      std::string_view method) const;
  // Returns the constants to which the code refers (CONSTANTS.c0 …).
  StatusOr<std::vector<Value>> Constants(Machine& machine);
  // Loads the module: makes its object, and the objects that are its
  // attributes.
  StatusOr<Object*> Load(Machine& machine, Interpreter& interpreter);

 private:
  friend class ModuleLoader;
  ModuleFile(archive::ZipArchive archive, std::string prefix);
  // Finds the tensor that a call in a pickle makes. `folder`: the folder with
  // its storage, "data" or "constants".
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

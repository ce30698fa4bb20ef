// Finds the classes and functions of an archive by their full names.
//
//   CodeLibrary code(archive, "net/");
//   EMBER_ASSIGN_OR_RETURN(const Class* type, code.FindClass("__torch__.Net"));
//
// "__torch__.torch.nn.functional.relu" is the function relu of
// code/__torch__/torch/nn/functional.py. Files are parsed when they are first
// needed. Errors are one line that names the file. Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_CODE_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_CODE_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "frontends/archive/zip_archive.h"
#include "frontends/torchscript/syntax.h"

namespace ember::torchscript {

class CodeLibrary {
 public:
  // The archive must outlive this object. `prefix`: the common prefix of all
  // names in the archive.
  CodeLibrary(const archive::ZipArchive& archive, std::string prefix)
      : archive_(archive), prefix_(std::move(prefix)) {}

  // These functions return null if the archive has no class or function of this
  // name.
  StatusOr<const Class*> FindClass(std::string_view name);
  StatusOr<const Function*> FindFunction(std::string_view name);

 private:
  // Returns the parsed source file of a Python module; null if the archive has
  // none.
  StatusOr<const SourceFile*> FindFile(std::string_view module);

  const archive::ZipArchive& archive_;
  std::string prefix_;
  std::map<std::string, std::unique_ptr<const SourceFile>, std::less<>> files_;
};

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_CODE_H_

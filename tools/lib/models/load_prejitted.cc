#include "tools/lib/models/load_prejitted.h"

#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "hal/cpu/target.h"
#include "tools/lib/prejit/prejit.h"
#include "vm/format/writer.h"
#include "vm/runtime/dispatch/native_kernels.h"

namespace ember::tools {
namespace {

// Owns a temporary file, which the destructor deletes. A mapping of the file
// stays valid after that.
class TemporaryFile {
 public:
  TemporaryFile()
      : path_((std::filesystem::temp_directory_path() /
               ("ember-prejitted-" + std::to_string(::getpid()) + ".vmfb"))
                  .string()) {}
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The expected outcome when this machine loads the file.
struct Expected {
  // Targets whose kernels this machine does not support, so they must be
  // refused.
  std::set<std::string> refused;
  // Number of kernels of all other targets, which must all be installed.
  size_t kernels = 0;
};

bool IsExpected(const std::string& refused_line, const Expected& expected) {
  for (const std::string& target : expected.refused) {
    if (refused_line.starts_with("native section " + target + ": "))
      return true;
  }
  return false;
}

Status CheckInstalled(const vm::NativeReport& report,
                      const Expected& expected) {
  for (const std::string& line : report.refused) {
    if (!IsExpected(line, expected))
      return InternalError("kernels in the file are refused: " + line);
  }
  if (expected.kernels > 0 && report.kernels == 0) {
    return InternalError("kernels in the file: expected some of " +
                         std::to_string(expected.kernels) +
                         " for this machine to be installed, found none");
  }
  return OkStatus();
}

}  // namespace

StatusOr<PrejittedModule> LoadPrejitted(
    const std::shared_ptr<const vm::Module>& module,
    std::span<const jit::CompileTarget> targets) {
  vm::ModuleDefinition definition = module->definition();
  definition.natives.clear();
  Expected expected;
  for (const jit::CompileTarget& target : targets) {
    EMBER_ASSIGN_OR_RETURN(Prejitted made, Prejit(module, target, {}));
    if (hal::MissingFeatures(made.target).empty()) {
      expected.kernels += made.kernels;
    } else {
      expected.refused.insert(made.target);
    }
    definition.natives.push_back(SectionOf(std::move(made)));
  }
  const TemporaryFile file;
  EMBER_RETURN_IF_ERROR(vm::WriteModule(definition, file.path()));
  PrejittedModule loaded;
  auto read = vm::Module::Load(file.path());
  if (!read.ok())
    return InternalError("the file with kernels does not load: " +
                         std::string(read.status().message()));
  loaded.module = *std::move(read);
  loaded.tiering = std::make_shared<vm::Tiering>(loaded.module, nullptr,
                                                 vm::Tiering::Options{});
  EMBER_RETURN_IF_ERROR(
      CheckInstalled(vm::InstallNativeKernels(*loaded.tiering), expected));
  return loaded;
}

}  // namespace ember::tools

#include "hal/metal/testing/msl_program.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/concat.h"
#include "base/file.h"
#include "base/status.h"
#include "hal/metal/testing/msl_kernels.h"
#include "hal/metal/testing/shim/grid_thread.h"
#include "hal/metal/testing/shim_text.h"

namespace ember::hal::metal::fake {
namespace {

using cuda::GridThread;

#define EMBER_SAME_FIELD(field)                \
  static_assert(offsetof(GridThread, field) == \
                offsetof(ember_shim::GridThread, field))
EMBER_SAME_FIELD(thread);
EMBER_SAME_FIELD(threads);
EMBER_SAME_FIELD(block);
EMBER_SAME_FIELD(blocks);
EMBER_SAME_FIELD(shared);
EMBER_SAME_FIELD(functions);
EMBER_SAME_FIELD(emulator);
#undef EMBER_SAME_FIELD
static_assert(offsetof(cuda::GridFunctions, barrier) == 0);

constexpr std::string_view kEntry = "ember_grid_";

std::string Variable(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

// Returns the program with a function for each kernel that the grid calls.
std::string WithEntries(std::string_view source,
                        const std::vector<MslKernel>& kernels) {
  std::string text = WithSharedArrays(source) + "\n";
  for (const MslKernel& kernel : kernels) {
    constexpr std::string_view kParameters =
        "(ember_shim::GridThread *thread, void *const *arguments) {\n"
        "  ember_shim::current = thread;\n  ";
    text += Concat({"extern \"C\" void ", kEntry, kernel.name, kParameters,
                    kernel.name, "(", kernel.call, ");\n}\n"});
  }
  return text;
}

// A folder that is removed with the files in it when the object is destroyed.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(Variable("TEST_TMPDIR", "/tmp") + "/ember_metal_XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~TemporaryFolder() {
    for (const std::string& name : files_) std::remove(name.c_str());
    if (!path_.empty()) ::rmdir(path_.c_str());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string File(std::string_view name) {
    files_.push_back(Concat({path_, "/", name}));
    return files_.back();
  }

 private:
  std::string path_;
  std::vector<std::string> files_;
};

// Compiles a C++ text with the shim and opens the library. Returns null and
// sets `problem` if the compiler refuses it.
void* CompileAndOpen(const std::string& text, std::string& problem) {
  TemporaryFolder folder;
  const std::string source = folder.File("program.cc");
  const std::string library = folder.File("program.so");
  const std::string log = folder.File("log");
  Status written = WriteFileAtomically(source, text);
  for (const auto& [name, contents] : kShimFiles) {
    if (written.ok())
      written = WriteFileAtomically(folder.File(name), contents);
  }
  if (!written.ok()) {
    problem = Concat({"error: ", written.message()});
    return nullptr;
  }
  const std::string compiler = Variable("EMBER_TEST_CXX", "c++");
  constexpr std::string_view kOptions =
      " -std=c++20 -O1 -w -ffp-contract=off -fno-strict-aliasing -fwrapv "
      "-shared -fPIC -I";
  const std::string command =
      Concat({compiler, kOptions, folder.path(), " -o ", library, " ", source,
              " >", log, " 2>&1"});
  const int exit_status = std::system(command.c_str());
  void* const handle = exit_status == 0
                           ? ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)
                           : nullptr;
  if (handle != nullptr) return handle;
  problem = ReadFile(log).ok() ? *ReadFile(log) : "";
  if (problem.empty())
    problem = Concat({"error: ", compiler, " refuses the program"});
  return nullptr;
}

std::array<uint32_t, 3> Narrow(const Extent& extent) {
  std::array<uint32_t, 3> narrow = {};
  std::ranges::transform(extent, narrow.begin(), [](uint64_t count) {
    return static_cast<uint32_t>(count);
  });
  return narrow;
}

}  // namespace

std::string MslKernel::Run(const Extent& groups, const Extent& threads,
                           uint64_t threadgroup_bytes,
                           const BufferAddresses& addresses) const {
  return cuda::RunGrid({.kernel = {.name = name,
                                   .function = function,
                                   .argument_count = addresses.size(),
                                   // Threads may synchronise; the code decides.
                                   .has_barriers = true},
                        .blocks = Narrow(groups),
                        .threads = Narrow(threads),
                        .shared_bytes = threadgroup_bytes,
                        .arguments = addresses.data()},
                       [](uintptr_t) { return cuda::MemoryRange(); });
}

std::shared_ptr<const MslProgram> MslProgram::Compile(std::string_view source,
                                                      std::string& problem) {
  const std::shared_ptr<MslProgram> program(new MslProgram);
  problem = ReadKernels(source, program->kernels_);
  if (!problem.empty()) return nullptr;
  program->library_ =
      CompileAndOpen(WithEntries(source, program->kernels_), problem);
  if (program->library_ == nullptr) return nullptr;
  for (MslKernel& kernel : program->kernels_) {
    const std::string symbol = Concat({kEntry, kernel.name});
    kernel.function = reinterpret_cast<cuda::GridKernel>(
        ::dlsym(program->library_, symbol.c_str()));
  }
  return program;
}

MslProgram::~MslProgram() {
  if (library_ != nullptr) ::dlclose(library_);
}

const MslKernel* MslProgram::Find(std::string_view name) const {
  const auto kernel = std::ranges::find(kernels_, name, &MslKernel::name);
  return kernel == kernels_.end() ? nullptr : &*kernel;
}

}  // namespace ember::hal::metal::fake

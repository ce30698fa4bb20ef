#include "jit/c/testing/compile_here.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/file.h"
#include "gtest/gtest.h"
#include "jit/c/prelude.h"
#include "jit/c/source.h"

namespace ember::jit::c {
namespace {

constexpr char kDefaultCommand[] = "cc -O1";
// Compiler options. They turn off warnings that valid printed code causes:
// registers may be uninitialised, stored values unused, and conditions always
// true. GCC ignores warning options that it does not know.
constexpr char kOptions[] =
    " -std=c11 -Wall -Wextra -Werror -Wno-unused -Wno-maybe-uninitialized "
    "-Wno-uninitialized -Wno-type-limits -Wno-tautological-compare "
    "-Wno-unknown-warning-option "
    "-shared -fPIC -ffp-contract=off -fno-strict-aliasing -lm";

class LoadedNest final : public CompiledNest {
 public:
  explicit LoadedNest(void* library) : library_(library) {}
  ~LoadedNest() override { dlclose(library_); }
  LoadedNest(const LoadedNest&) = delete;
  LoadedNest& operator=(const LoadedNest&) = delete;

  Status Find(const std::vector<std::string>& names,
              std::vector<vm::PhaseFunction>& functions) {
    for (const std::string& name : names) {
      void* const symbol = dlsym(library_, name.c_str());
      if (symbol == nullptr)
        return InternalError(Concat({"expected a function ", name}));
      functions.push_back(reinterpret_cast<vm::PhaseFunction>(symbol));
    }
    return OkStatus();
  }

 private:
  void* const library_;
};

// Runs the command in a shell, and writes its output to the file `log`. Returns
// true if the command succeeds.
bool Runs(const std::string& command, const std::string& log) {
  return std::system(Concat({command, " >'", log, "' 2>&1"}).c_str()) == 0;
}

// Returns a path, without an ending, at which no other test of the machine
// writes files.
std::string NewPath() {
  static std::atomic<int> number = 0;
  return Concat({testing::TempDir(), "/ember_c_", getpid(), "_", number++});
}

}  // namespace

std::string TestCompilerCommand() {
  const char* const command = std::getenv("EMBER_TEST_CC");
  return command == nullptr ? kDefaultCommand : command;
}

std::string MissingCompiler() {
  static const std::string missing = []() -> std::string {
    const std::string command = TestCompilerCommand();
    if (Runs(command + " --version", "/dev/null")) return "";
    return Concat({"no C compiler: ", command});
  }();
  return missing;
}

StatusOr<std::unique_ptr<CompiledNest>> CompileHere(
    const loops::LoopNest& nest) {
  EMBER_ASSIGN_OR_RETURN(const Source source, EmitSource(nest));
  const std::string file = CompleteFile(source.functions);
  const std::string path = NewPath();
  const std::string text = path + ".c", library = path + ".so",
                    log = path + ".log";
  EMBER_RETURN_IF_ERROR(WriteFileAtomically(text, file));
  const bool is_compiled = Runs(Concat({TestCompilerCommand(), " '", text,
                                        "' -o '", library, "'", kOptions}),
                                log);
  StatusOr<std::string> said = ReadFile(log);
  std::remove(text.c_str());
  std::remove(log.c_str());
  if (!is_compiled) {
    return InternalError(
        Concat({"C is refused: ", said.ok() ? *said : "", "\n", file}));
  }
  void* const loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::remove(library.c_str());
  if (loaded == nullptr) return InternalError(dlerror());
  auto result = std::make_unique<LoadedNest>(loaded);
  EMBER_RETURN_IF_ERROR(result->Find(source.prologue, result->prologue));
  EMBER_RETURN_IF_ERROR(result->Find(source.phases, result->phases));
  result->assembly = file;
  return std::unique_ptr<CompiledNest>(std::move(result));
}

}  // namespace ember::jit::c

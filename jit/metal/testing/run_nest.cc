#include "jit/metal/testing/run_nest.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "base/file.h"
#include "gtest/gtest.h"
#include "hal/cuda/device.h"
#include "hal/cuda/emulated/grid.h"
#include "jit/c_like/kernels.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/text/text.h"
#include "jit/metal/source.h"
#include "jit/metal/target.h"
#include "jit/metal/testing/shim/grid_thread.h"

namespace ember::jit::metal {
namespace {

using hal::cuda::GridThread;

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
static_assert(offsetof(hal::cuda::GridFunctions, barrier) == 0);

constexpr char kShim[] = "jit/metal/testing/shim";

std::string CompilerCommand() {
  const char* const given = std::getenv("EMBER_TEST_CXX");
  return given == nullptr ? "c++" : given;
}

size_t BindingCount(const gpu::PhaseCode& phase) {
  return phase.bindings.size() + (phase.has_checks ? 1 : 0);
}

// Returns the text of functions that the emulated grid can call, one for each
// phase. Each calls the phase's kernel with arguments of Metal's form.
std::string EntriesOf(const gpu::DeviceCode& code, size_t parameters) {
  std::string text;
  for (const auto* phases : {&code.prologue, &code.phases}) {
    for (const gpu::PhaseCode& phase : *phases) {
      constexpr std::string_view kParameters =
          "(ember_shim::GridThread *thread, void *const *arguments) {\n";
      text += Concat({"extern \"C\" void grid_", phase.entry_point, kParameters,
                      "  ember_shim::Run<", BindingCount(phase), ", ",
                      parameters + 1, ">(", phase.entry_point,
                      ", thread, arguments);\n}\n"});
    }
  }
  return text;
}

// Compiles the C++ source to a shared library and returns the library, opened
// by dlopen.
StatusOr<void*> CompileAndOpen(const std::string& source) {
  // The file name is different for each library: dlopen returns a library that
  // is already open if it has the same name.
  static int count = 0;
  const std::string path =
      Concat({::testing::TempDir(), "/ember_metal_", ::getpid(), "_", ++count});
  const std::string file = path + ".cc", library = path + ".so",
                    log = path + ".log";
  EMBER_RETURN_IF_ERROR(WriteFileAtomically(file, source));
  constexpr std::string_view kOptions =
      " -std=c++20 -O1 -w -ffp-contract=off -fno-strict-aliasing -fwrapv "
      "-shared -fPIC -I";
  const std::string command =
      Concat({CompilerCommand(), kOptions, kShim, " -o ", library, " ", file,
              " >", log, " 2>&1"});
  const int exit_status = std::system(command.c_str());
  const StatusOr<std::string> said = ReadFile(log);
  void* const handle = exit_status == 0
                           ? ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)
                           : nullptr;
  for (const std::string& name : {file, library, log})
    std::remove(name.c_str());
  if (handle != nullptr) return handle;
  return InternalError(Concat({command, ": ", said.ok() ? *said : ""}));
}

// The nest that was compiled last, and its program as code for the emulated
// grid.
struct Program {
  std::string nest;  // text of the nest
  std::shared_ptr<void> library;
  gpu::DeviceCode code;
};

StatusOr<gpu::DeviceCode> ForGrid(gpu::DeviceCode code, void* library,
                                  size_t parameters) {
  std::vector<hal::cuda::GridEntry> entries;
  for (auto* phases : {&code.prologue, &code.phases}) {
    for (gpu::PhaseCode& phase : *phases) {
      const std::string symbol = "grid_" + phase.entry_point;
      void* const function = ::dlsym(library, symbol.c_str());
      if (function == nullptr) return InternalError("no function " + symbol);
      entries.push_back(
          {.name = phase.entry_point,
           .function = reinterpret_cast<hal::cuda::GridKernel>(function),
           .argument_count = BindingCount(phase) + parameters + 1,
           // True in any case: the program's text decides if threads reach
           // barriers.
           .has_barriers = true});
    }
  }
  code.format = "emulated-grid";
  code.code = hal::cuda::WriteGridImage(entries);
  return code;
}

// Compiles the nest, unless it is the nest of the last call: a test case calls
// the same nest with many parameters.
StatusOr<const gpu::DeviceCode*> Compile(const loops::LoopNest& nest) {
  static Program& kept = *new Program;
  std::string text = loops::ToText(nest);
  if (kept.nest == text) return &kept.code;
  EMBER_ASSIGN_OR_RETURN(gpu::DeviceCode code,
                         EmitProgram(nest, Target::Of(kTestTarget)));
  const size_t parameters = nest.parameters.size();
  EMBER_ASSIGN_OR_RETURN(void* const library,
                         CompileAndOpen(Concat({c_like::TextOf(code), "\n",
                                                EntriesOf(code, parameters)})));
  kept.code = {};
  kept.library = {library, [](void* handle) { ::dlclose(handle); }};
  EMBER_ASSIGN_OR_RETURN(kept.code,
                         ForGrid(std::move(code), library, parameters));
  kept.nest = std::move(text);
  return &kept.code;
}

const std::shared_ptr<hal::Device>& Grid() {
  static const std::shared_ptr<hal::Device>& device =
      *new std::shared_ptr<hal::Device>([] {
        auto made = hal::CreateEmulatedCudaDevice(0, {});
        EMBER_CHECK(made.ok()) << made.status().ToString();
        return *std::move(made);
      }());
  return device;
}

}  // namespace

std::string MissingCompiler() {
  static const bool has_it =
      std::system((CompilerCommand() + " --version >/dev/null 2>&1").c_str()) ==
      0;
  return has_it ? "" : Concat({"no C++ compiler: ", CompilerCommand()});
}

Status RunOnGrid(const loops::LoopNest& nest,
                 const std::vector<int64_t>& parameters, gpu::Bytes& buffers) {
  EMBER_ASSIGN_OR_RETURN(const gpu::DeviceCode* const code, Compile(nest));
  return gpu::RunNest(Grid(), nest, *code, parameters, buffers);
}

}  // namespace ember::jit::metal

// Kernels of CUDA's devices, made and written to a folder without a device:
// what the default schedules make of dispatches, as PTX.
//
//   compile_dispatches --target=sm_80+subgroup32+shared166912+… -o DIR FILE...
//
// FILE has dispatches as text (tensor/GRAMMAR.md). Of each, DIR gets NAME.ptx,
// NAME.loops and NAME.schedule. Prints a line of JSON for each phase: threads
// of a block, bytes of its shared memory, number of blocks. Exits 1 where a
// dispatch is declined, with the reason. tools/cuda_figures.py --dispatches
// runs it.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/concat.h"
#include "base/file.h"
#include "base/status.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/text.h"
#include "jit/loops/verifier.h"
#include "jit/loops/walk.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/target.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/gpu/gpu_schedule.h"
#include "jit/schedule/lowering/lowering.h"
#include "jit/target/gpu_model.h"
#include "tensor/text.h"

namespace ember::jit::ptx {
namespace {

Status CompileOne(const tensor::Dispatch& dispatch, const std::string& target,
                  const std::string& folder) {
  schedule::Schedule schedule(schedule::Disassemble(dispatch, {}));
  EMBER_RETURN_IF_ERROR(
      schedule::ScheduleForGpu(GpuModel::Of(target), schedule));
  const std::string base = Concat({folder, "/", dispatch.name});
  EMBER_RETURN_IF_ERROR(
      WriteFileAtomically(base + ".schedule", schedule.ToText()));
  EMBER_ASSIGN_OR_RETURN(const loops::LoopNest nest, schedule::Lower(schedule));
  EMBER_RETURN_IF_ERROR(
      WriteFileAtomically(base + ".loops", loops::ToText(nest)));
  EMBER_RETURN_IF_ERROR(loops::Verify(nest));
  CodeTexts texts;
  EMBER_ASSIGN_OR_RETURN(const gpu::DeviceCode code,
                         CompileNest(nest, Target::Of(target), &texts));
  EMBER_RETURN_IF_ERROR(WriteFileAtomically(base + ".ptx", texts.ptx));
  for (size_t i = 0; i < code.phases.size(); ++i) {
    const gpu::PhaseCode& phase = code.phases[i];
    const auto tasks = nest.pool.IntegerConstant(
        loops::ExtentOf(nest.pool, nest.phases[i].task));
    std::printf(
        "{\"dispatch\": \"%s\", \"entry\": \"%s\", \"threads\": %lld, "
        "\"shared\": %lld, \"blocks\": %lld, \"products\": %lld}\n",
        dispatch.name.c_str(), phase.entry_point.c_str(),
        static_cast<long long>(phase.invocations),
        static_cast<long long>(phase.dynamic_shared_bytes),
        static_cast<long long>(tasks.value_or(0)),
        static_cast<long long>(phase.multiply_adds));
  }
  return OkStatus();
}

int Run(const std::string& target, const std::string& folder,
        const std::vector<std::string>& files) {
  int declined = 0;
  for (const std::string& file : files) {
    const auto text = ReadFile(file);
    if (!text.ok()) {
      std::fprintf(stderr, "%s\n", text.status().ToString().c_str());
      return 2;
    }
    const auto dispatches = tensor::ParseAll(*text);
    if (!dispatches.ok()) {
      std::fprintf(stderr, "%s: %s\n", file.c_str(),
                   dispatches.status().ToString().c_str());
      return 2;
    }
    for (const tensor::Dispatch& dispatch : *dispatches) {
      const Status status = CompileOne(dispatch, target, folder);
      if (status.ok()) continue;
      ++declined;
      std::fprintf(stderr, "@%s: %s\n", dispatch.name.c_str(),
                   status.ToString().c_str());
    }
  }
  return declined == 0 ? 0 : 1;
}

}  // namespace
}  // namespace ember::jit::ptx

int main(int argc, char** argv) {
  std::string target =
      "sm_80+subgroup32+shared166912+invocations1024+processors108";
  std::string folder;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--target=")) {
      target = argument.substr(9);
    } else if (argument == "-o" && i + 1 < argc) {
      folder = argv[++i];
    } else if (argument.starts_with("-")) {
      folder.clear();
      break;
    } else {
      files.emplace_back(argument);
    }
  }
  if (folder.empty() || files.empty()) {
    std::fprintf(
        stderr,
        "Usage: compile_dispatches [--target=TARGET] -o DIR FILE...\n"
        "Writes DIR/NAME.ptx, .loops and .schedule of each dispatch.\n");
    return 2;
  }
  return ember::jit::ptx::Run(target, folder, files);
}

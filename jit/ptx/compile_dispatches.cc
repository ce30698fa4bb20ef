// Compiles dispatches under the default schedules of CUDA's devices to PTX,
// without a device, and writes the kernels to a folder.
//
//   compile_dispatches --target=sm_80+subgroup32+shared166912+… -o DIR FILE...
//       [--schedules=DIR]   uses DIR/NAME.schedule, not the default schedule
//       [--constants=w,b]   inputs of these names never change; the JSON does
//                           not list the phases that pack them once
//
// FILE has dispatches as text (tensor/GRAMMAR.md). For each one, DIR gets
// NAME.ptx, NAME.loops and NAME.schedule. The tool prints JSON: a line for the
// dispatch's buffers, then one for each phase. A phase's line has the threads
// of a block, the bytes of its shared memory, the number of blocks, and the
// numbers of the buffers that it takes. According to vm/format/device_abi.h,
// these arguments are followed by the record of checks, the first task and the
// tensor maps, which are "boxes". The tool exits with 1 and a reason if a
// dispatch is declined. tools/cuda_kernels.py and tools/compare_torch.py run
// it.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/dtype.h"
#include "base/file.h"
#include "base/rounding.h"
#include "base/status.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/loops/walk.h"
#include "jit/pipeline/lower.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/target.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/normalise.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/gpu/schedule.h"
#include "jit/schedule/primitives/replay.h"
#include "jit/target/gpu_model.h"
#include "tensor/text/text.h"

namespace ember::jit::ptx {
namespace {

void PrintBuffers(const loops::LoopNest& nest) {
  std::printf("{\"dispatch\": \"%s\", \"buffers\": [", nest.name.c_str());
  const char* separator = "";
  for (const loops::Buffer& buffer : nest.buffers) {
    std::string extents;
    for (const tensor::NodeId extent : buffer.extents) {
      const auto size = nest.pool.IntegerConstant(extent);
      extents += (extents.empty() ? "" : ", ") +
                 (size ? std::to_string(*size) : std::string("null"));
    }
    std::printf(
        "%s{\"name\": \"%s\", \"type\": \"%s\", \"scope\": \"%s\", "
        "\"extents\": [%s]}",
        separator, buffer.name.c_str(),
        std::string(DTypeName(buffer.type)).c_str(),
        std::string(loops::ToText(buffer.scope)).c_str(), extents.c_str());
    separator = ", ";
  }
  std::printf("]}\n");
}

void PrintPhase(const loops::LoopNest& nest, const loops::Phase& phase,
                const gpu::PhaseCode& code) {
  std::string bindings;
  for (const gpu::PhaseCode::Binding& binding : code.bindings) {
    bindings += (bindings.empty() ? "" : ", ") + std::to_string(binding.buffer);
  }
  const auto tasks =
      nest.pool.IntegerConstant(loops::ExtentOf(nest.pool, phase.task));
  std::string boxes;
  for (const vm::BoxMap& map : code.boxes) {
    std::string box, order;
    for (const uint32_t extent : map.box)
      box += (box.empty() ? "" : ", ") + std::to_string(extent);
    for (uint32_t d = 0; d < map.box.size(); ++d) {
      order += (d == 0 ? "" : ", ") +
               std::to_string(map.order.empty() ? d : map.order[d]);
    }
    boxes +=
        Concat({boxes.empty() ? "" : ", ",
                "{\"binding\": ", static_cast<int64_t>(map.binding),
                ", \"box\": [", box, "], \"order\": [", order,
                "], \"swizzled\": ", map.is_swizzled ? "true}" : "false}"});
  }
  int64_t blocks =
      DivideRoundingUp(tasks.value_or(0), code.tasks_per_workgroup);
  if (code.most_workgroups != 0)
    blocks = std::min(blocks, code.most_workgroups);
  std::printf(
      "{\"dispatch\": \"%s\", \"entry\": \"%s\", \"threads\": %lld, "
      "\"shared\": %lld, \"blocks\": %lld, \"products\": %lld, "
      "\"bindings\": [%s], \"boxes\": [%s], \"checks\": %s, "
      "\"slices\": %s}\n",
      nest.name.c_str(), code.entry_point.c_str(),
      static_cast<long long>(code.invocations),
      static_cast<long long>(code.dynamic_shared_bytes),
      static_cast<long long>(blocks),
      static_cast<long long>(code.multiply_adds), bindings.c_str(),
      boxes.c_str(), code.has_checks ? "true" : "false",
      code.has_slices ? "true" : "false");
}

struct Options {
  std::string target =
      "sm_80+subgroup32+shared166912+invocations1024+processors108";
  std::string folder;
  // The folder that has the schedules to use; "": the default schedules are
  // used.
  std::string schedules;
  // Names of the inputs that never change (and so may be packed once),
  // separated by commas.
  std::string constants;
  std::vector<std::string> files;
};

// Returns the dispatch under the schedule that the option --schedules' folder
// has for it, or under the default schedule without that option.
StatusOr<schedule::Schedule> ScheduleOf(const tensor::Dispatch& dispatch,
                                        const Options& options) {
  schedule::Computation computation = schedule::Disassemble(dispatch, {});
  const std::string constants = Concat({",", options.constants, ","});
  for (schedule::ComputationBuffer& buffer : computation.buffers) {
    if (buffer.role == schedule::BufferRole::kInput)
      buffer.is_constant =
          constants.find(Concat({",", buffer.name, ","})) != std::string::npos;
  }
  // Normalises as the JIT does before it schedules (jit/kernel/build_nest.cc),
  // so that schedules are the same.
  schedule::Normalise(computation);
  schedule::Schedule schedule(std::move(computation));
  if (options.schedules.empty()) {
    EMBER_RETURN_IF_ERROR(
        schedule::ScheduleForGpu(GpuModel::Of(options.target), schedule));
    return schedule;
  }
  EMBER_ASSIGN_OR_RETURN(
      const std::string text,
      ReadFile(Concat({options.schedules, "/", dispatch.name, ".schedule"})));
  EMBER_RETURN_IF_ERROR(schedule::Replay(text, schedule));
  return schedule;
}

Status CompileOne(const tensor::Dispatch& dispatch, const Options& options) {
  const std::string& folder = options.folder;
  EMBER_ASSIGN_OR_RETURN(const schedule::Schedule schedule,
                         ScheduleOf(dispatch, options));
  const std::string base = Concat({folder, "/", dispatch.name});
  EMBER_RETURN_IF_ERROR(
      WriteFileAtomically(base + ".schedule", schedule.ToText()));
  EMBER_ASSIGN_OR_RETURN(const loops::LoopNest nest, schedule::Lower(schedule));
  EMBER_RETURN_IF_ERROR(
      WriteFileAtomically(base + ".loops", loops::ToText(nest)));
  EMBER_RETURN_IF_ERROR(loops::Verify(nest));
  CodeTexts texts;
  EMBER_ASSIGN_OR_RETURN(const gpu::DeviceCode code,
                         CompileNest(nest, Target::Of(options.target), &texts));
  EMBER_RETURN_IF_ERROR(WriteFileAtomically(base + ".ptx", texts.ptx));
  PrintBuffers(nest);
  for (size_t i = 0; i < code.phases.size(); ++i)
    PrintPhase(nest, nest.phases[i], code.phases[i]);
  return OkStatus();
}

int Run(const Options& options) {
  int declined = 0;
  for (const std::string& file : options.files) {
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
      const Status status = CompileOne(dispatch, options);
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
  ember::jit::ptx::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--target=")) {
      options.target = argument.substr(9);
    } else if (argument.starts_with("--schedules=")) {
      options.schedules = argument.substr(12);
    } else if (argument.starts_with("--constants=")) {
      options.constants = argument.substr(12);
    } else if (argument == "-o" && i + 1 < argc) {
      options.folder = argv[++i];
    } else if (argument.starts_with("-")) {
      options.folder.clear();
      break;
    } else {
      options.files.emplace_back(argument);
    }
  }
  if (options.folder.empty() || options.files.empty()) {
    std::fprintf(
        stderr,
        "Usage: compile_dispatches [--target=TARGET] [--schedules=DIR]\n"
        "       [--constants=NAME,...] -o DIR FILE...\n"
        "Writes DIR/NAME.ptx, .loops and .schedule of each dispatch, under\n"
        "NAME.schedule of --schedules if that is given. Inputs of the names "
        "of\n"
        "--constants never change, so that they may be packed once.\n");
    return 2;
  }
  return ember::jit::ptx::Run(options);
}

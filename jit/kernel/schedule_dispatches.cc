// Prints which dispatches have default schedules and which are refused, and
// optionally the schedules, without running anything.
//
//   vm-dump model.vmfb --part=dispatches > model.txt
//   schedule_dispatches [--target=vulkan1.3+subgroup32] [--print] model.txt...
//
// Prints a line per refused dispatch, with the reason, and counts; with --print
// also schedules and loop nests. Exits with 1 if any was refused.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/loops/walk.h"
#include "jit/pipeline/lower.h"
#include "jit/registry/backends.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/schedule.h"
#include "tensor/text/text.h"

namespace ember::schedule {
namespace {

struct Counts {
  int fine = 0;
  int phases = 0;
  // number of phases that run on one invocation only: they have one task and no
  // invocation loops
  int serial_phases = 0;
  std::map<std::string, int> refused;
};

StatusOr<loops::LoopNest> NestOf(const tensor::Dispatch& dispatch,
                                 std::string_view target, std::string& text) {
  Schedule schedule(Disassemble(dispatch, {}));
  EMBER_RETURN_IF_ERROR(jit::BackendFor(target).schedule(target, {}, schedule));
  text = schedule.ToText();
  EMBER_ASSIGN_OR_RETURN(loops::LoopNest nest, Lower(schedule));
  text += loops::ToText(nest);
  EMBER_RETURN_IF_ERROR(loops::Verify(nest));
  return nest;
}

void Count(const tensor::Dispatch& dispatch, std::string_view target,
           bool prints, Counts& counts) {
  std::string text;
  const auto nest = NestOf(dispatch, target, text);
  if (prints) std::printf("%s", text.c_str());
  if (!nest.ok()) {
    std::printf("refused: @%s: %s\n", dispatch.name.c_str(),
                nest.status().ToString().c_str());
    ++counts.refused[std::string(nest.status().message()).substr(0, 60)];
    return;
  }
  ++counts.fine;
  for (const loops::Phase& phase : nest->phases) {
    ++counts.phases;
    const bool is_one =
        nest->pool.IntegerConstant(nest->pool[phase.task].operands[0]) == 1;
    counts.serial_phases += is_one && !loops::HasInvocationLoop(phase.body);
  }
}

int Main(const std::vector<std::string>& arguments) {
  std::string target = "vulkan1.3+subgroup32+shared49152+invocations1024";
  bool prints = false;
  Counts counts;
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--target=")) {
      target = argument.substr(9);
      continue;
    }
    if (argument == "--print") {
      prints = true;
      continue;
    }
    std::ifstream file(argument);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    constexpr std::string_view kBegin = "\ndispatch @";
    text = "\n" + text;
    for (size_t at = text.find(kBegin); at != std::string::npos;) {
      const size_t next = text.find(kBegin, at + 1);
      const auto dispatch = tensor::Parse(text.substr(at, next - at));
      if (!dispatch.ok()) {
        std::printf("%s: %s\n", argument.c_str(),
                    dispatch.status().ToString().c_str());
        return 2;
      }
      Count(*dispatch, target, prints, counts);
      at = next;
    }
  }
  std::printf("%s: %d fine with %d phases, %d of them serial\n", target.c_str(),
              counts.fine, counts.phases, counts.serial_phases);
  for (const auto& [reason, times] : counts.refused)
    std::printf("%6d refused: %s\n", times, reason.c_str());
  return counts.refused.empty() ? 0 : 1;
}

}  // namespace
}  // namespace ember::schedule

int main(int argc, char** argv) {
  return ember::schedule::Main({argv + 1, argv + argc});
}

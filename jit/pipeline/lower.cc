#include "jit/pipeline/lower.h"

#include <utility>

#include "jit/pipeline/nest_passes.h"
#include "jit/pipeline/runner.h"

namespace ember::schedule {

StatusOr<loops::LoopNest> Lower(const Schedule& schedule) {
  jit::NestBuild build;
  build.schedule = &schedule;
  jit::PassLog log;
  EMBER_RETURN_IF_ERROR(jit::RunPasses(jit::LoweringPasses(), build, log));
  return std::move(build.nest);
}

}  // namespace ember::schedule

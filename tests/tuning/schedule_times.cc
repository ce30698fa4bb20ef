#include "tests/tuning/schedule_times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/parallel.h"
#include "jit/backend/backend.h"
#include "jit/backend/describe_nest.h"
#include "jit/backend/host_kernel.h"
#include "jit/registry/backends.h"
#include "tools/lib/prejit/race.h"
#include "tune/model/nest_features.h"
#include "tune/space/random.h"
#include "tune/space/space.h"
#include "vm/runtime/kernels/cpu_kernel.h"

namespace ember::tests {
namespace {

// A schedule that takes part in the comparison, with its kernel.
struct Contestant {
  TimedSchedule result;
  std::unique_ptr<vm::CpuKernel> kernel;
  // number of calls in each measurement; 0 if it is measured no more
  int64_t calls = 1;
};

class Contest {
 public:
  Contest(const tune::Task& task, std::span<void* const> buffers,
          jit::Compiler& compiler, const TimingOptions& options)
      : task_(task),
        buffers_(buffers),
        compiler_(compiler),
        options_(options) {}

  StatusOr<std::vector<TimedSchedule>> Run() {
    EMBER_ASSIGN_OR_RETURN(const tune::Space space,
                           tune::Space::Make(task_, {}));
    EMBER_RETURN_IF_ERROR(Enter(space.start()));
    const double start = contestants_.front().result.seconds;
    if (start < options_.least_seconds || start > options_.most_seconds)
      return FailedPreconditionError(
          "the default kernel is too fast or too slow");
    tune::Random random(options_.seed);
    std::set<uint64_t> seen = {space.start().hash};
    const auto wanted = static_cast<size_t>(options_.schedules);
    for (int64_t i = 0;
         i < 3 * options_.schedules && contestants_.size() < wanted; ++i) {
      // About a third of the schedules are neighbours of the default one,
      // because most of those are fast; the others are random.
      std::optional<tune::Candidate> candidate =
          random.Chance(0.35) ? space.Mutate(space.start().point, random)
                              : space.Sample(random);
      if (!candidate || !seen.insert(candidate->hash).second) continue;
      (void)Enter(*candidate);
    }
    for (int64_t round = 0; round < options_.rounds; ++round) {
      for (Contestant& contestant : contestants_) Measure(contestant);
    }
    std::vector<TimedSchedule> results;
    for (Contestant& contestant : contestants_)
      results.push_back(std::move(contestant.result));
    return results;
  }

 private:
  // Compiles the candidate, measures its time for the first time, and adds it
  // to `contestants_`.
  Status Enter(const tune::Candidate& candidate) {
    Contestant entered;
    entered.result.origin = candidate.point.origin;
    jit::CpuModel cpu = jit::CpuModel::Of(task_.request.target);
    cpu.cores = 1;
    entered.result.features =
        tune::NestFeatures(candidate.nest, task_.request.parameters, cpu);
    EMBER_ASSIGN_OR_RETURN(std::unique_ptr<jit::CompiledNest> code,
                           jit::BackendFor(task_.request.target)
                               .compile(task_.request, candidate.nest,
                                        {.compiler = compiler_}, nullptr));
    vm::KernelImage image =
        jit::ImageOf(task_.request, candidate.nest, 1, code->code);
    EMBER_ASSIGN_OR_RETURN(
        entered.kernel,
        vm::CpuKernel::Create(jit::DefineKernel(
            std::move(image), std::move(code), task_.request.constant_data,
            candidate.point.origin)));
    EMBER_RETURN_IF_ERROR(Call(*entered.kernel));
    double& seconds = entered.result.seconds;
    seconds = SecondsOf(entered);
    const bool is_hopeless =
        !contestants_.empty() &&
        seconds > options_.hopeless * contestants_.front().result.seconds;
    constexpr double kSecondsOfMeasurement = 60e-6;
    entered.calls =
        static_cast<int64_t>(std::ceil(kSecondsOfMeasurement / seconds));
    // A time of one call of a short kernel is mostly that of the clock, so the
    // kernel is measured again over several calls.
    if (entered.calls > 1) seconds = SecondsOf(entered);
    if (is_hopeless) entered.calls = 0;
    contestants_.push_back(std::move(entered));
    return OkStatus();
  }

  Status Call(const vm::CpuKernel& kernel) {
    return kernel.Run({.parameters = task_.request.parameters,
                       .buffers = buffers_,
                       .runner = runner_});
  }

  double SecondsOf(const Contestant& contestant) {
    const int64_t begin = clock_();
    for (int64_t i = 0; i < contestant.calls; ++i)
      (void)Call(*contestant.kernel);
    return 1e-9 * static_cast<double>(clock_() - begin) /
           static_cast<double>(contestant.calls);
  }

  void Measure(Contestant& contestant) {
    if (contestant.calls == 0) return;
    // The call before the measured ones brings the operands into the caches.
    (void)Call(*contestant.kernel);
    contestant.result.seconds =
        std::min(contestant.result.seconds, SecondsOf(contestant));
  }

  const tune::Task& task_;
  const std::span<void* const> buffers_;
  jit::Compiler& compiler_;
  const TimingOptions options_;
  const tools::Clock clock_ = tools::ThreadClock();
  SerialRunner runner_;
  std::vector<Contestant> contestants_;
};

}  // namespace

StatusOr<std::vector<TimedSchedule>> TimeSchedules(
    const tune::Task& task, std::span<void* const> buffers,
    jit::Compiler& compiler, const TimingOptions& options) {
  return Contest(task, buffers, compiler, options).Run();
}

}  // namespace ember::tests

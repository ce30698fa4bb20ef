#include <vector>

#include "tests/cases/executor_runs.h"
#include "tests/nests/nest_runner.h"

namespace ember::cases {
namespace {

using nests::NestRunner;

std::string NothingMissing() { return ""; }
bool Keeps() { return true; }

// Runs the subject's loop nest. For a dispatch without a schedule, the nest is
// made by the back end's default schedule.
Outcome RunNest(const NestRunner& runner, const Subject& subject,
                const Run& run, std::vector<Bytes>& buffers) {
  if (runner.is_device && run.has_races)
    return Outcome::Declined("races: order counts");
  if (runner.is_device && !subject.is_verified)
    return Outcome::Declined("unverified: no proof");
  const auto nest = subject.Nest(runner.schedule);
  if (!nest.ok()) return Outcome::Of(nest.status());
  return Outcome::Of(runner.run(*nest, run.parameters, buffers));
}

Executor BackEnd(const NestRunner& runner) {
  return {.name = runner.name,
          .doc = runner.doc,
          .runs_nests = true,
          .may_decline = runner.is_device,
          .has_same_messages = !runner.is_device,
          .zeros_are_equal = runner.is_device,
          .missing = runner.missing,
          .keeps_subnormals =
              [&runner] { return runner.keeps_subnormals(DType::kF32); },
          .run =
              [&runner](const Subject& subject, const Run& run,
                        std::vector<Bytes>& buffers) {
                return RunNest(runner, subject, run, buffers);
              },
          .figures = runner.figures};
}

}  // namespace

std::span<const Executor> Executors() {
  static const std::vector<Executor>& all = *[] {
    auto* const executors = new std::vector<Executor>{
        {.name = "tier0",
         .doc = "the VM's interpreter, with one worker and with three",
         .runs_dispatches = true,
         .zeros_are_equal = true,
         .missing = NothingMissing,
         .keeps_subnormals = Keeps,
         .run = RunTierZero},
        {.name = "nest-evaluator",
         .doc = "the evaluator of loop nests, forwards and backwards, "
                "parameters open and as constants",
         .runs_nests = true,
         .zeros_are_equal = true,
         .missing = NothingMissing,
         .keeps_subnormals = Keeps,
         .run = RunNestEvaluator},
    };
    for (const NestRunner& runner : nests::NestRunners())
      executors->push_back(BackEnd(runner));
    return executors;
  }();
  return all;
}

}  // namespace ember::cases

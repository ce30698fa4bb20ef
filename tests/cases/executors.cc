#include <cstdlib>
#include <vector>

#include "base/hash.h"
#include "jit/loops/text/text.h"
#include "tests/cases/executor_runs.h"
#include "tests/nests/nest_back_end.h"

namespace ember::cases {
namespace {

using nests::NestBackEnd;

std::string NothingMissing() { return ""; }
bool Keeps() { return true; }

// True if the back end runs the nest in this run of the tests, of which back
// ends with a slow compiler have a share (NestBackEnd::case_share).
bool IsInShare(const NestBackEnd& back_end, const loops::LoopNest& nest) {
  if (back_end.case_share == 1 ||
      std::getenv("EMBER_TEST_ALL_CASES") != nullptr)
    return true;
  return HashString(loops::ToText(nest)) % back_end.case_share == 0;
}

// Runs the subject's loop nest. For a dispatch without a schedule, the nest is
// made by the back end's default schedule.
Outcome RunNest(const NestBackEnd& back_end, const Subject& subject,
                const Run& run, std::vector<Bytes>& buffers) {
  if (back_end.is_device && run.has_races)
    return Outcome::Declined("races: order counts");
  if (back_end.is_device && !subject.is_verified)
    return Outcome::Declined("unverified: no proof");
  const auto nest = subject.Nest(back_end.schedule);
  if (!nest.ok()) return Outcome::Of(nest.status());
  if (!IsInShare(back_end, *nest))
    return Outcome::Declined("share: EMBER_TEST_ALL_CASES=1 runs it");
  return Outcome::Of(back_end.run(*nest, run.parameters, buffers));
}

Executor BackEnd(const NestBackEnd& back_end) {
  return {.name = back_end.name,
          .doc = back_end.doc,
          .runs_nests = true,
          .may_decline = back_end.is_device,
          .has_same_messages = !back_end.is_device,
          .zeros_are_equal = back_end.is_device,
          .missing = back_end.missing,
          .keeps_subnormals =
              [&back_end] { return back_end.keeps_subnormals(DType::kF32); },
          .run =
              [&back_end](const Subject& subject, const Run& run,
                          std::vector<Bytes>& buffers) {
                return RunNest(back_end, subject, run, buffers);
              },
          .figures = back_end.figures};
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
    for (const NestBackEnd& back_end : nests::NestBackEnds())
      executors->push_back(BackEnd(back_end));
    return executors;
  }();
  return all;
}

}  // namespace ember::cases

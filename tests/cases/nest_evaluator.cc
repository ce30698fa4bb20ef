#include <string>

#include "base/concat.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "tensor/testing/random_values.h"
#include "tests/cases/executor_runs.h"

namespace ember::cases {
namespace {

Status Evaluate(const loops::LoopNest& nest,
                const std::vector<int64_t>& parameters, bool is_backwards,
                std::vector<Bytes>& buffers) {
  const Status status =
      loops::Evaluate(nest, parameters, tensor::Pointers(buffers),
                      {.seed = is_backwards ? uint64_t{7} : uint64_t{3},
                       .backwards = is_backwards,
                       .refuse_races = true});
  if (status.code() != StatusCode::kInternal) return status;
  return InternalError(
      Concat({status.message(), " in\n", loops::ToText(nest)}));
}

}  // namespace

Outcome RunNestEvaluator(const Subject& subject, const Run& run,
                         std::vector<Bytes>& buffers) {
  if (run.has_races) return Outcome::Declined("races: order counts");
  const std::vector<Bytes> before = buffers;
  const bool is_open = subject.dispatch && !run.parameters.empty();
  for (const bool is_specialised : {false, true}) {
    if (is_specialised && !is_open) break;
    const auto nest = subject.Nest(
        nullptr, is_specialised ? run.parameters : std::vector<int64_t>());
    if (!nest.ok()) return Outcome::Of(nest.status());
    const std::vector<int64_t> parameters =
        is_specialised ? std::vector<int64_t>() : run.parameters;
    for (const bool is_backwards : {false, true}) {
      const bool is_first = !is_specialised && !is_backwards;
      std::vector<Bytes> others = before;
      const Status status = Evaluate(*nest, parameters, is_backwards, others);
      if (is_first) buffers = others;
      if (!status.ok()) return Outcome::Ran(status);
      if (others != buffers) {
        return Outcome::Ran(InternalError(
            Concat({is_specialised ? "parameters as constants" : "",
                    is_backwards ? "tasks from the last to the first" : "",
                    " give other results: ", loops::ToText(*nest)})));
      }
    }
  }
  return Outcome::Ran(OkStatus());
}

}  // namespace ember::cases

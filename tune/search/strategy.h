// A strategy of the search proposes candidates of a task for the next trials.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<Strategy> strategy,
//                          NewStrategy("draft"));
//   std::vector<Candidate> next = strategy->Propose(state, scorer, 8, random);
//
//   draft      many candidates are drawn, the analytic model keeps some, the
//              learned model ranks these, and the best are measured (Pruner:
//              Qiao and others, ASPLOS 2025)
//   evolution  generations of mutations and crossings of the fastest schedules,
//              ranked by the model (Ansor: Zheng and others, OSDI 2020)
//   annealing  chains of mutations, accepted by the model's score
//              (FlexTensor: Zheng and others, ASPLOS 2020; AutoTVM)
//   grid       the default schedule with all values of its numbers, in order
//              (AutoTVM's grid: Chen and others, NeurIPS 2018)
//   random     samples of the space: the control
//
// A strategy may keep state of a task between calls. Not thread-safe.
#ifndef EMBER_TUNE_SEARCH_STRATEGY_H_
#define EMBER_TUNE_SEARCH_STRATEGY_H_

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tune/search/scorer.h"
#include "tune/search/task_state.h"
#include "tune/space/random.h"
#include "tune/space/space.h"

namespace ember::tune {

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Returns up to `count` different candidates of the task that were not
  // proposed before. The list is shorter, or empty, if no further candidates
  // exist or are found.
  virtual std::vector<Candidate> Propose(const TaskState& state,
                                         const Scorer& scorer, size_t count,
                                         Random& random) = 0;
};

// Returns the names of all strategies, the default one first.
std::vector<std::string_view> StrategyNames();

// Makes a strategy for the search of one task. An unknown name is
// kInvalidArgument; the message lists the known names.
StatusOr<std::unique_ptr<Strategy>> NewStrategy(std::string_view name);

}  // namespace ember::tune

#endif  // EMBER_TUNE_SEARCH_STRATEGY_H_

// The subject of a case: a dispatch with a schedule, or a loop nest.
//
//   EMBER_ASSIGN_OR_RETURN(Subject subject, Subject::OfDispatch(text, ""));
//   EMBER_ASSIGN_OR_RETURN(std::vector<Buffer> buffers,
//                          subject.Buffers(parameters));
//   EMBER_ASSIGN_OR_RETURN(loops::LoopNest nest, subject.Nest({}));
//
// Plain values. Thread-compatible.
#ifndef EMBER_TESTS_CASES_SUBJECT_H_
#define EMBER_TESTS_CASES_SUBJECT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/schedule.h"
#include "tensor/dispatch.h"

namespace ember::cases {

// An input or output of the subject, for one choice of parameters.
struct Argument {
  std::string name;
  DType type = DType::kF32;
  bool is_output = false;
  int64_t elements = 0;
};

// A function of this type applies a schedule to a dispatch for which the case
// gives none.
using Scheduler = std::function<Status(schedule::Schedule&)>;

struct Subject {
  // Exactly one of the dispatch and the nest is set.
  std::optional<tensor::Dispatch> dispatch;
  std::optional<loops::LoopNest> nest;

  // True if the verifier has accepted the nest. The field is not used for a
  // dispatch.
  bool is_verified = true;

  // The following fields apply to a dispatch only.
  std::vector<std::string> constants;  // names of inputs that never change
  // The lines of the schedule, if the case gives one.
  std::optional<std::string> schedule;

  // Makes the subject of a dispatch. `facts` is "constant %w %b" for inputs
  // that never change.
  static StatusOr<Subject> OfDispatch(std::string_view text,
                                      std::string_view facts);
  // Makes the subject of a nest. `facts` is "unverified" for a nest that is
  // correct although the verifier cannot prove it; otherwise the nest must
  // verify.
  static StatusOr<Subject> OfNest(std::string_view text,
                                  std::string_view facts = "");

  std::string_view name() const;
  const std::vector<std::string>& parameters() const;
  StatusOr<std::vector<Argument>> Arguments(
      const std::vector<int64_t>& parameters) const;

  // Returns the dispatch in the form to which schedules apply. The parameters
  // have the values `specialised`, as constants.
  schedule::Computation Computation(
      const std::vector<int64_t>& specialised) const;
  // Returns the case's schedule. If the case gives none, axes are collapsed and
  // dims split as for every kernel, and then `by_default` chooses the schedule.
  // If `by_default` is null, the dispatch is not scheduled.
  StatusOr<schedule::Schedule> Scheduled(
      const Scheduler& by_default,
      const std::vector<int64_t>& specialised = {}) const;
  // Returns the nest of the scheduled dispatch, or the case's own nest.
  // kUnimplemented if its accesses cannot be proved in bounds.
  StatusOr<loops::LoopNest> Nest(
      const Scheduler& by_default,
      const std::vector<int64_t>& specialised = {}) const;
};

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_SUBJECT_H_

// What a case is about: a dispatch with a schedule, or a loop nest.
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

// An input or output.
struct Argument {
  std::string name;
  DType type = DType::kF32;
  bool is_output = false;
  int64_t elements = 0;
};

// How a schedule is chosen where a case does not give one.
using Scheduler = std::function<Status(schedule::Schedule&)>;

struct Subject {
  // One of them.
  std::optional<tensor::Dispatch> dispatch;
  std::optional<loops::LoopNest> nest;

  // Of a nest.
  bool is_verified = true;

  // Of a dispatch.
  std::vector<std::string> constants;   // inputs that never change
  std::optional<std::string> schedule;  // lines

  // facts: "constant %w %b", for inputs that never change.
  static StatusOr<Subject> OfDispatch(std::string_view text,
                                      std::string_view facts);
  // facts: "unverified" for a nest that the verifier does not prove right, but
  // is: code generation does not ask.
  static StatusOr<Subject> OfNest(std::string_view text,
                                  std::string_view facts = "");

  std::string_view name() const;
  const std::vector<std::string>& parameters() const;
  StatusOr<std::vector<Argument>> Arguments(
      const std::vector<int64_t>& parameters) const;

  // The dispatch taken apart; specialised: parameters as constants.
  schedule::Computation Computation(
      const std::vector<int64_t>& specialised) const;
  // The case's schedule; by_default's where it gives none, after axes were
  // collapsed and dims split as for every kernel; the dispatch as it is written
  // where by_default is null.
  StatusOr<schedule::Schedule> Scheduled(
      const Scheduler& by_default,
      const std::vector<int64_t>& specialised = {}) const;
  // The nest of that, or the case's own. kUnimplemented where no access can be
  // proved in bounds.
  StatusOr<loops::LoopNest> Nest(
      const Scheduler& by_default,
      const std::vector<int64_t>& specialised = {}) const;
};

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_SUBJECT_H_

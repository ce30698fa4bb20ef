// A section `after` of a case: the text that a pass of the JIT's pipeline
// leaves.
//
//   TextAfterPass(subject, {"own-tiles"})
//   TextAfterPass(subject, {"legalise", "for", "vulkan1.3+subgroup32"})
//   TextAfterPass(subject, {"schedule", "without", "normalise"})
//
// A dispatch goes through all passes up to this one, with the case's schedule
// or the target's default one. A nest goes through this pass alone, or, if the
// pass is one that makes code, through those.
//
// Thread-safe.
#ifndef EMBER_TESTS_CASES_PASS_SECTION_H_
#define EMBER_TESTS_CASES_PASS_SECTION_H_

#include <span>
#include <string>

#include "base/status.h"
#include "tests/cases/subject.h"

namespace ember::cases {

// Returns the text after the pass that the words name; for a pass that declines
// the subject, or that an earlier pass does not let see it, the error. words:
// the pass, `for` and a target (c11 if there is none), `without` and a pass to
// leave out. Errors: kInvalidArgument for words that make no sense, and for a
// text of a nest for a target that does not parse back.
StatusOr<std::string> TextAfterPass(const Subject& subject,
                                    std::span<const std::string> words);

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_PASS_SECTION_H_

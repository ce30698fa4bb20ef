// Runs the passes that make a device nest (jit/gpu/device_passes.h) up to one
// of them, for the sections "pass" of cases.
//
//   EMBER_ASSIGN_OR_RETURN(std::string text,
//                          NestAfterPass(nest, "place_buffers", "sm_80"));
//
// Thread-safe.
#ifndef EMBER_TESTS_CASES_NEST_AFTER_PASS_H_
#define EMBER_TESTS_CASES_NEST_AFTER_PASS_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::cases {

// Returns the text of the nest after the pass, which must verify. The nest is
// not legalised. Errors: the reason of a pass to decline; kInvalidArgument for
// a pass or a kind of target that does not exist, and for a nest that does not
// verify or whose text does not parse back.
StatusOr<std::string> NestAfterPass(const loops::LoopNest& nest,
                                    std::string_view pass,
                                    std::string_view target);

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_NEST_AFTER_PASS_H_

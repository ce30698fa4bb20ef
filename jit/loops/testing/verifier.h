// Helps tests of the verifier: returns its error for a nest, or for the body of
// a phase in a nest with a few buffers.
//
//   EXPECT_EQ(BodyError("%s[t + 16] = 0"), "store to %s: index 0: ...");
#ifndef EMBER_JIT_LOOPS_TESTING_VERIFIER_H_
#define EMBER_JIT_LOOPS_TESTING_VERIFIER_H_

#include <string>
#include <string_view>

#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Returns the message of Verify; empty if the nest is right.
std::string ErrorOf(const LoopNest& nest);
std::string ErrorOf(const std::string& text);

// Returns a nest with a few buffers and one phase of 4 tasks `t`, whose body is
// the given text.
std::string WithBody(const std::string& body);

// Returns the error without its context, such as "loops @name: phase 0: ".
std::string WithoutContext(std::string error,
                           std::string_view context = "loops @t: phase 0: ");
// Returns the verifier's error for WithBody(body), without the context; empty
// if there is none.
std::string BodyError(const std::string& body);
void ExpectNoProof(const std::string& body);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TESTING_VERIFIER_H_

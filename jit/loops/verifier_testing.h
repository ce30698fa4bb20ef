// What tests of the verifier have in common: errors of nests, and of bodies in
// a nest with some buffers.
//
//   EXPECT_EQ(BodyError("%s[t + 16] = 0"), "store to %s: index 0: ...");
#ifndef EMBER_JIT_LOOPS_VERIFIER_TESTING_H_
#define EMBER_JIT_LOOPS_VERIFIER_TESTING_H_

#include <string>
#include <string_view>

#include "jit/loops/loop_nest.h"

namespace ember::loops {

// What Verify says; empty if the nest is right.
std::string ErrorOf(const LoopNest& nest);
std::string ErrorOf(const std::string& text);

// Some buffers, then the statements of one phase of 4 tasks t.
std::string WithBody(const std::string& body);

// The error without its context.
std::string WithoutContext(std::string error,
                           std::string_view context = "loops @t: phase 0: ");
// Of WithBody, without the context.
std::string BodyError(const std::string& body);
void ExpectNoProof(const std::string& body);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_VERIFIER_TESTING_H_

// Runs functions of this process that nests were compiled to, in memory whose
// bounds are guarded. The back ends of machine code share it.
//
//   const HostCode codes[] = {{.how = "fast code", .code = fast.get()}};
//   return RunHostCode(nest, codes, parameters, buffers);
#ifndef EMBER_TESTS_NESTS_HOST_CODE_H_
#define EMBER_TESTS_NESTS_HOST_CODE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "jit/backend/object_compiler.h"
#include "jit/loops/loop_nest.h"
#include "tests/nests/nest_back_end.h"

namespace ember::nests {

struct HostCode {
  // Text for messages that says how the code was compiled, such as "fast code".
  std::string how;
  const jit::CompiledNest* code = nullptr;
  std::string_view text;  // The code itself as text, for messages.
};

// Runs each of the codes as NestBackEnd::run does, at the beginning and at the
// end of guarded memory. All must give the same results; kInternal names one
// that does not.
Status RunHostCode(const loops::LoopNest& nest, std::span<const HostCode> codes,
                   const std::vector<int64_t>& parameters, Contents& buffers);

}  // namespace ember::nests

#endif  // EMBER_TESTS_NESTS_HOST_CODE_H_

// Functions of this process that nests were compiled to, run in memory that
// cannot be left: what runners of machine code have in common.
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
#include "tests/nests/nest_runner.h"

namespace ember::nests {

struct HostCode {
  std::string how;  // "fast code"
  const jit::CompiledNest* code = nullptr;
  std::string_view text;  // for messages
};

// NestRunner::run, by each of the codes, at the beginning and at the end of
// memory. All have to give the same; kInternal says which does not.
Status RunHostCode(const loops::LoopNest& nest, std::span<const HostCode> codes,
                   const std::vector<int64_t>& parameters, Contents& buffers);

}  // namespace ember::nests

#endif  // EMBER_TESTS_NESTS_HOST_CODE_H_

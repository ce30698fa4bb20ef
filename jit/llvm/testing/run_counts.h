// Counts how many kernels of a test were run, wrong or refused. The test's last
// line prints them:
//
//   armv7-neon: Nests, seeds 0..5: 24 kernels run, 0 wrong; refused: 2 (2
//   float-remainder)
#ifndef EMBER_JIT_LLVM_TESTING_RUN_COUNTS_H_
#define EMBER_JIT_LLVM_TESTING_RUN_COUNTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace ember::jit::llvm_ir {

struct RunCounts {
  int64_t run = 0;
  int64_t wrong = 0;
  // number of refused kernels for each reason; key: the reason
  std::map<std::string, int64_t> refused;

  // Counts a refused kernel under the reason (a row of
  // jit/backend/decline_reasons.h) that the message contains, or under "not
  // lowered".
  void Refuse(std::string_view message);
  int64_t all_refused() const;
  // Prints one line with the counts. `where`: the processor, such as
  // "armv7-neon", or another executor. `what`: the test and its seeds.
  void Print(std::string_view where, std::string_view what) const;
};

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_TESTING_RUN_COUNTS_H_

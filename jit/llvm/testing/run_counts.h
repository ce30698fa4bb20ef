// Counts the outcomes of the kernels that a test made for a processor. The
// test's last line prints them:
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
  // number of refused kernels; key: the reason
  std::map<std::string, int64_t> refused;

  // Counts a refused kernel under the row of jit/backend/decline_reasons.h that
  // the message contains, or under "not lowered".
  void Refuse(std::string_view message);
  int64_t all_refused() const;
  // Prints the line with the counts. `where`: "armv7-neon", or another name of
  // the executor.
  void Print(std::string_view where, std::string_view what) const;
};

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_TESTING_RUN_COUNTS_H_

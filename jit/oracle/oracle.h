// The live oracle: judges if the first call of a kernel, on a user's own
// operands, gave the results that the dispatch defines.
//
//   auto oracle = std::make_shared<Oracle>(OracleOptions{});
//   JitOptions options{.oracle = oracle};   // or KernelProvider::judge
//
// It compares all elements with those of tier 0. Elements that differ by more
// than rounding usually explains are suspects (suspects.h). Some suspects are
// computed once more in interval arithmetic (tensor/analysis/element_bounds.h):
// the intervals contain every result that an executor may round to, and sums
// widen them by their error bound. So sums that cancel, and steps that rounding
// decides, do not cause a withdrawal, but differences that rounding cannot
// explain do. Cost: about that of reading all results, plus most_steps if there
// are suspects.
//
// Thread-safe. Links no LLVM.
#ifndef EMBER_JIT_ORACLE_ORACLE_H_
#define EMBER_JIT_ORACLE_ORACLE_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "vm/runtime/kernel_judge.h"

namespace ember::jit {

struct OracleOptions {
  // Called for each wrong kernel, with the difference that was found, before
  // the kernel is withdrawn. Returns a text that says where the user can read
  // more, or an empty text. Several threads may call it at once.
  std::function<std::string(const vm::ComparedCall& call,
                            const std::string& difference)>
      report;
  // Limit on the work of computing intervals in each compared call:
  // BoundsOptions::most_steps (tensor/analysis/element_bounds.h).
  int64_t most_steps = int64_t{1} << 20;
};

struct OracleTotals {
  int64_t calls = 0;  // number of calls that were compared
  int64_t wrong = 0;  // number of kernels that were withdrawn
  // Number of calls in which some elements differed from tier 0's by more than
  // rounding usually explains (suspects), but the kernel was judged right.
  int64_t suspects = 0;
  // Number of calls, among those in `suspects`, in which some elements could
  // not be judged by intervals.
  int64_t untold = 0;
};

class Oracle final : public vm::KernelJudge {
 public:
  explicit Oracle(OracleOptions options) : options_(std::move(options)) {}

  vm::KernelVerdict Judge(const vm::ComparedCall& call) override;
  bool StoresAll(const tensor::Dispatch& dispatch,
                 std::span<const int64_t> parameters, size_t output) override;
  OracleTotals totals() const;

 private:
  const OracleOptions options_;
  mutable std::mutex mutex_;  // guards totals_
  OracleTotals totals_;
};

// The result of Compare() for one call. `difference` is empty if the results
// are right; otherwise it is one line about the first wrong result.
struct Finding {
  std::string difference;
  bool has_suspects = false;
  bool tells_little = false;  // as KernelVerdict::tells_little
  bool is_untold = false;
};
Finding Compare(const vm::ComparedCall& call, int64_t most_steps);

}  // namespace ember::jit

#endif  // EMBER_JIT_ORACLE_ORACLE_H_

// The live oracle: says whether the first call of a kernel, on a user's own
// operands, gave what the dispatch means.
//
//   auto oracle = std::make_shared<Oracle>(OracleOptions{});
//   JitOptions options{.oracle = oracle};   // or KernelProvider::judge
//
// All elements are compared with tier 0's. Those that differ by more than
// rounding usually makes them are suspects (suspects.h); of these some are
// computed once more, in intervals that hold whatever an executor may round to
// (tensor/element_bounds.h), with the error bound of sums as their width. So
// sums that cancel, and steps that rounding decides, withdraw nobody, and what
// rounding cannot explain does. Cost: about that of reading all results, and
// most_steps where there are suspects.
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
  // Told of each kernel that is wrong, and why, before it is withdrawn; gives
  // where to read on, or nothing. May be called by several threads at once.
  std::function<std::string(const vm::ComparedCall& call,
                            const std::string& difference)>
      report;
  // Of tensor::BoundsOptions, for each call.
  int64_t most_steps = int64_t{1} << 20;
};

struct OracleTotals {
  int64_t calls = 0;     // that were compared
  int64_t wrong = 0;     // kernels that were withdrawn
  int64_t suspects = 0;  // calls of right kernels with elements that were
                         // computed once more
  int64_t untold = 0;    // of those, with some that could not be
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

// What a check finds in one call, as Oracle::Judge: empty, or one line about
// the first result that is wrong.
struct Finding {
  std::string difference;
  bool has_suspects = false;
  bool tells_little = false;  // KernelVerdict
  bool is_untold = false;
};
Finding Compare(const vm::ComparedCall& call, int64_t most_steps);

}  // namespace ember::jit

#endif  // EMBER_JIT_ORACLE_ORACLE_H_

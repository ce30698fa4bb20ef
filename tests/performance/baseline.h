// What a machine's models took once: what they take now is compared with that,
// on the same machine. A file of it, which people may read:
//
//   ember speeds 1
//   machine AMD EPYC 9554 64-Core Processor, x86_64-linux+avx2+fma
//   gemm_chain 0.98 at 98a9943
//
//   EMBER_ASSIGN_OR_RETURN(Baseline baseline, Baseline::Parse(text));
//   if (baseline.machine == ThisMachine() && baseline.Find("gemm_chain")) ...
#ifndef EMBER_TESTS_PERFORMANCE_BASELINE_H_
#define EMBER_TESTS_PERFORMANCE_BASELINE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::tests {

struct Baseline {
  struct Row {
    std::string model;
    double speed = 0;     // Speed::relative (measure.h)
    std::string version;  // of Ember, that had it; no spaces
  };

  std::string machine;
  std::vector<Row> rows;

  // Null: it has none.
  const Row* Find(std::string_view model) const;
  // In place of what it had.
  void Set(Row row);

  std::string Print() const;
  // InvalidArgument, with the line.
  static StatusOr<Baseline> Parse(std::string_view text);
};

// The processor's name, and what the kernels are compiled for.
std::string ThisMachine();

// A model is as fast as it was with this part of the speed. Where others use
// the processor's caches, models were seen at 0.57 for up to a second while the
// reference was as fast as ever: who finds less measures again, for longer.
constexpr double kLeastPart = 0.7;

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_BASELINE_H_

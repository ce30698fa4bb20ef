// The speeds that models had on a machine, to compare later speeds on the same
// machine with. A file of them, which people can read:
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
    double speed = 0;  // see Speed::relative (measure.h)
    // Version of Ember with which this speed was measured. It contains no
    // spaces.
    std::string version;
  };

  std::string machine;
  std::vector<Row> rows;

  // Returns the row with the model's speed; null if there is none.
  const Row* Find(std::string_view model) const;
  // Adds a row, or replaces the row of the same model.
  void Set(Row row);

  std::string Print() const;
  // Parses a file of speeds. kInvalidArgument names the line.
  static StatusOr<Baseline> Parse(std::string_view text);
};

// Returns a text that identifies this machine: its processor's name and the
// target of its kernels.
std::string ThisMachine();

// A model counts as fast as before if it has at least this share of its former
// relative speed. While other programs use the processor's caches, models were
// seen at a share of 0.57 for up to a second, although the reference kept its
// speed. So a slower model is measured again, for longer.
constexpr double kLeastPart = 0.7;

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_BASELINE_H_

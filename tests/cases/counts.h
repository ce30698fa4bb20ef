// Counts what cases checked and which executors ran them. They are printed at
// the end of each run, so that gaps are visible. Plain values.
#ifndef EMBER_TESTS_CASES_COUNTS_H_
#define EMBER_TESTS_CASES_COUNTS_H_

#include <cstdint>
#include <map>
#include <string>

namespace ember::cases {

struct Counts {
  struct OfExecutor {
    int64_t runs = 0;
    // For each reason, the number of runs that the executor declined.
    std::map<std::string, int64_t> declined;
  };
  int64_t files = 0;
  // Number of subjects that ran. Each instance of a template counts as one.
  int64_t subjects = 0;
  // For each keyword, the number of expectations that were checked.
  std::map<std::string, int64_t> expectations;
  std::map<std::string, OfExecutor> executors;
  // For each executor that this machine lacks, the reason.
  std::map<std::string, std::string> missing;

  // Returns a line for the expectations, and one for each executor.
  std::string ToText() const;
};

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_COUNTS_H_

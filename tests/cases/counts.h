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
    // number of declined runs by reason
    std::map<std::string, int64_t> declined;
  };
  int64_t files = 0;
  // number of subjects; each instance of a template counts
  int64_t subjects = 0;
  // number of expectations by keyword
  std::map<std::string, int64_t> expectations;
  std::map<std::string, OfExecutor> executors;
  // Reasons why executors are missing, by executor.
  std::map<std::string, std::string> missing;

  // Returns a line for the expectations, and one for each executor.
  std::string ToText() const;
};

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_COUNTS_H_

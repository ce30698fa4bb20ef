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
    std::map<std::string, int64_t> declined;  // by reason
  };
  int64_t files = 0;
  int64_t subjects = 0;  // each instance of a template counts
  std::map<std::string, int64_t> expectations;  // by keyword
  std::map<std::string, OfExecutor> executors;
  // Reasons why executors are missing.
  std::map<std::string, std::string> missing;

  // A line for the expectations, and one for each executor.
  std::string ToText() const;
};

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_COUNTS_H_

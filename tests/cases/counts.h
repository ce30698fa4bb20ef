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
    // Number of runs that the executor declined or that the case left out for
    // it, by the reason.
    std::map<std::string, int64_t> declined;
  };
  int64_t files = 0;
  // Number of subjects (dispatches and loop nests) that ran. A template counts
  // once for each choice of its values.
  int64_t subjects = 0;
  // Number of expectations that were checked, by the keyword of their section.
  std::map<std::string, int64_t> expectations;
  std::map<std::string, OfExecutor> executors;
  // The executors that cannot run on this machine, with the reason.
  std::map<std::string, std::string> missing;

  // Returns a summary: one line about the expectations, and one about each
  // executor.
  std::string ToText() const;
};

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_COUNTS_H_

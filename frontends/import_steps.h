// Reports an import to ImportOptions::progress: each operator, before it is
// imported.
//
//   ImportSteps steps(options.progress);
//   steps.Expect(nodes.size());
//   for (const Node& node : nodes) {
//     EMBER_RETURN_IF_ERROR(steps.Begin(node.op));   // kCancelled: stop here
//     …
//
// More operators may begin than were expected, as calls of functions and
// iterations of loops count too: the total grows with them. Does not own the
// progress.
#ifndef EMBER_FRONTENDS_IMPORT_STEPS_H_
#define EMBER_FRONTENDS_IMPORT_STEPS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/progress.h"
#include "base/status.h"

namespace ember::frontends {

class ImportSteps {
 public:
  // Makes the steps of one import. `progress` may be null; nothing is then
  // reported.
  explicit ImportSteps(Progress* progress) : progress_(progress) {}

  // Adds to the number of operators that are expected to be imported.
  void Expect(size_t operators) {
    expected_ += static_cast<int64_t>(operators);
  }

  // Call this when an import starts again: operators that were expected but
  // have not begun no longer count.
  void StartOver() { expected_ = begun_; }

  Status Begin(std::string_view name) {
    const int64_t done = begun_++;
    return ReportStep(progress_,
                      {"import", name, done, std::max(expected_, begun_)});
  }

  int64_t begun() const { return begun_; }

 private:
  Progress* progress_;
  int64_t expected_ = 0;
  int64_t begun_ = 0;
};

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_IMPORT_STEPS_H_

// Reports the progress of long work, such as importing a model, compiling it or
// making kernels for it, and lets its owner stop it.
//
//   class Bar : public Progress {
//     bool Report(const ProgressEvent& event) override {
//       Draw(event.stage, event.item, event.done, event.total);
//       return !was_stopped_;
//     }
//   };
//   Bar bar;
//   options.progress = &bar;
//   Compile(std::move(graph), options);   // kCancelled once Report said false
//
// The owner's Progress must outlive the work. The thread that does the work
// calls Report before each step (an operator of a model, a pass of the
// compiler, a kernel), so a stop takes effect at the next step. Work that was
// stopped leaves no output behind.
#ifndef EMBER_BASE_PROGRESS_H_
#define EMBER_BASE_PROGRESS_H_

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace ember {

struct ProgressEvent {
  // Kind of the work: "import", "compile" or "kernels".
  std::string_view stage;
  // Name of the operator, pass or dispatch whose work begins now. The text is
  // valid during the call of Report.
  std::string_view item;
  // `done`: number of finished steps of this kind of work. `total`: number of
  // all its steps as far as is known, which may grow; 0 if it is unknown.
  int64_t done = 0;
  int64_t total = 0;
};

class Progress {
 public:
  virtual ~Progress() = default;
  // Receives an event before each step. Returns false to stop the work.
  virtual bool Report(const ProgressEvent& event) = 0;
};

// Reports a step to `progress`, which may be null. Returns kCancelled if the
// work is to stop.
Status ReportStep(Progress* progress, const ProgressEvent& event);

}  // namespace ember

#endif  // EMBER_BASE_PROGRESS_H_

// What long work tells while it goes on, and how it is stopped: importing a
// model, compiling it, making kernels for it.
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
// The owner of the work gives a Progress, which must outlive it, and may stop
// it from the event that it is told. Work tells of each step before it begins,
// from the thread that does it, so a stop is seen at the next step: an operator
// of a model, a pass of the compiler, a kernel. What was stopped leaves nothing
// behind.
#ifndef EMBER_BASE_PROGRESS_H_
#define EMBER_BASE_PROGRESS_H_

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace ember {

struct ProgressEvent {
  // "import", "compile", "kernels".
  std::string_view stage;
  // What begins now: an operator, a pass, a dispatch. Valid during the call.
  std::string_view item;
  // Steps of the stage that are over, and how many there will be as far as is
  // known, which may grow; 0: not known.
  int64_t done = 0;
  int64_t total = 0;
};

class Progress {
 public:
  virtual ~Progress() = default;
  // False: stop.
  virtual bool Report(const ProgressEvent& event) = 0;
};

// Called by the work. progress: null if nobody wants to know. kCancelled where
// it is to stop.
Status ReportStep(Progress* progress, const ProgressEvent& event);

}  // namespace ember

#endif  // EMBER_BASE_PROGRESS_H_

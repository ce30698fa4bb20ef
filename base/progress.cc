#include "base/progress.h"

#include "base/concat.h"

namespace ember {

Status ReportStep(Progress* progress, const ProgressEvent& event) {
  if (progress == nullptr || progress->Report(event)) return OkStatus();
  return CancelledError(
      Concat({"stopped in ", event.stage, ", before ", event.item}));
}

}  // namespace ember

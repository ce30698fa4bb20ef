#include "vm/format/load_steps.h"

namespace ember::vm {

Status LoadSteps::Begin(std::string_view item) {
  return ReportStep(progress_, {"load", item, done_++, total_});
}

}  // namespace ember::vm

// The text that vm-run --record writes, which vm-prejit --profile reads.
//
//   WriteUserFile("model.profile", RecordedText(*session));
//
// The session must have been made with SessionOptions::profile and have run.
#ifndef EMBER_TOOLS_LIB_REPORT_RECORDED_TEXT_H_
#define EMBER_TOOLS_LIB_REPORT_RECORDED_TEXT_H_

#include <string>

#include "vm/runtime/session.h"

namespace ember::tools {

// Returns for each dispatch the times of all its sites together, by shape.
std::string RecordedText(const vm::Session& session);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_RECORDED_TEXT_H_

// Makes the text of a recorded profile, which vm-run --record writes and
// vm-prejit --profile reads.
//
//   WriteUserFile("model.profile", RecordedText(*session));
//
// The session must have been made with SessionOptions::profile and have run.
#ifndef EMBER_TOOLS_LIB_REPORT_RECORDED_TEXT_H_
#define EMBER_TOOLS_LIB_REPORT_RECORDED_TEXT_H_

#include <string>

#include "vm/runtime/session.h"

namespace ember::tools {

// Returns the profile: for each dispatch its times by shape, summed over all
// its sites.
std::string RecordedText(const vm::Session& session);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_RECORDED_TEXT_H_

// Makes the data of the page of vm-report: JSON that describes one session's
// module, its runs and its kernels.
//
//   nlohmann::json side = ReportData({.life = life, .session = *session, …});
//   std::string page = ReportPage({side});
//
// The page's script (report.js) documents how it uses each field.
#ifndef EMBER_TOOLS_LIB_REPORT_PAGE_REPORT_DATA_H_
#define EMBER_TOOLS_LIB_REPORT_PAGE_REPORT_DATA_H_

#include <cstdint>
#include <string>

#include "jit/target/peak.h"
#include "nlohmann/json.hpp"
#include "tools/lib/report/session_life.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/session.h"

namespace ember::tools {

// The largest numbers of bytes that compressed texts of dispatches take in the
// page. Those of the dispatches that took the most time come first.
struct TextBudget {
  size_t expressions_and_schedules = 1'500'000;
  size_t code = 1'200'000;
};

struct ReportInput {
  const SessionLife& life;
  const vm::Session& session;
  const vm::Tiering* tiering = nullptr;  // null at tier 0
  // Null if the limits of the device are not known.
  const jit::MachineLimits* limits = nullptr;
  std::string tier;    // --tier
  std::string device;  // --device
  int threads = 1;
  std::string kernels_text;  // JitText of tools/lib/models/tier.h
  TextBudget budget = {};
};

// The session must have run with SessionOptions::trace. Texts may have bytes
// that are not UTF-8.
nlohmann::json ReportData(const ReportInput& input);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_PAGE_REPORT_DATA_H_

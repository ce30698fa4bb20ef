// Makes the data of the page of vm-report: JSON that describes one session's
// module, its runs and its kernels.
//
//   nlohmann::json side = ReportData({.life = life, .session = *session, …});
//   std::string page = ReportPage({side});
//
// The page's scripts (page_*.js) show the fields.
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

// Largest size of a page's data in bytes, with which the whole page has 5 MB.
// Texts of dispatches are left out to keep it; only data that is larger even
// without texts exceeds it.
inline constexpr size_t kMaxPageData = 4'400'000;

struct ReportInput {
  const SessionLife& life;
  const vm::Session& session;
  const vm::Tiering* tiering = nullptr;  // the session's tiering; null at tier
                                         // 0
  // The machine's limits, for the roofline; null if they are not known for the
  // device.
  const jit::MachineLimits* limits = nullptr;
  std::string tier;    // --tier
  std::string device;  // --device
  int threads = 1;
  std::string kernels_text;  // result of JitText (tools/lib/models/tier.h)
  // Largest size of the data in bytes. Texts that do not fit are left out;
  // those of the dispatches that took the most time are kept first.
  size_t max_bytes = kMaxPageData;
};

// Returns the data. The session must have run with SessionOptions::trace. Texts
// may contain bytes that are not UTF-8.
nlohmann::json ReportData(const ReportInput& input);

// Removes texts from the data, first those of code, until the data are not
// larger than `max_bytes` or there are no more texts.
void LimitTexts(nlohmann::json& data, size_t max_bytes);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_PAGE_REPORT_DATA_H_

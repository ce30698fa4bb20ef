// Makes the page of vm-report from data of one session, or of two to compare:
// one HTML file with everything in it, which opens without network.
//
//   std::string page = ReportPage({ReportData(input)});
//   EMBER_ASSIGN_OR_RETURN(nlohmann::json before, DataOfPage(old_page));
//
// Names in the data may come from any model: no text can end the page's data,
// and the scripts show texts as text, not as HTML. The shell of the page
// (report.html, report.css, the scripts page_*.js and the libraries) is put
// together by Bazel.
#ifndef EMBER_TOOLS_LIB_REPORT_PAGE_REPORT_PAGE_H_
#define EMBER_TOOLS_LIB_REPORT_PAGE_REPORT_PAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "nlohmann/json.hpp"

namespace ember::tools {

// Makes the page. `sides` are the results of ReportData for one session, or for
// two to compare.
std::string ReportPage(std::vector<nlohmann::json> sides);

// True if the text looks like a page of vm-report.
bool IsReportPage(std::string_view text);
// Returns the data of the first side of a page of vm-report. The page may come
// from a stranger, so it is checked. Error: the text is no such page.
StatusOr<nlohmann::json> DataOfPage(std::string_view page);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_PAGE_REPORT_PAGE_H_

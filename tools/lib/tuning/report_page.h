// One HTML page about what the records have for tasks: for each dispatch the
// best ratio after each trial as a curve, the time before and after, what its
// trials came to and why some were refused, and how its schedule differs from
// the default one.
//
//   EMBER_ASSIGN_OR_RETURN(const std::string page, ReportPage(tasks, store));
//
// The page needs no other file and no network. Thread-compatible.
#ifndef EMBER_TOOLS_LIB_TUNING_REPORT_PAGE_H_
#define EMBER_TOOLS_LIB_TUNING_REPORT_PAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tune/records/record_store.h"
#include "tune/task/task.h"

namespace ember::tools {

StatusOr<std::string> ReportPage(const std::vector<tune::Task>& tasks,
                                 const tune::RecordStore& store);

// Returns the lines of both texts, in order, each after "  " if it is in both,
// "- " if only in `before`, "+ " if only in `after`.
std::string LineDifference(std::string_view before, std::string_view after);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TUNING_REPORT_PAGE_H_

// Makes one HTML page about the recorded trials of tasks. For each dispatch it
// shows the best ratio after each trial as a curve, the times before and after
// tuning, the outcomes of its trials with the reasons of failures, and how its
// schedule differs from the default one.
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

// Compares two texts line by line. Returns all lines in order, each after " "
// if it is in both texts, "- " if only in `before`, "+ " if only in `after`.
std::string LineDifference(std::string_view before, std::string_view after);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TUNING_REPORT_PAGE_H_

#include "tools/lib/report/page/report_page.h"

#include <utility>

#include "base/check.h"
#include "tools/lib/cli/json.h"
#include "tools/lib/report/page/page_shell.h"

namespace ember::tools {
namespace {

using nlohmann::json;

// The begin and the end of the HTML element that holds the data. The page's
// shell has nothing between them.
constexpr std::string_view kDataBegin =
    "<script id=\"report-data\" type=\"application/json\">";
constexpr std::string_view kDataEnd = "</script>";
// Version of the data's format. Pages of other versions are refused.
constexpr int kVersion = 1;

}  // namespace

std::string ReportPage(std::vector<json> sides) {
  const json data = {{"version", kVersion}, {"sides", std::move(sides)}};
  const std::string_view shell(reinterpret_cast<const char*>(kPageShellBytes),
                               kPageShellSize);
  const size_t place = shell.find(kDataBegin);
  EMBER_CHECK(place != std::string_view::npos) << "the page's shell is damaged";
  const size_t at = place + kDataBegin.size();
  // Writes JSON; bytes that are not UTF-8 become U+FFFD.
  return std::string(shell.substr(0, at)) +
         ScriptJson(data.dump(-1, ' ', false, json::error_handler_t::replace)) +
         std::string(shell.substr(at));
}

bool IsReportPage(std::string_view text) {
  return text.starts_with("<!doctype html>") &&
         text.find(kDataBegin) != std::string_view::npos;
}

StatusOr<json> DataOfPage(std::string_view page) {
  const size_t place = page.find(kDataBegin);
  if (place == std::string_view::npos) {
    return InvalidArgumentError(
        "expected a page that vm-report wrote, found other text");
  }
  const size_t begin = place + kDataBegin.size();
  const size_t end = page.find(kDataEnd, begin);
  if (end == std::string_view::npos)
    return InvalidArgumentError("the page's data is cut off");
  json data = json::parse(page.substr(begin, end - begin), nullptr, false);
  const bool is_valid = data.is_object() && data.contains("version") &&
                        data["version"] == kVersion && data.contains("sides") &&
                        data["sides"].is_array() && !data["sides"].empty();
  if (!is_valid) {
    return InvalidArgumentError(
        "expected a page of this version of vm-report; make it again from the "
        "model");
  }
  return std::move(data["sides"][0]);
}

}  // namespace ember::tools

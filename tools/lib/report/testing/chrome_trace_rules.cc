#include "tools/lib/report/testing/chrome_trace_rules.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "nlohmann/json.hpp"

namespace ember::tools {
namespace {

using nlohmann::json;

// A slice of the trace, in nanoseconds. Integers are used so that comparing
// ends and begins is exact.
struct Slice {
  int64_t begin, end;
};

class RuleChecker {
 public:
  std::vector<std::string> Check(const std::string& text) {
    const json trace = json::parse(text, nullptr, false);
    if (trace.is_discarded()) return {"the text is not JSON"};
    if (!trace.is_object() || !trace.contains("traceEvents") ||
        !trace["traceEvents"].is_array())
      return {"expected an object with the array traceEvents"};
    const json& unit = trace.value("displayTimeUnit", json("ns"));
    if (unit != "ns" && unit != "ms") Say("displayTimeUnit is not ms or ns");
    for (const json& event : trace["traceEvents"]) CheckEvent(event);
    for (auto& [track, slices] : slices_) CheckNesting(slices);
    CheckFlows();
    return problems_;
  }

 private:
  void Say(const std::string& problem) { problems_.push_back(problem); }
  void Say(const std::string& problem, const json& event) {
    Say(problem + ": " + event.dump());
  }

  void CheckEvent(const json& event) {
    if (!event.is_object() || !event.contains("ph") || !event["ph"].is_string())
      return Say("expected an object with ph", event);
    const std::string kind = event["ph"];
    if (!event.value("name", json()).is_string()) Say("no name", event);
    if (!event.value("pid", json()).is_number_integer()) Say("no pid", event);
    if (!event.value("tid", json()).is_number_integer()) Say("no tid", event);
    if (event.contains("args") && !event["args"].is_object())
      Say("args is no object", event);
    if (kind == "M") return CheckMetadata(event);
    if (!event.value("ts", json()).is_number() || event["ts"] < 0)
      return Say("no ts of 0 or more", event);
    if (kind == "X") return CheckSlice(event);
    if (kind == "C") return CheckCounter(event);
    if (kind == "s" || kind == "f") return AddFlow(kind, event);
    Say("unknown ph", event);
  }

  void CheckMetadata(const json& event) {
    const std::string name = event["name"];
    const json args = event.value("args", json::object());
    const bool is_name = name == "process_name" || name == "thread_name";
    if (is_name && !args.value("name", json()).is_string())
      Say("no args.name", event);
    if (name == "thread_sort_index" &&
        !args.value("sort_index", json()).is_number_integer())
      Say("no args.sort_index", event);
  }

  static int64_t Nanoseconds(const json& microseconds) {
    return std::llround(1000 * microseconds.get<double>());
  }

  void CheckSlice(const json& event) {
    if (!event.value("dur", json()).is_number() || event["dur"] < 0)
      return Say("no dur of 0 or more", event);
    const int64_t begin = Nanoseconds(event["ts"]);
    slices_[event["tid"]].push_back({begin, begin + Nanoseconds(event["dur"])});
  }

  void CheckCounter(const json& event) {
    if (!event.contains("args") || event["args"].empty())
      return Say("a counter without values", event);
    for (const json& value : event["args"]) {
      if (!value.is_number()) Say("a value that is no number", event);
    }
    double& last = counter_times_[event["name"]];
    if (event["ts"] < last) Say("a counter that goes back in time", event);
    last = event["ts"];
  }

  void AddFlow(const std::string& kind, const json& event) {
    if (!event.contains("id")) return Say("a flow without id", event);
    if (!event.value("cat", json()).is_string()) Say("no cat", event);
    if (kind == "f" && event.value("bp", "e") != "e") Say("bp is not e", event);
    auto& ends = flows_[event["id"].dump()];
    ends[kind == "s" ? 0 : 1].push_back(event);
  }

  // Slices of one track must be apart or nested.
  void CheckNesting(std::vector<Slice>& slices) {
    std::ranges::stable_sort(slices, [](const Slice& a, const Slice& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    std::vector<Slice> open;
    for (const Slice& slice : slices) {
      while (!open.empty() && open.back().end <= slice.begin) open.pop_back();
      if (!open.empty() && slice.end > open.back().end) {
        Say("two slices of one track overlap at " +
            std::to_string(slice.begin) + " ns");
      }
      open.push_back(slice);
    }
  }

  void CheckFlows() {
    for (const auto& [id, ends] : flows_) {
      if (ends[0].size() != 1 || ends[1].size() != 1) {
        Say("flow " + id + " has no begin or no end");
        continue;
      }
      const json &begin = ends[0][0], &end = ends[1][0];
      if (begin["name"] != end["name"] || begin["cat"] != end["cat"])
        Say("name or cat of both ends differ", begin);
      if (begin["ts"] > end["ts"]) Say("a flow that goes back in time", begin);
      if (!IsInSlice(begin) || !IsInSlice(end))
        Say("an end of a flow is in no slice", begin);
    }
  }

  bool IsInSlice(const json& event) const {
    const auto slices = slices_.find(event["tid"].get<int64_t>());
    if (slices == slices_.end()) return false;
    const int64_t at = Nanoseconds(event["ts"]);
    return std::ranges::any_of(slices->second, [at](const Slice& slice) {
      return slice.begin <= at && at <= slice.end;
    });
  }

  std::vector<std::string> problems_;
  std::map<int64_t, std::vector<Slice>> slices_;  // by track
  std::map<std::string, double> counter_times_;
  std::map<std::string, std::vector<json>[2]> flows_;
};

}  // namespace

std::vector<std::string> ChromeTraceProblems(const std::string& text) {
  return RuleChecker().Check(text);
}

}  // namespace ember::tools

#include "tools/lib/report/chrome_trace.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string_view>
#include <tuple>

#include "tools/lib/cli/json.h"

namespace ember::tools {
namespace {

// Prints a time as microseconds, the format's unit, with three decimals, so
// that no nanosecond is lost.
std::string Microseconds(int64_t ns) {
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%lld.%03lld",
                static_cast<long long>(ns / 1000),
                static_cast<long long>(ns % 1000));
  return buffer;
}

std::string Number(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%.12g", value);
  return buffer;
}

// Returns the beginning of an event's JSON object: its kind (ph), process,
// track (tid) and name.
std::string Begin(std::string_view kind, size_t track, std::string_view name) {
  return ",\n{\"ph\": \"" + std::string(kind) +
         "\", \"pid\": 1, \"tid\": " + std::to_string(track) +
         ", \"name\": " + JsonString(name);
}

std::string Metadata(std::string_view what, size_t track,
                     const std::string& key, const std::string& value) {
  return Begin("M", track, what) + ", \"args\": {\"" + key + "\": " + value +
         "}}";
}

class Printer {
 public:
  explicit Printer(const ChromeTrace& trace) : trace_(trace) {
    for (const TraceSlice& slice : trace.slices)
      origin_ = std::min(origin_, slice.begin_ns);
    for (const TraceCounter& counter : trace.counters)
      origin_ = std::min(origin_, counter.at_ns);
  }

  std::string Print() {
    AddTracks();
    AddSlices();
    AddCounters();
    AddFlows();
    // Removes the comma that Begin() puts before each event, from the first
    // one.
    return "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [" +
           text_.substr(1) + "\n]}\n";
  }

 private:
  void AddTracks() {
    text_ += Metadata("process_name", 0, "name", JsonString(trace_.process));
    for (size_t i = 0; i < trace_.tracks.size(); ++i) {
      text_ += Metadata("thread_name", i, "name", JsonString(trace_.tracks[i]));
      text_ +=
          Metadata("thread_sort_index", i, "sort_index", std::to_string(i));
    }
  }

  void AddSlices() {
    std::vector<size_t> order(trace_.slices.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [this](size_t i) {
      const TraceSlice& slice = trace_.slices[i];
      return std::tuple(slice.begin_ns, slice.track, -slice.end_ns);
    });
    for (const size_t i : order) AddSlice(trace_.slices[i]);
  }

  void AddSlice(const TraceSlice& slice) {
    const int64_t length = std::max<int64_t>(0, slice.end_ns - slice.begin_ns);
    text_ += Begin("X", slice.track, slice.name) + Time(slice.begin_ns) +
             ", \"dur\": " + Microseconds(length) + ", \"args\": {";
    for (size_t i = 0; i < slice.details.size(); ++i) {
      text_ += (i ? ", " : "") + JsonString(slice.details[i].first) + ": " +
               JsonString(slice.details[i].second);
    }
    text_ += "}}";
  }

  void AddCounters() {
    std::vector<const TraceCounter*> order;
    for (const TraceCounter& counter : trace_.counters)
      order.push_back(&counter);
    std::ranges::stable_sort(order, {}, &TraceCounter::at_ns);
    for (const TraceCounter* counter : order) {
      text_ +=
          Begin("C", 0, counter->name) + Time(counter->at_ns) + ", \"args\": {";
      for (size_t i = 0; i < counter->values.size(); ++i) {
        text_ += (i ? ", " : "") + JsonString(counter->values[i].first) + ": " +
                 Number(counter->values[i].second);
      }
      text_ += "}}";
    }
  }

  // An arrow starts at the begin of the first slice, because a slice's end does
  // not belong to it any more. The field "bp": "e" attaches the arrow's end to
  // the slice that encloses it, not to the next slice.
  void AddFlows() {
    for (size_t i = 0; i < trace_.flows.size(); ++i) {
      const TraceFlow& flow = trace_.flows[i];
      const TraceSlice& from = trace_.slices[flow.from];
      const TraceSlice& to = trace_.slices[flow.to];
      const std::string id =
          ", \"cat\": \"flow\", \"id\": " + std::to_string(i + 1);
      text_ +=
          Begin("s", from.track, flow.name) + id + Time(from.begin_ns) + "}";
      text_ += Begin("f", to.track, flow.name) + id + ", \"bp\": \"e\"" +
               Time(to.begin_ns) + "}";
    }
  }

  std::string Time(int64_t ns) const {
    return ", \"ts\": " + Microseconds(ns - origin_);
  }

  const ChromeTrace& trace_;
  int64_t origin_ = std::numeric_limits<int64_t>::max();
  std::string text_;
};

}  // namespace

std::string PrintChromeTrace(const ChromeTrace& trace) {
  return Printer(trace).Print();
}

}  // namespace ember::tools

#include "tools/lib/cli/show_progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>

#include "base/one_line.h"
#include "tools/lib/cli/json.h"

namespace ember::tools {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

// `kItemWidth`: largest number of bytes of an item's name that are shown.
// `kBarWidth`: number of characters of the bar. With them the line fits a
// terminal of 80 columns.
constexpr size_t kItemWidth = 26;
constexpr int64_t kBarWidth = 20;
// The one stage whose `done` and `total` are bytes.
constexpr std::string_view kWrite = "write";

// Returns the progress as text: "3/7", "3" if the total is unknown, or "312/652
// MB" if it counts bytes and the total is at least a megabyte.
std::string CountText(bool is_bytes, int64_t done, int64_t total) {
  constexpr int64_t kMegabyte = 1'000'000;
  const int64_t unit = is_bytes && total >= kMegabyte ? kMegabyte : 1;
  std::string text = std::to_string(done / unit);
  if (total > 0) text += "/" + std::to_string(total / unit);
  return text + (unit > 1 ? " MB" : "");
}

// Returns the bar with the progress as text, "[=====>   ] 3/7". If the total is
// unknown, returns the count alone, or "" if it counts bytes.
std::string BarText(bool is_bytes, int64_t done, int64_t total) {
  if (total <= 0) return is_bytes ? "" : CountText(false, done, total);
  const int64_t full = std::clamp<int64_t>(done, 0, total) * kBarWidth / total;
  std::string text = "[" + std::string(static_cast<size_t>(full), '=');
  if (full < kBarWidth)
    text += ">" + std::string(static_cast<size_t>(kBarWidth - full - 1), ' ');
  return text + "] " + CountText(is_bytes, done, total);
}

// Cuts a text to a length, at the beginning of a code point, so that it stays
// valid UTF-8.
std::string CutItem(std::string text) {
  if (text.size() <= kItemWidth) return text;
  size_t end = kItemWidth - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return text.substr(0, end) + "…";
}

class Bar final : public ShownProgress {
 public:
  Bar(std::FILE* file, double quiet_ms)
      : file_(file), quiet_ms_(quiet_ms), start_(Clock::now()) {}
  ~Bar() override {
    if (ticker_.joinable()) {
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        ends_ = true;
      }
      changed_.notify_all();
      ticker_.join();
    }
    Clear();
  }

  bool Report(const ProgressEvent& event) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (event.stage != stage_ || !is_active_) {
      stage_ = event.stage;
      stage_start_ = Clock::now();
    }
    // Control characters are escaped, because the item's name comes from the
    // model.
    item_ = CutItem(OnOneLine(event.item));
    done_ = event.done;
    total_ = event.total;
    is_active_ = true;
    if (!ticker_.joinable()) ticker_ = std::thread([this] { Tick(); });
    Draw();
    return true;
  }

  void Clear() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_active_ = false;
    if (is_drawn_) Write("\r\033[K");
    is_drawn_ = false;
  }

 private:
  void Tick() {
    constexpr auto kPeriod = std::chrono::milliseconds(250);
    std::unique_lock<std::mutex> lock(mutex_);
    while (!changed_.wait_for(lock, kPeriod, [this] { return ends_; })) {
      if (is_active_) Draw();
    }
  }

  // Draws the line, unless it was drawn a moment ago. The caller must hold
  // mutex_.
  void Draw() {
    // Least number of milliseconds between two updates of the bar; more updates
    // could not be seen.
    constexpr double kBetween = 50;
    const double now = MillisecondsSince(start_);
    if (now < quiet_ms_ || (is_drawn_ && now < drawn_ms_ + kBetween)) return;
    drawn_ms_ = now;
    is_drawn_ = true;
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.1f s",
                  1e-3 * MillisecondsSince(stage_start_));
    Write("\r" + stage_ + " " + BarText(stage_ == kWrite, done_, total_) +
          "  " + item_ + (item_.empty() ? "" : "  ") + seconds + "\033[K");
  }

  void Write(const std::string& text) {
    std::fputs(text.c_str(), file_);
    std::fflush(file_);
  }

  std::FILE* const file_;
  const double quiet_ms_;
  const Clock::time_point start_;

  std::mutex mutex_;  // guards the fields below
  std::condition_variable changed_;
  bool ends_ = false;
  // `is_active_` and the fields below hold the last report. After Clear nothing
  // is drawn until the next report.
  bool is_active_ = false;
  std::string stage_, item_;
  int64_t done_ = 0, total_ = 0;
  Clock::time_point stage_start_;
  bool is_drawn_ = false;
  double drawn_ms_ = 0;
  std::thread ticker_;
};

class JsonLines final : public ShownProgress {
 public:
  explicit JsonLines(std::FILE* file) : file_(file) {}

  bool Report(const ProgressEvent& event) override {
    // One call writes the whole line, so lines of several threads do not mix.
    std::fprintf(file_,
                 "{\"stage\": %s, \"item\": %s, \"done\": %" PRId64
                 ", \"total\": %" PRId64 ", \"ms\": %.1f}\n",
                 JsonString(event.stage).c_str(),
                 JsonString(event.item).c_str(), event.done, event.total,
                 MillisecondsSince(start_));
    std::fflush(file_);
    return true;
  }
  void Clear() override {}

 private:
  std::FILE* const file_;
  const Clock::time_point start_ = Clock::now();
};

}  // namespace

void AddProgressFlag(Flags& flags, std::string* how) {
  flags.AddChoice("progress", how, {"auto", "bar", "json", "off"},
                  "Shows the progress of long work on stderr. bar: a line that "
                  "changes. json: a line of JSON\n"
                  "per step. auto: bar if stderr is a terminal.");
}

std::unique_ptr<ShownProgress> ShowProgress(const std::string& how,
                                            std::FILE* file) {
  constexpr double kQuiet = 500;
  if (how == "json") return std::make_unique<JsonLines>(file);
  if (how == "bar") return std::make_unique<Bar>(file, 0);
  if (how == "auto" && isatty(fileno(file)) != 0)
    return std::make_unique<Bar>(file, kQuiet);
  return nullptr;
}

}  // namespace ember::tools

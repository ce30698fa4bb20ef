#include "tools/lib/cli/show_progress.h"

#include <unistd.h>

#include <chrono>
#include <cinttypes>

#include "base/one_line.h"
#include "tools/lib/cli/json.h"

namespace ember::tools {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

// Largest number of characters of an item that are shown, so that the line fits
// a narrow terminal.
constexpr size_t kItemWidth = 40;

class Bar final : public Progress {
 public:
  Bar(std::FILE* file, double quiet_ms)
      : file_(file), next_ms_(quiet_ms), start_(Clock::now()) {}
  ~Bar() override {
    if (is_drawn_) Write("\r\033[K");
  }

  bool Report(const ProgressEvent& event) override {
    // Milliseconds between two updates of the bar: about as fast as an eye can
    // follow.
    constexpr double kBetween = 50;
    const double now = MillisecondsSince(start_);
    if (now < next_ms_) return true;
    next_ms_ = now + kBetween;
    is_drawn_ = true;
    std::string line = "\r" + std::string(event.stage) + "  ";
    line += std::to_string(event.done);
    if (event.total > 0) line += "/" + std::to_string(event.total);
    // Control characters are escaped, because the item's name comes from the
    // model.
    line += "  " + OnOneLine(event.item).substr(0, kItemWidth) + "\033[K";
    Write(line);
    return true;
  }

 private:
  void Write(const std::string& text) {
    std::fputs(text.c_str(), file_);
    std::fflush(file_);
  }

  std::FILE* const file_;
  double next_ms_;
  const Clock::time_point start_;
  bool is_drawn_ = false;
};

class JsonLines final : public Progress {
 public:
  explicit JsonLines(std::FILE* file) : file_(file) {}

  bool Report(const ProgressEvent& event) override {
    std::fprintf(file_,
                 "{\"stage\": %s, \"item\": %s, \"done\": %" PRId64
                 ", \"total\": %" PRId64 ", \"ms\": %.1f}\n",
                 JsonString(event.stage).c_str(),
                 JsonString(event.item).c_str(), event.done, event.total,
                 MillisecondsSince(start_));
    std::fflush(file_);
    return true;
  }

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

std::unique_ptr<Progress> ShowProgress(const std::string& how,
                                       std::FILE* file) {
  constexpr double kQuiet = 500;
  if (how == "json") return std::make_unique<JsonLines>(file);
  if (how == "bar") return std::make_unique<Bar>(file, 0);
  if (how == "auto" && isatty(fileno(file)) != 0)
    return std::make_unique<Bar>(file, kQuiet);
  return nullptr;
}

}  // namespace ember::tools

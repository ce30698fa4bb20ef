#include "tests/performance/baseline.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <utility>

#include "hal/cpu/target.h"

namespace ember::tests {
namespace {

constexpr std::string_view kHeader = "ember speeds 1";
constexpr std::string_view kMachine = "machine ";

Status BadLine(int number, const std::string& line, std::string_view expected) {
  return InvalidArgumentError("line " + std::to_string(number) + ": expected " +
                              std::string(expected) + ", found '" + line + "'");
}

}  // namespace

const Baseline::Row* Baseline::Find(std::string_view model) const {
  const auto row = std::ranges::find(rows, model, &Row::model);
  return row == rows.end() ? nullptr : &*row;
}

void Baseline::Set(Row row) {
  const auto place = std::ranges::find(rows, row.model, &Row::model);
  if (place == rows.end()) {
    rows.push_back(std::move(row));
  } else {
    *place = std::move(row);
  }
}

std::string Baseline::Print() const {
  std::ostringstream text;
  text << kHeader << '\n' << kMachine << machine << '\n';
  for (const Row& row : rows) {
    char speed[32];
    std::snprintf(speed, sizeof speed, "%.4g", row.speed);
    text << row.model << ' ' << speed << " at " << row.version << '\n';
  }
  return text.str();
}

StatusOr<Baseline> Baseline::Parse(std::string_view text) {
  Baseline baseline;
  std::istringstream lines{std::string(text)};
  std::string line;
  std::getline(lines, line);
  if (line != kHeader)
    return BadLine(1, line, "'" + std::string(kHeader) + "'");
  std::getline(lines, line);
  if (!line.starts_with(kMachine))
    return BadLine(2, line, "'machine' and its name");
  baseline.machine = line.substr(kMachine.size());
  for (int number = 3; std::getline(lines, line); ++number) {
    std::istringstream fields(line);
    Row row;
    std::string at, more;
    if (!(fields >> row.model >> row.speed >> at >> row.version) ||
        at != "at" || row.speed <= 0 || fields >> more)
      return BadLine(number, line, "'MODEL SPEED at VERSION'");
    baseline.Set(std::move(row));
  }
  return baseline;
}

std::string ThisMachine() {
  const std::string name = hal::HostName();
  return (name.empty() ? "" : name + ", ") + hal::HostTarget();
}

}  // namespace ember::tests

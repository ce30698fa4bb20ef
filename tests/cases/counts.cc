#include "tests/cases/counts.h"

#include "base/concat.h"

namespace ember::cases {

std::string Counts::ToText() const {
  int64_t sections = 0;
  std::string parts;
  for (const auto& [keyword, count] : expectations) {
    sections += count;
    parts += Concat({parts.empty() ? "" : ", ", count, " ", keyword});
  }
  std::string text =
      Concat({"cases: ", files, " files, ", subjects, " subjects, ", sections,
              " expectations (", parts, ")\n"});
  for (const auto& [name, count] : executors) {
    int64_t declined = 0;
    std::string reasons;
    for (const auto& [reason, times] : count.declined) {
      declined += times;
      reasons += Concat({reasons.empty() ? "" : ", ", times, " ", reason});
    }
    text += Concat(
        {"  ", name, ": ", count.runs, " runs, ", declined, " declined"});
    if (declined > 0) text += Concat({" (", reasons, ")"});
    text += "\n";
  }
  for (const auto& [name, why] : missing)
    text += Concat({"NOT RUN: ", name, ": ", why, "\n"});
  return text;
}

}  // namespace ember::cases

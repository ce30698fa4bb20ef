// The text of a file of cases (tests/cases/README.md has the language).
//
//   EMBER_ASSIGN_OR_RETURN(CaseFile file, CaseFile::Parse(text, "a.case"));
//   for (const Section& section : file.sections) section.keyword;  // "run"
//   file.ToText() == text
//
// Only the form: which sections there are and what they mean is for runner.h.
// Plain values. Errors name the file and the line.
#ifndef EMBER_TESTS_CASES_CASE_FILE_H_
#define EMBER_TESTS_CASES_CASE_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::cases {

// --- keyword operands
// body
struct Section {
  std::string keyword;
  std::string operands;  // the rest of the line
  std::string body;      // lines, each with its line break
  int line = 0;          // of the "---", counted from 1
  // Lines before the "---" that begin with '#' or are empty: what is shown.
  std::string comment;
};

struct CaseFile {
  std::string path;
  std::vector<Section> sections;
  std::string end;  // comments behind the last section

  static StatusOr<CaseFile> Parse(std::string_view text, std::string path);
  std::string ToText() const;
};

// "a b  c" as a, b, c.
std::vector<std::string> SplitWords(std::string_view text);
// Its lines without their breaks; an empty last one is none.
std::vector<std::string> SplitLines(std::string_view text);
// Without white space at either end.
std::string_view Trimmed(std::string_view text);
// White space between words as one blank, none at the ends: how parts of nests
// and schedules are compared.
std::string Words(std::string_view text);

// `$T` and `${T}` by the values of names; what no name is meant by stays.
struct Binding {
  std::string name;
  std::string value;
};
std::string Substituted(std::string_view text,
                        const std::vector<Binding>& bindings);

// "T in f32 f64, C in "l < 9" l": each way to choose one value for every name,
// the last name's values fastest; one way with no names for "".
StatusOr<std::vector<std::vector<Binding>>> Choices(std::string_view text);

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_CASE_FILE_H_

// Parses and prints a file of cases (tests/cases/README.md has the language).
//
//   EMBER_ASSIGN_OR_RETURN(CaseFile file, CaseFile::Parse(text, "a.case"));
//   for (const Section& section : file.sections) section.keyword;  // "run"
//   file.ToText() == text
//
// Handles the form only: case_checker.h defines the sections and their meaning.
// Plain values. Errors name the file and the line.
#ifndef EMBER_TESTS_CASES_CASE_FILE_H_
#define EMBER_TESTS_CASES_CASE_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::cases {

// A section of a file: "--- keyword operands", then a body.
struct Section {
  std::string keyword;
  // The rest of the line with the "---", after the keyword.
  std::string operands;
  std::string body;  // lines of the section, each with its line break
  int line = 0;      // Number of the line with the "---", counted from 1.
  // Lines before the "---" that begin with '#' or are empty: they explain the
  // case.
  std::string comment;
};

struct CaseFile {
  std::string path;
  std::vector<Section> sections;
  std::string end;  // Comment lines of the file after its last section.

  static StatusOr<CaseFile> Parse(std::string_view text, std::string path);
  std::string ToText() const;
};

// Splits a text at white space: "a b  c" gives a, b, c.
std::vector<std::string> SplitWords(std::string_view text);
// Splits a text into lines without their breaks. An empty last line is left
// out.
std::vector<std::string> SplitLines(std::string_view text);
// Returns the text without white space at either end.
std::string_view Trimmed(std::string_view text);
// Replaces white space between words by one blank and removes it at the ends:
// the form in which parts of nests and schedules are compared.
std::string Words(std::string_view text);

// A name of a template and one value for it. Substitution replaces `$T` and
// `${T}` by the value of T. Names without a value stay as they are.
struct Binding {
  std::string name;
  std::string value;
};
std::string Substituted(std::string_view text,
                        const std::vector<Binding>& bindings);

// Parses "T in f32 f64, C in "l < 9" l" and returns every combination of one
// value for each name; the last name's values vary fastest. "" gives one
// combination without names.
StatusOr<std::vector<std::vector<Binding>>> Choices(std::string_view text);

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_CASE_FILE_H_

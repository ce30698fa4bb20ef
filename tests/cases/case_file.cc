#include "tests/cases/case_file.h"

#include <cctype>
#include <utility>

#include "base/concat.h"

namespace ember::cases {
namespace {

constexpr std::string_view kMark = "---";

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\t'; }

bool IsOfName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// Removes the comment lines and empty lines at the end of a section's body and
// returns them: they belong to the next section.
std::string TakeComment(std::string& body) {
  size_t begin = body.size();
  while (begin > 0) {
    const size_t line =
        // Finds the beginning of the last line. If rfind finds no line break,
        // it returns npos, and npos + 1 is 0.
        begin < 2 ? 0 : body.rfind('\n', begin - 2) + 1;
    if (body[line] != '#' && body[line] != '\n') break;
    begin = line;
  }
  std::string comment = body.substr(begin);
  body.resize(begin);
  return comment;
}

}  // namespace

StatusOr<CaseFile> CaseFile::Parse(std::string_view text, std::string path) {
  CaseFile file;
  file.path = std::move(path);
  std::string before;
  int number = 0;
  for (const std::string& line : SplitLines(text)) {
    ++number;
    std::string& body =
        file.sections.empty() ? before : file.sections.back().body;
    if (!line.starts_with(kMark)) {
      body += line + "\n";
      continue;
    }
    const std::string_view head = Trimmed(std::string_view(line).substr(3));
    if (head.empty()) {
      return InvalidArgumentError(Concat(
          {file.path, ":", number, ": expected a keyword behind '---'"}));
    }
    Section section;
    section.comment = TakeComment(body);
    const size_t blank = head.find(' ');
    section.keyword = head.substr(0, blank);
    if (blank != std::string_view::npos)
      section.operands = Trimmed(head.substr(blank));
    section.line = number;
    file.sections.push_back(std::move(section));
  }
  if (!before.empty()) {
    return InvalidArgumentError(
        Concat({file.path, ":1: expected comments and a line '--- KEYWORD'"}));
  }
  if (!file.sections.empty()) file.end = TakeComment(file.sections.back().body);
  return file;
}

std::string CaseFile::ToText() const {
  std::string text;
  for (const Section& section : sections) {
    text += section.comment;
    text += Concat({kMark, " ", section.keyword});
    if (!section.operands.empty()) text += Concat({" ", section.operands});
    text += Concat({"\n", section.body});
  }
  return text + end;
}

std::vector<std::string> SplitWords(std::string_view text) {
  std::vector<std::string> words;
  bool is_inside = false;
  for (const char c : text) {
    if (!IsBlank(c) && !is_inside) words.emplace_back();
    is_inside = !IsBlank(c);
    if (is_inside) words.back() += c;
  }
  return words;
}

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

std::string Words(std::string_view text) {
  std::string result;
  for (const std::string& word : SplitWords(text))
    result += Concat({result.empty() ? "" : " ", word});
  return result;
}

std::string Substituted(std::string_view text,
                        const std::vector<Binding>& bindings) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      result += text[i];
      continue;
    }
    const bool has_braces = i + 1 < text.size() && text[i + 1] == '{';
    const size_t begin = i + 1 + (has_braces ? 1 : 0);
    size_t end = begin;
    while (end < text.size() && IsOfName(text[end])) ++end;
    const std::string_view name = text.substr(begin, end - begin);
    const Binding* found = nullptr;
    for (const Binding& binding : bindings) {
      if (binding.name == name) found = &binding;
    }
    if (found == nullptr) {
      result += '$';
      continue;
    }
    result += found->value;
    i = end - 1;
    if (has_braces && end < text.size() && text[end] == '}') ++i;
  }
  return result;
}

namespace {

// Splits a text into words. A word in quotes may hold blanks and commas; a
// comma outside of quotes is a word.
std::vector<std::string> Tokens(std::string_view text) {
  std::vector<std::string> tokens;
  bool is_inside = false, is_quoted = false;
  for (const char c : text) {
    if (c == '"') {
      is_quoted = !is_quoted;
      if (is_quoted) tokens.emplace_back();
      is_inside = is_quoted;
    } else if (is_quoted) {
      tokens.back() += c;
    } else if (c == ',') {
      tokens.emplace_back(",");
      is_inside = false;
    } else if (IsBlank(c)) {
      is_inside = false;
    } else {
      if (!is_inside) tokens.emplace_back();
      is_inside = true;
      tokens.back() += c;
    }
  }
  return tokens;
}

}  // namespace

StatusOr<std::vector<std::vector<Binding>>> Choices(std::string_view text) {
  std::vector<std::vector<Binding>> choices(1);
  std::vector<std::string> tokens = Tokens(text);
  for (size_t begin = 0; begin < tokens.size();) {
    size_t end = begin;
    while (end < tokens.size() && tokens[end] != ",") ++end;
    if (end - begin < 3 || tokens[begin + 1] != "in")
      return InvalidArgumentError(
          Concat({"expected NAME in VALUE VALUE…, …, found '", text, "'"}));
    std::vector<std::vector<Binding>> longer;
    for (const std::vector<Binding>& chosen : choices) {
      for (size_t i = begin + 2; i < end; ++i) {
        longer.push_back(chosen);
        longer.back().push_back({tokens[begin], tokens[i]});
      }
    }
    choices = std::move(longer);
    begin = end + 1;
  }
  return choices;
}

}  // namespace ember::cases

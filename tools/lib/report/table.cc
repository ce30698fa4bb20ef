#include "tools/lib/report/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/one_line.h"
#include "tools/lib/cli/json.h"

namespace ember::tools {
namespace {

// Returns the number of code points of a text. Columns are aligned by it, so
// that a text such as "µs" counts as two.
size_t Width(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string Padded(std::string_view text, size_t width, bool right) {
  const std::string space(width - std::min(width, Width(text)), ' ');
  return right ? space + std::string(text) : std::string(text) + space;
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string MarkdownText(const Cell& cell) {
  if (!cell.present) return "–";
  std::string text;
  for (const char c : cell.text) {
    if (c == '|') text += '\\';
    text += c == '\n' ? ' ' : c;
  }
  return OnOneLine(text);
}

}  // namespace

Cell::Cell(double value, int digits) {
  if (!std::isfinite(value)) return;
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.*f", digits, value);
  text = buffer;
  present = is_number = true;
}

StatusOr<TableFormat> ParseTableFormat(std::string_view text) {
  if (text == "md") return TableFormat::kMarkdown;
  if (text == "json") return TableFormat::kJson;
  if (text == "csv") return TableFormat::kCsv;
  return InvalidArgumentError("expected md, json or csv, found '" +
                              std::string(text) + "'");
}

void Table::AddRow(std::vector<Cell> cells) {
  EMBER_CHECK(cells.size() == columns_.size()) << "a row of another table";
  rows_.push_back(std::move(cells));
}

std::string Table::Print(TableFormat format) const {
  switch (format) {
    case TableFormat::kMarkdown:
      return PrintMarkdown();
    case TableFormat::kJson:
      return PrintJson();
    default:
      return PrintCsv();
  }
}

std::string Table::PrintMarkdown() const {
  std::vector<size_t> widths;
  std::vector<bool> right(columns_.size(), !rows_.empty());
  for (const std::string& column : columns_)
    widths.push_back(std::max<size_t>(3, Width(column)));
  for (const std::vector<Cell>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], Width(MarkdownText(row[i])));
      if (row[i].present && !row[i].is_number) right[i] = false;
    }
  }
  std::string head = "|", rule = "|", body;
  for (size_t i = 0; i < columns_.size(); ++i) {
    head += " " + Padded(columns_[i], widths[i], right[i]) + " |";
    rule +=
        " " + std::string(widths[i] - 1, '-') + (right[i] ? ":" : "-") + " |";
  }
  for (const std::vector<Cell>& row : rows_) {
    body += "|";
    for (size_t i = 0; i < row.size(); ++i) {
      body += " " + Padded(MarkdownText(row[i]), widths[i], right[i]) + " |";
    }
    body += "\n";
  }
  return head + "\n" + rule + "\n" + body;
}

std::string Table::PrintJson() const {
  std::string text = "[";
  for (const std::vector<Cell>& row : rows_) {
    text += text.size() == 1 ? "\n  {" : ",\n  {";
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ", ";
      text += JsonString(columns_[i]) + ": ";
      text += !row[i].present    ? "null"
              : row[i].is_number ? row[i].text
                                 : JsonString(row[i].text);
    }
    text += "}";
  }
  return text + (rows_.empty() ? "]\n" : "\n]\n");
}

std::string Table::PrintCsv() const {
  std::string text;
  for (size_t i = 0; i < columns_.size(); ++i)
    text += (i ? "," : "") + CsvField(columns_[i]);
  text += "\n";
  for (const std::vector<Cell>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i)
      text += (i ? "," : "") + CsvField(row[i].text);
    text += "\n";
  }
  return text;
}

}  // namespace ember::tools

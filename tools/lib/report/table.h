// Prints a table of results as Markdown (columns aligned, so that it is
// readable in a terminal, too), JSON (an array of objects) or CSV.
//
//   Table table({"model", "median_ms"});
//   table.AddRow({"resnet50", Cell(36.31, 2)});
//   std::fputs(table.Print(TableFormat::kMarkdown).c_str(), stdout);
#ifndef EMBER_TOOLS_LIB_REPORT_TABLE_H_
#define EMBER_TOOLS_LIB_REPORT_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::tools {

// A cell of the table: a text, a number, or nothing (null in JSON, "–" in
// Markdown).
struct Cell {
  Cell() = default;
  Cell(std::string value) : text(std::move(value)), present(true) {}
  Cell(std::string_view value) : Cell(std::string(value)) {}
  Cell(const char* value) : Cell(std::string(value)) {}
  Cell(int64_t value)
      : text(std::to_string(value)), present(true), is_number(true) {}
  // Makes a cell of a number. `digits` is the number of digits after the point.
  // A value that is not finite is an empty cell.
  Cell(double value, int digits);

  std::string text;
  bool present = false;
  bool is_number = false;
};

enum class TableFormat { kMarkdown, kJson, kCsv };
// Parses the name of a format: "md", "json" or "csv".
StatusOr<TableFormat> ParseTableFormat(std::string_view text);

class Table {
 public:
  explicit Table(std::vector<std::string> columns)
      : columns_(std::move(columns)) {}
  // Adds a row. It must have as many cells as there are columns.
  void AddRow(std::vector<Cell> cells);
  std::string Print(TableFormat format) const;

 private:
  std::string PrintMarkdown() const;
  std::string PrintJson() const;
  std::string PrintCsv() const;

  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_TABLE_H_

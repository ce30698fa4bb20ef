// Builds a text of indented lines.
//
//   Printer printer;
//   printer.Line("if (x) {");
//   { Printer::Indent indent(printer); printer.Line("y = ", 1); }
//   printer.Line("}");
//   std::string text = std::move(printer).Take();
#ifndef EMBER_BASE_PRINTER_H_
#define EMBER_BASE_PRINTER_H_

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace ember {

// Appends texts and integers. Each line begins with two spaces for each level
// of indentation.
class Printer {
 public:
  // Indents the lines that are printed while this object exists.
  class Indent {
   public:
    explicit Indent(Printer& printer) : printer_(printer) { ++printer_.level_; }
    ~Indent() { --printer_.level_; }
    Indent(const Indent&) = delete;
    Indent& operator=(const Indent&) = delete;

   private:
    Printer& printer_;
  };

  template <typename... Parts>
  Printer& Print(const Parts&... parts) {
    (Append(parts), ...);
    return *this;
  }
  template <typename... Parts>
  Printer& Line(const Parts&... parts) {
    (Append(parts), ...);
    EndLine();
    return *this;
  }
  void EndLine() {
    text_ += '\n';
    at_line_start_ = true;
  }

  const std::string& text() const { return text_; }
  std::string Take() && { return std::move(text_); }

 private:
  void Append(std::string_view part) {
    if (part.empty()) return;
    if (at_line_start_) text_.append(2 * static_cast<size_t>(level_), ' ');
    at_line_start_ = false;
    text_ += part;
  }
  template <std::integral Integer>
    requires(!std::same_as<Integer, char> && !std::same_as<Integer, bool>)
  void Append(Integer value) {
    char buffer[24];
    Append(std::string_view(
        buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr));
  }
  void Append(char character) { Append(std::string_view(&character, 1)); }

  std::string text_;
  int level_ = 0;
  bool at_line_start_ = true;
};

// Calls print(item) for each item with ", " between them.
template <typename Range, typename Function>
void PrintJoined(Printer& printer, const Range& range, Function&& print) {
  bool first = true;
  for (const auto& item : range) {
    if (!first) printer.Print(", ");
    first = false;
    print(item);
  }
}

}  // namespace ember

#endif  // EMBER_BASE_PRINTER_H_

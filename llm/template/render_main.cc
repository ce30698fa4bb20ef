// A program that renders a chat template, to compare its output with that of
// other engines.
//
//   render TEMPLATE.jinja INPUT.json
//
// INPUT.json is an object; each field is a variable of the template. The time
// is 2026-11-30 12:34:56, a Monday. Exits with 1 and prints one line if the
// template refuses the input.
#include <cstdio>
#include <string>

#include "base/file.h"
#include "base/status.h"
#include "llm/template/chat_template.h"

namespace ember::llm {
namespace {

StatusOr<std::string> Run(const std::string& template_path,
                          const std::string& input_path) {
  EMBER_ASSIGN_OR_RETURN(const std::string source, ReadFile(template_path));
  ChatInput input;
  EMBER_ASSIGN_OR_RETURN(input.extra, ReadFile(input_path));
  input.now.tm_year = 2026 - 1900;
  input.now.tm_mon = 10;
  input.now.tm_mday = 30;
  input.now.tm_hour = 12;
  input.now.tm_min = 34;
  input.now.tm_sec = 56;
  input.now.tm_wday = 1;
  input.now.tm_yday = 333;
  EMBER_ASSIGN_OR_RETURN(const ChatTemplate chat_template,
                         ChatTemplate::Parse(source));
  return chat_template.Render(input);
}

}  // namespace
}  // namespace ember::llm

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: render TEMPLATE.jinja INPUT.json\n");
    return 2;
  }
  const ember::StatusOr<std::string> text = ember::llm::Run(argv[1], argv[2]);
  if (!text.ok()) {
    std::fprintf(stderr, "render: %s\n",
                 std::string(text.status().message()).c_str());
    return 1;
  }
  std::fwrite(text->data(), 1, text->size(), stdout);
  return 0;
}

// A program that prints the token ids of texts, to compare them with those of
// other tokenizers.
//
//   tokenize FILE [--add-special] [--parse-special] [--decode] <texts
//
// FILE is a GGUF file or a tokenizer.json. Texts are separated by a zero byte;
// each becomes a line with its ids. With --decode each line is followed by one
// with the decoded text, whose line feeds and backslashes are escaped.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/status.h"
#include "frontends/gguf/gguf_file.h"
#include "llm/tokenizer/gguf_definition.h"
#include "llm/tokenizer/json_definition.h"
#include "llm/tokenizer/text_stream.h"
#include "llm/tokenizer/tokenizer.h"

namespace ember::llm {
namespace {

StatusOr<Tokenizer> Load(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  const std::string_view contents(
      reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  if (gguf::GgufFile::IsGguf(contents)) {
    EMBER_ASSIGN_OR_RETURN(const gguf::GgufFile gguf,
                           gguf::GgufFile::Open(file.bytes(), nullptr));
    EMBER_ASSIGN_OR_RETURN(TokenizerDefinition definition,
                           ReadGgufTokenizer(gguf));
    return Tokenizer::Create(std::move(definition));
  }
  EMBER_ASSIGN_OR_RETURN(TokenizerDefinition definition,
                         ReadJsonTokenizer(contents));
  return Tokenizer::Create(std::move(definition));
}

struct Options {
  std::string path;
  EncodeOptions encode{.add_special = false};
  bool decodes = false;
};

std::string Escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\\') {
      result += "\\\\";
    } else {
      result += c;
    }
  }
  return result;
}

Status Run(const Options& options) {
  EMBER_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Load(options.path));
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  for (size_t begin = 0; begin <= input.size();) {
    const size_t end = std::min(input.find('\0', begin), input.size());
    EMBER_ASSIGN_OR_RETURN(
        const std::vector<int32_t> ids,
        tokenizer.Encode(std::string_view(input).substr(begin, end - begin),
                         options.encode));
    std::string line;
    for (const int32_t id : ids) line += std::to_string(id) + " ";
    if (!line.empty()) line.pop_back();
    std::puts(line.c_str());
    if (options.decodes) {
      TextStream stream(tokenizer, {.render_special = true});
      std::string text;
      for (const int32_t id : ids) text += stream.Push(id);
      text += stream.Finish();
      std::puts(Escaped(text).c_str());
    }
    begin = end + 1;
  }
  return OkStatus();
}

}  // namespace
}  // namespace ember::llm

int main(int argc, char** argv) {
  ember::llm::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--add-special") {
      options.encode.add_special = true;
    } else if (arg == "--parse-special") {
      options.encode.parse_special = true;
    } else if (arg == "--decode") {
      options.decodes = true;
    } else if (!arg.starts_with("-") && options.path.empty()) {
      options.path = arg;
    } else {
      std::fprintf(stderr,
                   "tokenize: unknown argument %s; expected FILE "
                   "[--add-special] [--parse-special] [--decode]\n",
                   argv[i]);
      return 2;
    }
  }
  const ember::Status status = ember::llm::Run(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "tokenize: %s\n", std::string(status.message()).c_str());
  return 1;
}

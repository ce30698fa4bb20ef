#include "hal/metal/testing/msl_kernels.h"

#include <algorithm>
#include <charconv>

#include "base/concat.h"

namespace ember::hal::metal::fake {
namespace {

constexpr std::string_view kHeading = "kernel void ";
constexpr std::string_view kBlanks = " \t\n";

// Attributes of arguments that are numbers of the thread, and the C++ for them.
struct Number {
  std::string_view attribute, value;
};
constexpr Number kNumbers[] = {
    {"threadgroup_position_in_grid", "ember_shim::Of(thread->block)"},
    {"threadgroups_per_grid", "ember_shim::Of(thread->blocks)"},
    {"thread_position_in_threadgroup", "ember_shim::Of(thread->thread)"},
    {"threads_per_threadgroup", "ember_shim::Of(thread->threads)"},
    {"thread_position_in_grid", "ember_shim::InGrid(thread)"},
    {"thread_index_in_threadgroup", "ember_shim::InGroup(thread)"},
};

// Returns the number in "NAME(number)" if the text begins with "NAME(".
bool ReadNumber(std::string_view text, std::string_view name,
                uint64_t& number) {
  if (!text.starts_with(name)) return false;
  text.remove_prefix(name.size());
  if (!text.starts_with('(')) return false;
  const auto parsed =
      std::from_chars(text.data() + 1, text.data() + text.size(), number);
  return parsed.ec == std::errc();
}

// Splits the arguments at commas outside of brackets.
std::vector<std::string_view> SplitArguments(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const bool is_end = i == text.size();
    if (!is_end && (text[i] == '(' || text[i] == '<' || text[i] == '['))
      ++depth;
    if (!is_end && (text[i] == ')' || text[i] == '>' || text[i] == ']'))
      --depth;
    if (!is_end && (text[i] != ',' || depth != 0)) continue;
    const std::string_view part = text.substr(begin, i - begin);
    if (part.find_first_not_of(kBlanks) != std::string_view::npos)
      parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

std::string ReadArgument(std::string_view argument, MslKernel& kernel) {
  if (!kernel.call.empty()) kernel.call += ", ";
  const size_t at = argument.find("[[");
  const std::string_view attribute =
      at == std::string_view::npos ? "" : argument.substr(at + 2);
  uint64_t index = 0;
  if (ReadNumber(attribute, "buffer", index) && index < kBufferIndices) {
    kernel.buffers.push_back(static_cast<uint32_t>(index));
    const bool is_reference =
        argument.substr(0, at).find('&') != std::string_view::npos;
    kernel.call +=
        Concat({is_reference ? "ember_shim::Reference" : "ember_shim::Pointer",
                "{arguments[", index, "]}"});
    return "";
  }
  if (ReadNumber(attribute, "threadgroup", index) && index == 0) {
    kernel.has_threadgroup_memory = true;
    kernel.call += "ember_shim::Pointer{thread->shared}";
    return "";
  }
  for (const Number& number : kNumbers) {
    if (attribute != Concat({number.attribute, "]]"})) continue;
    kernel.call += number.value;
    return "";
  }
  return Concat({"error: kernel ", kernel.name, ": the argument '", argument,
                 "' has no attribute that the fake knows"});
}

std::string_view LastWordBefore(std::string_view source, size_t at) {
  const size_t end = source.find_last_not_of(kBlanks, at - 1);
  return at == 0 || end == std::string_view::npos ? ""
                                                  : source.substr(0, end + 1);
}

}  // namespace

std::string ReadKernels(std::string_view source,
                        std::vector<MslKernel>& kernels) {
  for (size_t at = source.find(kHeading); at != std::string_view::npos;
       at = source.find(kHeading, at + 1)) {
    MslKernel kernel;
    constexpr std::string_view kMaxThreads =
        "[[max_total_threads_per_threadgroup";
    const std::string_view before = LastWordBefore(source, at);
    const size_t attribute = before.rfind("[[");
    if (before.ends_with("]]"))
      ReadNumber(before.substr(attribute), kMaxThreads, kernel.max_threads);
    const size_t name = at + kHeading.size();
    const size_t open = source.find('(', name);
    size_t close = open;
    for (int depth = 0; close < source.size(); ++close) {
      depth += source[close] == '(' ? 1 : source[close] == ')' ? -1 : 0;
      if (depth == 0) break;
    }
    if (close >= source.size()) return "error: a kernel without ')'";
    kernel.name = source.substr(name, open - name);
    for (const std::string_view argument :
         SplitArguments(source.substr(open + 1, close - open - 1))) {
      std::string problem = ReadArgument(argument, kernel);
      if (!problem.empty()) return problem;
    }
    kernels.push_back(std::move(kernel));
  }
  return "";
}

std::string WithSharedArrays(std::string_view source) {
  constexpr std::string_view kWord = "threadgroup ";
  std::string result;
  size_t done = 0;
  for (size_t at = source.find(kWord); at != std::string_view::npos;
       at = source.find(kWord, at + 1)) {
    const std::string_view before = LastWordBefore(source, at);
    const bool begins =
        before.ends_with('{') || before.ends_with(';') || before.ends_with('}');
    const std::string_view statement =
        source.substr(at, source.find(';', at) - at);
    if (!begins || statement.find('[') == std::string_view::npos ||
        statement.find_first_of("*&(=") != std::string_view::npos)
      continue;
    result += source.substr(done, at - done);
    result += "static ";
    done = at;
  }
  result += source.substr(done);
  return result;
}

}  // namespace ember::hal::metal::fake

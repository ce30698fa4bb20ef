#include "jit/c_like/source_builder.h"

#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "jit/c_like/form.h"

namespace ember::jit::c_like {
namespace {

std::string IndentOf(int depth) {
  return std::string(static_cast<size_t>(2 * (depth + 1)), ' ');
}

}  // namespace

void SourceBuilder::Enter(std::string heading) {
  blocks_.push_back({.heading = std::move(heading), .begin = {}, .end = {}});
}

void SourceBuilder::Leave() {
  EMBER_CHECK(!blocks_.empty()) << "no block is open";
  const Block block = std::move(blocks_.back());
  blocks_.pop_back();
  if (blocks_.empty()) {
    done_ = Concat({block.heading, " {\n", block.begin, block.end, "}\n"});
    return;
  }
  if (block.begin.empty() && block.end.empty()) return;
  const std::string indent = IndentOf(depth());
  blocks_.back().end += Concat(
      {indent, block.heading, " {\n", block.begin, block.end, indent, "}\n"});
}

void SourceBuilder::LineAt(int depth, Part part, std::string_view text) {
  Block& block = blocks_.at(static_cast<size_t>(depth));
  std::string& lines = part == Part::kBegin ? block.begin : block.end;
  lines += Concat({IndentOf(depth), text, "\n"});
  ++lines_;
}

std::string SourceBuilder::Declare(int depth, Part part, std::string_view type,
                                   std::string_view value) {
  std::string name = NewName();
  LineAt(depth, part,
         Fill(language_.declarations.constant,
              {{"type", type}, {"name", name}, {"value", value}}));
  return name;
}

}  // namespace ember::jit::c_like

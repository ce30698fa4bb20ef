// Builds the text of one function from nested blocks. A block has two parts: a
// beginning, for values that do not change in the block, and the code after it.
//
//   SourceBuilder c(c::kLanguage);
//   c.Enter("for (int32_t i = 0; i < 4; ++i)");
//   const std::string two = c.Declare(c.depth(), Part::kEnd, "float", "x[i]");
//   c.Line(Concat({"y[i] = ", two, ";"}));
//   c.Leave();
//
// Leave() adds a block's text to the outer block, so declarations that were
// added to the outer block meanwhile precede it. An empty block is left out.
//
// Not thread-safe.
#ifndef EMBER_JIT_C_LIKE_SOURCE_BUILDER_H_
#define EMBER_JIT_C_LIKE_SOURCE_BUILDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "jit/c_like/language.h"

namespace ember::jit::c_like {

enum class Part : uint8_t { kBegin, kEnd };

class SourceBuilder {
 public:
  // language: must outlive the source builder
  explicit SourceBuilder(const Language& language) : language_(language) {}

  // Begins a block. `heading`: the text before its brace. The first block is
  // the body of the function.
  void Enter(std::string heading);
  void Leave();
  // Returns the depth of the innermost open block; that of the function's body
  // is 0.
  int depth() const { return static_cast<int>(blocks_.size()) - 1; }

  // Line adds a line at the end of the innermost block; LineAt adds one to a
  // part of the open block at depth `depth`.
  void Line(std::string_view text) { LineAt(depth(), Part::kEnd, text); }
  void LineAt(int depth, Part part, std::string_view text);
  // Declares a constant variable in a part of the open block at depth `depth`,
  // and returns its name.
  std::string Declare(int depth, Part part, std::string_view type,
                      std::string_view value);
  // Returns a name that no other variable of the function has.
  std::string NewName() { return "v" + std::to_string(++names_); }

  // Returns the number of lines that were added so far.
  int64_t lines() const { return lines_; }
  // Returns the text of the function, all of whose blocks must have been left.
  std::string Take() { return std::move(done_); }

 private:
  struct Block {
    std::string heading;
    std::string begin;
    std::string end;
  };

  const Language& language_;
  std::vector<Block> blocks_;
  std::string done_;
  int64_t names_ = 0;
  int64_t lines_ = 0;
};

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_SOURCE_BUILDER_H_

// The text of one function while it is written: blocks in each other, each with
// a beginning, where values go that do not change in it, and what follows.
//
//   SourceBuilder c;
//   c.Enter("for (int32_t i = 0; i < 4; ++i)");
//   const std::string two = c.Declare(c.depth(), Part::kEnd, "float", "x[i]");
//   c.Line(Concat({"y[i] = ", two, ";"}));
//   c.Leave();
//
// A block gets its braces and its place in the block around it when it is left,
// so that what is declared around it meanwhile stands in front of it. One in
// which nothing stands leaves nothing.
//
// Not thread-safe.
#ifndef EMBER_JIT_C_SOURCE_BUILDER_H_
#define EMBER_JIT_C_SOURCE_BUILDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ember::jit::c {

enum class Part : uint8_t { kBegin, kEnd };

class SourceBuilder {
 public:
  // heading: what stands in front of the brace. The first block is the
  // function's.
  void Enter(std::string heading);
  void Leave();
  // Of the innermost block; that of the function is 0.
  int depth() const { return static_cast<int>(blocks_.size()) - 1; }

  // At the end of the innermost block, or in a part of one around it.
  void Line(std::string_view text) { LineAt(depth(), Part::kEnd, text); }
  void LineAt(int depth, Part part, std::string_view text);
  // A constant variable there; its name.
  std::string Declare(int depth, Part part, std::string_view type,
                      std::string_view value);
  // A name that no other variable has.
  std::string NewName() { return "v" + std::to_string(++names_); }

  // Of all blocks so far.
  int64_t lines() const { return lines_; }
  // The function, when all blocks are left.
  std::string Take() { return std::move(done_); }

 private:
  struct Block {
    std::string heading;
    std::string begin;
    std::string end;
  };

  std::vector<Block> blocks_;
  std::string done_;
  int64_t names_ = 0;
  int64_t lines_ = 0;
};

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_SOURCE_BUILDER_H_

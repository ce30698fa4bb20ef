// Counts the nesting level of calls, blocks and expressions: each object of
// this class is one more level. The limit on the levels protects the thread's
// stack from a model's code.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_INTERPRETER_LEVEL_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_INTERPRETER_LEVEL_H_

#include <string>

#include "frontends/torchscript/interpreter.h"

namespace ember::torchscript {

class Interpreter::Level {
 public:
  explicit Level(Interpreter& interpreter) : interpreter_(interpreter) {
    if (++interpreter_.depth_ > kMaxDepth) {
      interpreter_.machine_.FailUnsupported(
          "expected at most " + std::to_string(kMaxDepth) +
          " levels of calls, blocks and expressions");
    }
  }
  ~Level() { --interpreter_.depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

  bool ok() const { return interpreter_.machine_.ok(); }

 private:
  Interpreter& interpreter_;
};

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_INTERPRETER_LEVEL_H_

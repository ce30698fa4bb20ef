// Catches the first Ctrl-C (SIGINT), so that a generation ends and its text and
// times are reported. The second one ends the process as if the first had not
// been caught.
//
//   const CatchInterrupt interrupt(*session);
//   options.is_cancelled = [] { return CatchInterrupt::is_requested(); };
//
// The signal cancels the run of the session that is in progress. One object at
// a time; the session must outlive it. For the main thread of a tool.
#ifndef EMBER_TOOLS_LIB_GENERATE_INTERRUPT_H_
#define EMBER_TOOLS_LIB_GENERATE_INTERRUPT_H_

#include "vm/runtime/session.h"

namespace ember::tools {

class CatchInterrupt {
 public:
  explicit CatchInterrupt(vm::Session& session);
  ~CatchInterrupt();
  CatchInterrupt(const CatchInterrupt&) = delete;
  CatchInterrupt& operator=(const CatchInterrupt&) = delete;

  // True if SIGINT came since the object was made or Clear was called.
  static bool is_requested();
  // Forgets the signal: the next Ctrl-C is again the first one, which is
  // caught.
  static void Clear();
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_GENERATE_INTERRUPT_H_

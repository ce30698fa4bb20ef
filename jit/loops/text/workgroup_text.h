// Prints and parses the description of a workgroup at the start of a phase
// (jit/loops/workgroup.h), and the mark of a loop that copies a box
// (jit/loops/copied_box.h). Internal to the text form.
#ifndef EMBER_JIT_LOOPS_TEXT_WORKGROUP_TEXT_H_
#define EMBER_JIT_LOOPS_TEXT_WORKGROUP_TEXT_H_

#include "base/lexer.h"
#include "base/printer.h"
#include "base/status.h"
#include "jit/loops/loop_nest.h"
#include "tensor/builder/draft.h"

namespace ember::loops {

// Parses the description of a workgroup, whose keyword is the next token. The
// buffers that it names are those of the draft.
StatusOr<Workgroup> ParseWorkgroup(Lexer& lexer, const tensor::Draft& draft);

// Prints the description of a workgroup, with a line for each buffer that the
// phase uses.
void PrintWorkgroup(const LoopNest& nest, const Workgroup& workgroup,
                    Printer& printer);

// Parses the mark of a loop that copies a box, after its keyword "box". The
// caller sets the buffers, which the text does not name.
StatusOr<CopiedBox> ParseBox(Lexer& lexer);
void PrintBox(const CopiedBox& box, Printer& printer);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TEXT_WORKGROUP_TEXT_H_

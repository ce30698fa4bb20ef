// Walks the entry program of a module and writes down its steps
// (straight_line.h).
//
//   Walker walker(module, input_dims);
//   EMBER_RETURN_IF_ERROR(walker.Walk());
//   StraightLine line = std::move(walker).Take();
//
// Internal to straight_line.cc. Not thread-safe. Errors: those of
// StraightLineOf.
#ifndef EMBER_TOOLS_LIB_C_PROGRAM_WALKER_H_
#define EMBER_TOOLS_LIB_C_PROGRAM_WALKER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tools/lib/c_program/byte_ranges.h"
#include "tools/lib/c_program/straight_line.h"
#include "vm/isa/module_definition.h"
#include "vm/runtime/integer_instructions.h"
#include "vm/runtime/module.h"

namespace ember::tools {

// The state of a program while it is walked.
struct Frame {
  Frame(const vm::Program& of, uint32_t index)
      : program(of),
        number(index),
        integers(of.integer_register_count),
        buffers(of.buffer_register_count),
        inputs(of.inputs.size()),
        results(of.results.size()),
        result_dims(of.results.size()) {}

  const vm::Program& program;
  uint32_t number;
  std::vector<int64_t> integers;
  std::vector<MemoryRange> buffers, inputs, results;
  std::vector<std::vector<int64_t>> result_dims;
  // The numbers of the current instruction and of the next one.
  size_t at = 0, pc = 0;
};

class Walker {
 public:
  Walker(const vm::Module& module, std::vector<std::vector<int64_t>> input_dims)
      : module_(module) {
    line_.input_dims = std::move(input_dims);
    for (size_t i = 0; i < module.sites().size(); ++i) {
      const vm::DispatchSite& site = module.sites()[i];
      site_numbers_[{site.program, site.instruction}] = i;
    }
    frames_.emplace_back(module.entry(), 0);
  }

  Status Walk();
  StraightLine Take() && { return std::move(line_); }

 private:
  Frame& frame() { return frames_.back(); }
  const vm::Program& program() const { return frames_.back().program; }

  Status CheckSignatures();
  // Executes the program of the last frame to its end.
  Status Run();
  Status Execute(const vm::ProgramInstruction& in);
  Status Jump(const vm::ProgramInstruction& in);
  Status CheckSize();
  Status Call(const vm::ProgramInstruction& in);
  Status Allocate(const vm::ProgramInstruction& in);
  StatusOr<MemoryRange> NewBlock(int64_t bytes);
  Status SetPart(uint32_t reg, const MemoryRange& whole, int64_t offset,
                 int64_t bytes);
  Status LoadInteger(const vm::ProgramInstruction& in);
  Status StoreInteger(const vm::ProgramInstruction& in);
  Status Append(const vm::ProgramInstruction& in);
  // True if something else than this register of the last frame refers to the
  // block.
  bool IsShared(uint32_t block, uint32_t reg) const;
  Status Dispatch(const vm::ProgramInstruction& in);
  Status CheckOverlaps(const tensor::Dispatch& dispatch, const LineStep& step);
  Status Result(const vm::ProgramInstruction& in);

  Status ErrorHere(std::string_view message) const {
    return vm::InstructionError(program(), frames_.back().at, message);
  }
  Status CheckRange(int64_t bytes, int64_t offset,
                    const MemoryRange& whole) const;
  LineStep& AddStep(LineStep::Kind kind);
  // Adds a step that copies; the ranges have the same size.
  void Copy(const MemoryRange& from, const MemoryRange& to);
  // Must be called before a step is added that reads the range. It adds steps
  // that clear what has not been written.
  void BeforeRead(const MemoryRange& range);
  void AfterWrite(const MemoryRange& range);
  // Returns the bytes that have been written in the memory of the range. Null
  // for memory that has contents before the program starts.
  ByteRanges* WrittenIn(const MemoryRange& range);

  const vm::Module& module_;
  std::map<std::pair<uint32_t, uint32_t>, size_t> site_numbers_;
  // The frames of the entry program and of those that are being called. A
  // deque, because frames refer to programs and do not move.
  std::deque<Frame> frames_;
  ByteRanges written_in_arena_;
  std::vector<ByteRanges> written_in_blocks_;
  StraightLine line_;
  int64_t jumps_ = 0;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_C_PROGRAM_WALKER_H_

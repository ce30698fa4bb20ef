// Instructions on memory: allocations, parts of memory, loads and stores of
// single integers, and dispatches.
#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/dtype.h"
#include "tensor/concrete_header.h"
#include "tensor/scalar.h"
#include "tools/lib/c_program/walker.h"
#include "vm/interpreter/plan.h"

namespace ember::tools {

using vm::ProgramInstruction;

namespace {

// Largest number of bytes of all memory of the program. No processor that has
// only a C compiler addresses more.
constexpr int64_t kMaxBytes = int64_t{1} << 40;

bool Overlap(const MemoryRange& a, const MemoryRange& b) {
  return a.memory == b.memory && a.number == b.number && a.bytes > 0 &&
         b.bytes > 0 && a.offset < b.offset + b.bytes &&
         b.offset < a.offset + a.bytes;
}

}  // namespace

StatusOr<MemoryRange> Walker::NewBlock(int64_t bytes) {
  if (bytes < 0 || bytes > kMaxBytes) {
    return ErrorHere(Concat(
        {"expected at most ", kMaxBytes, " bytes of memory, found ", bytes}));
  }
  const auto number = static_cast<uint32_t>(line_.block_bytes.size());
  line_.block_bytes.push_back(bytes);
  written_in_blocks_.emplace_back();
  return MemoryRange{Memory::kBlock, number, 0, bytes};
}

Status Walker::Allocate(const ProgramInstruction& in) {
  EMBER_ASSIGN_OR_RETURN(frame().buffers[in.a],
                         NewBlock(frame().integers[in.b]));
  return OkStatus();
}

Status Walker::CheckRange(int64_t bytes, int64_t offset,
                          const MemoryRange& whole) const {
  if (bytes >= 0 && offset >= 0 && offset <= whole.bytes &&
      bytes <= whole.bytes - offset)
    return OkStatus();
  return ErrorHere(Concat({"expected a range within ", whole.bytes,
                           " bytes, found ", bytes, " at offset ", offset}));
}

Status Walker::SetPart(uint32_t reg, const MemoryRange& whole, int64_t offset,
                       int64_t bytes) {
  EMBER_RETURN_IF_ERROR(CheckRange(bytes, offset, whole));
  frame().buffers[reg] = {whole.memory, whole.number, whole.offset + offset,
                          bytes};
  return OkStatus();
}

Status Walker::LoadInteger(const ProgramInstruction& in) {
  const MemoryRange& range = frame().buffers[in.b];
  const auto type = static_cast<DType>(in.c);
  EMBER_RETURN_IF_ERROR(CheckRange(DTypeByteSize(type), in.immediate, range));
  if (range.memory != Memory::kConstant) {
    return ErrorHere(
        "expected an integer that is known before the run, found one of the "
        "data; make it a constant with --constant when the model is compiled");
  }
  const uint8_t* const data =
      module_.definition().constants[range.number].data.data();
  const uint64_t bits =
      tensor::LoadElement(data + range.offset + in.immediate, 0, type);
  frame().integers[in.a] =
      type == DType::kBool ? bits != 0
      : type == DType::kU64
          ? static_cast<int64_t>(std::min<uint64_t>(bits, INT64_MAX))
          : tensor::BitsToInteger(bits, type);
  return OkStatus();
}

Status Walker::StoreInteger(const ProgramInstruction& in) {
  MemoryRange range = frame().buffers[in.a];
  constexpr int64_t kBytes = sizeof(int64_t);
  EMBER_RETURN_IF_ERROR(CheckRange(kBytes, in.immediate, range));
  range.offset += in.immediate;
  range.bytes = kBytes;
  LineStep& step = AddStep(LineStep::Kind::kStore);
  step.number = frame().integers[in.b];
  step.operands = {range};
  AfterWrite(range);
  return OkStatus();
}

bool Walker::IsShared(uint32_t block, uint32_t reg) const {
  const auto refers = [block](const MemoryRange& range) {
    return range.memory == Memory::kBlock && range.number == block;
  };
  for (const Frame& frame : frames_) {
    for (size_t i = 0; i < frame.buffers.size(); ++i) {
      const bool is_itself = &frame == &frames_.back() && i == reg;
      if (!is_itself && refers(frame.buffers[i])) return true;
    }
    if (std::ranges::any_of(frame.inputs, refers) ||
        std::ranges::any_of(frame.results, refers))
      return true;
  }
  return false;
}

Status Walker::Append(const ProgramInstruction& in) {
  const MemoryRange whole = frame().buffers[in.a];
  MemoryRange piece = frame().buffers[in.c];
  const int64_t used = frame().integers[in.b];
  const int64_t added = frame().integers[static_cast<size_t>(in.immediate)];
  EMBER_RETURN_IF_ERROR(CheckRange(used, 0, whole));
  EMBER_RETURN_IF_ERROR(CheckRange(added, 0, piece));
  const int64_t total = used + added;
  piece.bytes = added;
  MemoryRange grown = whole;
  const bool has_room =
      whole.memory == Memory::kBlock &&
      line_.block_bytes[whole.number] - whole.offset >= total &&
      !IsShared(whole.number, in.a);
  if (!has_room) {
    EMBER_ASSIGN_OR_RETURN(grown, NewBlock(total));
    Copy({whole.memory, whole.number, whole.offset, used},
         {grown.memory, grown.number, 0, used});
  }
  grown.bytes = total;
  Copy(piece, {grown.memory, grown.number, grown.offset + used, added});
  frame().buffers[in.a] = grown;
  return OkStatus();
}

Status Walker::CheckOverlaps(const tensor::Dispatch& dispatch,
                             const LineStep& step) {
  for (size_t o = step.input_count; o < step.operands.size(); ++o) {
    for (size_t i = 0; i < o; ++i) {
      if (!Overlap(step.operands[i], step.operands[o])) continue;
      if (i < step.input_count &&
          step.operands[i].offset == step.operands[o].offset &&
          vm::MayAlias(dispatch, static_cast<int>(i), static_cast<int>(o)))
        continue;
      return ErrorHere(
          Concat({"dispatch @", dispatch.name, ": expected output '",
                  dispatch.buffers[o].name, "' apart from '",
                  dispatch.buffers[i].name, "', found shared memory"}));
    }
  }
  return OkStatus();
}

Status Walker::Dispatch(const ProgramInstruction& in) {
  const tensor::Dispatch& dispatch = module_.definition().dispatches[in.a];
  const uint32_t* const operands = program().operands.data() + in.b;
  LineStep step;
  step.instruction = frame().at;
  step.site =
      site_numbers_[{frame().number, static_cast<uint32_t>(frame().at)}];
  step.input_count = dispatch.input_count();
  for (size_t i = 0; i < dispatch.parameters.size(); ++i)
    step.parameters.push_back(frame().integers[operands[i]]);
  EMBER_ASSIGN_OR_RETURN(
      const tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(dispatch, step.parameters));
  EMBER_ASSIGN_OR_RETURN(vm::PlanFacts facts,
                         vm::StripInterpreter().FactsOf(dispatch, header));
  step.overwrites = std::move(facts.overwrites);
  for (size_t i = 0; i < facts.required_bytes.size(); ++i) {
    MemoryRange range =
        frame().buffers[operands[dispatch.parameters.size() + i]];
    const int64_t expected = facts.required_bytes[i];
    if (range.bytes < expected) {
      return ErrorHere(Concat(
          {"dispatch @", dispatch.name, ": buffer '", dispatch.buffers[i].name,
           "': expected at least ", expected, " bytes, found ", range.bytes}));
    }
    // Memory of the caller and the arena is only aligned for its elements, so
    // a part of it must begin at a multiple of their size. Parts of constants
    // become arrays of their own.
    const int size = DTypeByteSize(dispatch.buffers[i].type);
    if (range.memory != Memory::kConstant && range.offset % size != 0) {
      return ErrorHere(Concat({"dispatch @", dispatch.name, ": buffer '",
                               dispatch.buffers[i].name,
                               "': expected an offset that is a multiple of ",
                               size, ", found ", range.offset}));
    }
    range.bytes = expected;
    step.operands.push_back(range);
  }
  EMBER_RETURN_IF_ERROR(CheckOverlaps(dispatch, step));
  for (size_t i = 0; i < step.operands.size(); ++i) {
    if (!step.overwrites[i]) BeforeRead(step.operands[i]);
  }
  for (size_t i = step.input_count; i < step.operands.size(); ++i)
    AfterWrite(step.operands[i]);
  line_.steps.push_back(std::move(step));
  return OkStatus();
}

LineStep& Walker::AddStep(LineStep::Kind kind) {
  LineStep& step = line_.steps.emplace_back();
  step.kind = kind;
  step.instruction = frame().at;
  return step;
}

void Walker::Copy(const MemoryRange& from, const MemoryRange& to) {
  if (from.bytes == 0) return;
  BeforeRead(from);
  AddStep(LineStep::Kind::kCopy).operands = {from, to};
  AfterWrite(to);
}

ByteRanges* Walker::WrittenIn(const MemoryRange& range) {
  switch (range.memory) {
    case Memory::kInput:
    case Memory::kConstant:
      return nullptr;
    case Memory::kArena:
      return &written_in_arena_;
    case Memory::kBlock:
      return &written_in_blocks_[range.number];
  }
  return nullptr;
}

void Walker::BeforeRead(const MemoryRange& range) {
  ByteRanges* const written = WrittenIn(range);
  if (written == nullptr) return;
  const int64_t end = range.offset + range.bytes;
  for (const ByteRange& gap : written->Gaps(range.offset, end)) {
    MemoryRange part = range;
    part.offset = gap.begin;
    part.bytes = gap.end - gap.begin;
    AddStep(LineStep::Kind::kClear).operands = {part};
  }
  written->Add(range.offset, end);
}

void Walker::AfterWrite(const MemoryRange& range) {
  ByteRanges* const written = WrittenIn(range);
  if (written != nullptr)
    written->Add(range.offset, range.offset + range.bytes);
}

}  // namespace ember::tools

#include "jit/loops/text/workgroup_text.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "jit/loops/text/keywords.h"
#include "tensor/text/expression_parser.h"

namespace ember::loops {
namespace {

// A number of Workgroup with its keyword in the text. The text leaves out
// numbers that are 0.
struct NumberRow {
  std::string_view keyword;
  int64_t Workgroup::* field;
};
constexpr NumberRow kNumbers[] = {
    {"bytes", &Workgroup::shared_bytes},
    {"slots_at", &Workgroup::slot_barriers},
    {"at_most", &Workgroup::most_workgroups},
    {"iterations", &Workgroup::iterations},
};

struct FlagRow {
  std::string_view keyword;
  bool Workgroup::* field;
};
constexpr FlagRow kFlags[] = {
    {"producer", &Workgroup::has_producer},
    {"checks", &Workgroup::has_checks},
};

// The keywords of a buffer's flags, in the order in which the text has them.
// `coherent` implies `ordered`, which is then not printed.
struct StorageFlagRow {
  std::string_view keyword;
  bool BufferStorage::* field;
};
constexpr StorageFlagRow kStorageFlags[] = {
    {"reads", &BufferStorage::is_read},
    {"writes", &BufferStorage::is_written},
    {"coherent", &BufferStorage::is_coherent},
    {"ordered", &BufferStorage::is_ordered},
    {"unsigned", &BufferStorage::is_unsigned},
    {"of_invocations", &BufferStorage::of_invocation},
};

// If the next token is the keyword, reads the number behind it and returns
// true.
StatusOr<bool> AcceptNumber(Lexer& lexer, std::string_view keyword,
                            int64_t& number) {
  if (!lexer.Accept(keyword)) return false;
  EMBER_ASSIGN_OR_RETURN(
      number, lexer.ExpectInteger(Concat({"a number behind '", keyword, "'"})));
  return true;
}

// Returns the kind of storage that the token names, or kUnused, which no token
// names, if it is no such keyword.
StorageKind FindStorage(const Token& token) {
  for (size_t i = 1; i < std::size(kStorageKeywords); ++i) {
    if (token.Is(kStorageKeywords[i])) return static_cast<StorageKind>(i);
  }
  return StorageKind::kUnused;
}

// Parses the rest of a ring after its keyword: slots 4 bytes 24576 subgroups 8
// in_flight
StatusOr<WorkgroupRing> ParseRing(Lexer& lexer) {
  WorkgroupRing ring;
  EMBER_RETURN_IF_ERROR(lexer.Expect("slots"));
  EMBER_ASSIGN_OR_RETURN(ring.slots, lexer.ExpectInteger("a number of slots"));
  EMBER_RETURN_IF_ERROR(lexer.Expect("bytes"));
  EMBER_ASSIGN_OR_RETURN(ring.fill_bytes,
                         lexer.ExpectInteger("a number of bytes"));
  EMBER_RETURN_IF_ERROR(lexer.Expect("subgroups"));
  EMBER_ASSIGN_OR_RETURN(ring.subgroups,
                         lexer.ExpectInteger("a number of subgroups"));
  ring.stays_in_flight = lexer.Accept("in_flight");
  return ring;
}

// Parses the storage of a buffer after the buffer's name: reads writes panels
// 64 by 256 at 1024
Status ParseStorage(Lexer& lexer, BufferStorage& storage) {
  for (const StorageFlagRow& row : kStorageFlags)
    storage.*row.field = lexer.Accept(row.keyword);
  storage.is_ordered |= storage.is_coherent;
  for (size_t i = 1; i < std::size(kFormKeywords); ++i) {
    if (lexer.Accept(kFormKeywords[i]))
      storage.form = static_cast<ElementForm>(i);
  }
  EMBER_ASSIGN_OR_RETURN(const bool has_panels,
                         AcceptNumber(lexer, "panels", storage.panels.rows));
  if (has_panels) {
    EMBER_RETURN_IF_ERROR(lexer.Expect("by"));
    EMBER_ASSIGN_OR_RETURN(storage.panels.row_bytes,
                           lexer.ExpectInteger("a number of bytes"));
  }
  int64_t offset = 0;
  EMBER_ASSIGN_OR_RETURN(const bool has_offset,
                         AcceptNumber(lexer, "at", offset));
  if (has_offset) storage.offset = offset;
  return OkStatus();
}

}  // namespace

StatusOr<Workgroup> ParseWorkgroup(Lexer& lexer, const tensor::Draft& draft) {
  EMBER_RETURN_IF_ERROR(lexer.Expect("workgroup"));
  Workgroup workgroup;
  EMBER_ASSIGN_OR_RETURN(workgroup.invocations,
                         lexer.ExpectInteger("a number of invocations"));
  if (lexer.Accept("of_tasks"))
    workgroup.mode = Workgroup::Mode::kTaskEach;
  else if (lexer.Accept("alone"))
    workgroup.mode = Workgroup::Mode::kAlone;
  for (const NumberRow& row : kNumbers) {
    EMBER_RETURN_IF_ERROR(
        AcceptNumber(lexer, row.keyword, workgroup.*row.field).status());
  }
  for (const FlagRow& row : kFlags)
    workgroup.*row.field = lexer.Accept(row.keyword);
  while (lexer.Accept("ring")) {
    EMBER_ASSIGN_OR_RETURN(workgroup.rings.emplace_back(), ParseRing(lexer));
  }
  workgroup.storage.resize(draft.buffers.size());
  while (true) {
    const StorageKind kind = FindStorage(lexer.Peek());
    if (kind == StorageKind::kUnused) return workgroup;
    lexer.Next();
    EMBER_ASSIGN_OR_RETURN(const Token name,
                           lexer.ExpectSigil('%', "a buffer"));
    EMBER_ASSIGN_OR_RETURN(const uint32_t buffer,
                           tensor::FindBuffer(name, draft));
    BufferStorage& storage = workgroup.storage[buffer];
    if (storage.kind != StorageKind::kUnused) {
      return ErrorAt(name, Concat({"expected one line for buffer ", name.text,
                                   ", found a second one"}));
    }
    storage.kind = kind;
    EMBER_RETURN_IF_ERROR(ParseStorage(lexer, storage));
  }
}

void PrintWorkgroup(const LoopNest& nest, const Workgroup& workgroup,
                    Printer& printer) {
  printer.Print("workgroup ", workgroup.invocations);
  if (workgroup.mode == Workgroup::Mode::kTaskEach) printer.Print(" of_tasks");
  if (workgroup.mode == Workgroup::Mode::kAlone) printer.Print(" alone");
  for (const NumberRow& row : kNumbers) {
    if (workgroup.*row.field != 0)
      printer.Print(" ", row.keyword, " ", workgroup.*row.field);
  }
  for (const FlagRow& row : kFlags) {
    if (workgroup.*row.field) printer.Print(" ", row.keyword);
  }
  printer.EndLine();
  for (const WorkgroupRing& ring : workgroup.rings) {
    printer.Print("ring slots ", ring.slots, " bytes ", ring.fill_bytes,
                  " subgroups ", ring.subgroups);
    if (ring.stays_in_flight) printer.Print(" in_flight");
    printer.EndLine();
  }
  // The nest may be invalid, and its workgroup may then have more entries than
  // the nest has buffers.
  const size_t count = std::min(workgroup.storage.size(), nest.buffers.size());
  for (size_t i = 0; i < count; ++i) {
    const BufferStorage& storage = workgroup.storage[i];
    if (storage.kind == StorageKind::kUnused) continue;
    printer.Print(kStorageKeywords[static_cast<size_t>(storage.kind)], " %",
                  nest.buffers[i].name);
    for (const StorageFlagRow& row : kStorageFlags) {
      const bool is_implied =
          row.field == &BufferStorage::is_ordered && storage.is_coherent;
      if (storage.*row.field && !is_implied) printer.Print(" ", row.keyword);
    }
    if (storage.form != ElementForm::kRegisters) {
      printer.Print(" ", kFormKeywords[static_cast<size_t>(storage.form)]);
    }
    if (storage.panels.Any()) {
      printer.Print(" panels ", storage.panels.rows, " by ",
                    storage.panels.row_bytes);
    }
    if (storage.offset) printer.Print(" at ", *storage.offset);
    printer.EndLine();
  }
}

namespace {

bool IsInteger(const Token& token) {
  return token.kind == Token::kInteger || token.Is("-");
}

// Parses a keyword and the numbers behind it, of which there may be any number.
template <typename Number>
Status ParseNumbers(Lexer& lexer, std::string_view keyword,
                    std::vector<Number>& numbers) {
  EMBER_RETURN_IF_ERROR(lexer.Expect(keyword));
  while (IsInteger(lexer.Peek())) {
    EMBER_ASSIGN_OR_RETURN(const int64_t number,
                           lexer.ExpectInteger("a number"));
    numbers.push_back(static_cast<Number>(number));
  }
  return OkStatus();
}

// Parses CopiedBox::dims: dims none 1 2
Status ParseDims(Lexer& lexer, std::vector<std::optional<size_t>>& dims) {
  EMBER_RETURN_IF_ERROR(lexer.Expect("dims"));
  while (true) {
    if (lexer.Accept("none")) {
      dims.emplace_back();
    } else if (IsInteger(lexer.Peek())) {
      EMBER_ASSIGN_OR_RETURN(const int64_t dim, lexer.ExpectInteger("a dim"));
      dims.emplace_back(static_cast<size_t>(dim));
    } else {
      return OkStatus();
    }
  }
}

}  // namespace

StatusOr<CopiedBox> ParseBox(Lexer& lexer) {
  CopiedBox box;
  EMBER_ASSIGN_OR_RETURN(const int64_t ring,
                         lexer.ExpectInteger("the number of a ring"));
  box.ring = static_cast<uint32_t>(ring);
  EMBER_RETURN_IF_ERROR(lexer.Expect("bytes"));
  EMBER_ASSIGN_OR_RETURN(box.ring_slot_bytes,
                         lexer.ExpectInteger("the bytes of a slot"));
  EMBER_RETURN_IF_ERROR(ParseNumbers(lexer, "of", box.box));
  EMBER_RETURN_IF_ERROR(ParseDims(lexer, box.dims));
  EMBER_RETURN_IF_ERROR(ParseNumbers(lexer, "order", box.order));
  while (lexer.Accept("piece")) {
    CopiedBox::Piece piece;
    EMBER_ASSIGN_OR_RETURN(piece.position,
                           lexer.ExpectInteger("the position of a piece"));
    EMBER_RETURN_IF_ERROR(ParseNumbers(lexer, "at", piece.offsets));
    box.pieces.push_back(std::move(piece));
  }
  return box;
}

void PrintBox(const CopiedBox& box, Printer& printer) {
  printer.Print("box ", box.ring, " bytes ", box.ring_slot_bytes, " of");
  for (const uint32_t extent : box.box) printer.Print(" ", extent);
  printer.Print(" dims");
  for (const std::optional<size_t>& dim : box.dims) {
    if (dim)
      printer.Print(" ", *dim);
    else
      printer.Print(" none");
  }
  printer.Print(" order");
  for (const uint32_t dim : box.order) printer.Print(" ", dim);
  for (const CopiedBox::Piece& piece : box.pieces) {
    printer.Print(" piece ", piece.position, " at");
    for (const int64_t offset : piece.offsets) printer.Print(" ", offset);
  }
}

}  // namespace ember::loops

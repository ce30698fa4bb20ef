#include "vm/runtime/library/string_functions.h"

#include <re2/re2.h>
#include <string.h>  // for memmem

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "base/concat.h"
#include "tensor/scalar.h"
#include "vm/runtime/library/arguments.h"
#include "vm/runtime/library/library.h"
#include "vm/runtime/library/scratch.h"
#include "vm/runtime/library/sort.h"
#include "vm/runtime/library/string_numbers.h"
#include "vm/runtime/library/string_table.h"
#include "vm/runtime/library/unicode.h"
#include "vm/runtime/run_limits.h"

namespace ember::vm {
namespace {

constexpr int64_t kHandleSize = sizeof(int64_t);

// Largest number of bytes of a pattern. RE2 has no limit on its memory while it
// parses a pattern, and three bytes may take up to 31 KB.
constexpr size_t kMaxPatternBytes = 4096;
// Largest number of bytes of memory that a compiled pattern may use.
constexpr int64_t kPatternMemory = int64_t{2} << 20;
// Largest product of the number of a string's bytes and the number of a
// pattern's states. It limits the time for one string, because matching it
// cannot be interrupted.
constexpr int64_t kMaxMatchSteps = int64_t{1} << 32;

// Returns the string handle with the number `index`. Handles are read and
// written one by one, because another thread may change the memory meanwhile.
int64_t HandleAt(const LibraryMemory& memory, int64_t index) {
  return static_cast<int64_t>(
      tensor::LoadElement(memory.data, index, DType::kI64));
}
void SetHandle(const LibraryMemory& memory, int64_t index, int64_t handle) {
  tensor::StoreElement(memory.data, index, DType::kI64,
                       static_cast<uint64_t>(handle));
}

// Receives one part of a text. The Split functions call it for each part in
// order; `most` is the largest number of splits.
using Found = std::function<Status(std::string_view)>;

Status SplitAtDelimiter(std::string_view text, std::string_view delimiter,
                        int64_t most, const Found& found) {
  while (most-- != 0) {
    // memmem is used, because its time is linear in the text's length, unlike
    // that of string_view::find.
    const auto* const place = static_cast<const char*>(
        memmem(text.data(), text.size(), delimiter.data(), delimiter.size()));
    if (place == nullptr) break;
    const auto end = static_cast<size_t>(place - text.data());
    EMBER_RETURN_IF_ERROR(found(text.substr(0, end)));
    text.remove_prefix(end + delimiter.size());
  }
  return found(text);
}

// Splits a text at runs of white space; white space at both ends of the text is
// ignored. If the number of splits is limited, the last part keeps the white
// space at its end.
Status SplitAtSpace(std::string_view text, int64_t most, const Found& found) {
  while (true) {
    while (const int length = SpaceLength(text))
      text.remove_prefix(static_cast<size_t>(length));
    if (text.empty()) return OkStatus();
    if (most-- == 0) return found(text);
    size_t end = 0;
    while (end < text.size() && SpaceLength(text.substr(end)) == 0)
      end += static_cast<size_t>(CharacterLength(text.substr(end)));
    EMBER_RETURN_IF_ERROR(found(text.substr(0, end)));
    text.remove_prefix(end);
  }
}

class Strings final : public StringSupport {
 public:
  explicit Strings(int64_t byte_limit) : table_(byte_limit) {}

  Status Start(std::span<const std::string> module_strings,
               const Interrupt* interrupt) override {
    interrupt_ = interrupt;
    return table_.Reset(module_strings, interrupt);
  }
  Status Intern(std::span<const std::string> strings,
                int64_t* handles) override {
    for (const std::string& text : strings) {
      EMBER_RETURN_IF_ERROR(CheckInterrupt(interrupt_));
      EMBER_ASSIGN_OR_RETURN(*handles++, table_.Intern(text));
    }
    return OkStatus();
  }
  Status Resolve(
      std::span<const int64_t> handles,
      std::shared_ptr<const std::vector<std::string>>* strings) override {
    auto resolved = std::make_shared<std::vector<std::string>>();
    for (const int64_t handle : handles) {
      EMBER_RETURN_IF_ERROR(CheckInterrupt(interrupt_));
      EMBER_ASSIGN_OR_RETURN(const std::string_view text, table_.Get(handle));
      EMBER_RETURN_IF_ERROR(table_.Charge(text));
      resolved->emplace_back(text);
    }
    *strings = std::move(resolved);
    return OkStatus();
  }

  Status Call(LibraryFunction function, const LibraryCall& call) override {
    switch (function) {
#define EMBER_CASE_Core(name)
#define EMBER_CASE_Image(name)
#define EMBER_CASE_String(name)  \
  case LibraryFunction::k##name: \
    return name(call);
#define EMBER_ROW(name, kind, ...) EMBER_CASE_##kind(name)
      EMBER_FOR_EACH_LIBRARY_FUNCTION(EMBER_ROW)
#undef EMBER_ROW
#undef EMBER_CASE_String
#undef EMBER_CASE_Image
#undef EMBER_CASE_Core
      default:
        return InternalError("library function without code");
    }
  }

 private:
  // Returns the string of a handle. Its bytes are counted as work of the run
  // `times` times, because they are read so often.
  StatusOr<std::string_view> Text(const LibraryCall& call, int64_t handle,
                                  int64_t times = 1) const {
    EMBER_ASSIGN_OR_RETURN(const std::string_view text, table_.Get(handle));
    const std::optional<int64_t> work =
        CheckedMultiply(static_cast<int64_t>(text.size()), times);
    if (call.limits != nullptr) {
      EMBER_RETURN_IF_ERROR(call.limits->TakeText(work.value_or(INT64_MAX)));
    }
    return text;
  }

  // Sets each element of the result to the string that change(text) returns for
  // the operand's element.
  template <typename Change>
  Status ChangeEach(const LibraryCall& call, const Change& change) {
    EMBER_ASSIGN_OR_RETURN(const int64_t count, Product({call.integers[0]}));
    EMBER_RETURN_IF_ERROR(ExpectBytes(call.memory[0], count, kHandleSize, "x"));
    EMBER_RETURN_IF_ERROR(
        ExpectBytes(call.memory[1], count, kHandleSize, "result"));
    for (int64_t i = 0; i < count; ++i) {
      EMBER_ASSIGN_OR_RETURN(const std::string_view text,
                             Text(call, HandleAt(call.memory[0], i)));
      EMBER_ASSIGN_OR_RETURN(const int64_t handle, table_.Intern(change(text)));
      SetHandle(call.memory[1], i, handle);
    }
    return OkStatus();
  }
  Status StringLower(const LibraryCall& call) {
    return ChangeEach(call, [](std::string_view text) {
      return ChangeCase(text, Case::kLower);
    });
  }
  Status StringUpper(const LibraryCall& call) {
    return ChangeEach(call, [](std::string_view text) {
      return ChangeCase(text, Case::kUpper);
    });
  }

  Status StringConcat(const LibraryCall& call) {
    EMBER_ASSIGN_OR_RETURN(const int64_t count, Product({call.integers[0]}));
    for (const LibraryMemory& memory : call.memory) {
      EMBER_RETURN_IF_ERROR(
          ExpectBytes(memory, count, kHandleSize, "a, b and result"));
    }
    std::string joined;
    for (int64_t i = 0; i < count; ++i) {
      EMBER_ASSIGN_OR_RETURN(const std::string_view a,
                             Text(call, HandleAt(call.memory[0], i)));
      EMBER_ASSIGN_OR_RETURN(const std::string_view b,
                             Text(call, HandleAt(call.memory[1], i)));
      joined.assign(a).append(b);
      EMBER_ASSIGN_OR_RETURN(const int64_t handle, table_.Intern(joined));
      SetHandle(call.memory[2], i, handle);
    }
    return OkStatus();
  }

  StatusOr<std::string_view> Delimiter(int64_t handle) const {
    if (handle == -1) return std::string_view();
    return table_.Get(handle);
  }

  Status StringSplit(const LibraryCall& call) {
    EMBER_ASSIGN_OR_RETURN(const int64_t count, Product({call.integers[0]}));
    EMBER_ASSIGN_OR_RETURN(const std::string_view delimiter,
                           Delimiter(call.integers[1]));
    EMBER_RETURN_IF_ERROR(ExpectBytes(call.memory[0], count, kHandleSize, "x"));
    EMBER_RETURN_IF_ERROR(
        ExpectBytes(call.memory[1], count, kHandleSize, "counts"));
    // A negative limit on splits means no limit. It becomes the largest
    // integer, so that subtracting from it does not overflow.
    const int64_t most_splits =
        call.integers[2] < 0 ? INT64_MAX : call.integers[2];
    Scratch<int64_t> parts(call.pool);  // handles of all parts of all strings,
                                        // one after another
    int64_t most_parts = 0;
    for (int64_t i = 0; i < count; ++i) {
      EMBER_ASSIGN_OR_RETURN(const std::string_view text,
                             Text(call, HandleAt(call.memory[0], i)));
      const int64_t before = parts.size();
      EMBER_RETURN_IF_ERROR(Split(text, delimiter, most_splits, parts));
      const int64_t found = parts.size() - before;
      SetHandle(call.memory[1], i, found);
      most_parts = std::max(most_parts, found);
    }
    call.written_integers[0] = most_parts;
    return Pad(call, count, most_parts, parts);
  }

  // Splits a text and appends the handles of its parts to the list.
  Status Split(std::string_view text, std::string_view delimiter, int64_t most,
               Scratch<int64_t>& parts) {
    const Found found = [&](std::string_view part) -> Status {
      EMBER_RETURN_IF_ERROR(CheckInterrupt(interrupt_));
      EMBER_ASSIGN_OR_RETURN(const int64_t handle, table_.Intern(part));
      if (parts.size() >= table_.byte_limit() / kHandleSize) {
        return ResourceExhaustedError(
            Concat({"strings: expected at most ",
                    table_.byte_limit() / kHandleSize, " parts, found more"}));
      }
      return parts.Add(handle);
    };
    return delimiter.empty() ? SplitAtSpace(text, most, found)
                             : SplitAtDelimiter(text, delimiter, most, found);
  }

  // Writes the handles of the parts of string i to row i of the result, filled
  // up with the handle of the empty string.
  Status Pad(const LibraryCall& call, int64_t count, int64_t most_parts,
             const Scratch<int64_t>& parts) {
    EMBER_ASSIGN_OR_RETURN(const int64_t size, Product({count, most_parts}));
    EMBER_RETURN_IF_ERROR(
        AllocateBytes(call, call.allocated[0], size, kHandleSize).status());
    EMBER_ASSIGN_OR_RETURN(const int64_t empty, table_.Intern(""));
    int64_t next = 0;
    for (int64_t i = 0; i < count; ++i) {
      EMBER_RETURN_IF_ERROR(CheckInterrupt(interrupt_));
      const int64_t found = HandleAt(call.memory[1], i);
      for (int64_t k = 0; k < most_parts; ++k) {
        if (k % kAtOnce == kAtOnce - 1)
          EMBER_RETURN_IF_ERROR(CheckInterrupt(interrupt_));
        const bool is_part = k < found && next < parts.size();
        SetHandle(call.allocated[0], i * most_parts + k,
                  is_part ? parts[next++] : empty);
      }
    }
    return OkStatus();
  }

  Status StringToNumber(const LibraryCall& call) {
    EMBER_ASSIGN_OR_RETURN(const DType type, ReadType(call.integers[0]));
    EMBER_ASSIGN_OR_RETURN(const int64_t count, Product({call.integers[1]}));
    EMBER_RETURN_IF_ERROR(ExpectBytes(call.memory[0], count, kHandleSize, "x"));
    EMBER_RETURN_IF_ERROR(
        ExpectBytes(call.memory[1], count, DTypeByteSize(type), "result"));
    for (int64_t i = 0; i < count; ++i) {
      EMBER_ASSIGN_OR_RETURN(const std::string_view text,
                             Text(call, HandleAt(call.memory[0], i)));
      EMBER_ASSIGN_OR_RETURN(const uint64_t bits, ParseNumber(text, type));
      tensor::StoreElement(call.memory[1].data, i, type, bits);
    }
    return OkStatus();
  }

  Status NumberToString(const LibraryCall& call) {
    EMBER_ASSIGN_OR_RETURN(const DType type, ReadType(call.integers[0]));
    EMBER_ASSIGN_OR_RETURN(const int64_t count, Product({call.integers[1]}));
    EMBER_RETURN_IF_ERROR(
        ExpectBytes(call.memory[0], count, DTypeByteSize(type), "x"));
    EMBER_RETURN_IF_ERROR(
        ExpectBytes(call.memory[1], count, kHandleSize, "result"));
    for (int64_t i = 0; i < count; ++i) {
      EMBER_RETURN_IF_ERROR(CheckInterrupt(interrupt_));
      EMBER_ASSIGN_OR_RETURN(
          const int64_t handle,
          table_.Intern(NumberText(
              tensor::LoadElement(call.memory[0].data, i, type), type)));
      SetHandle(call.memory[1], i, handle);
    }
    return OkStatus();
  }

  Status RegexFullMatch(const LibraryCall& call) {
    EMBER_ASSIGN_OR_RETURN(const int64_t count, Product({call.integers[0]}));
    EMBER_ASSIGN_OR_RETURN(const std::string_view pattern,
                           table_.Get(call.integers[1]));
    EMBER_RETURN_IF_ERROR(Expect(pattern.size() <= kMaxPatternBytes,
                                 "a regular expression of at most 4096 bytes",
                                 static_cast<int64_t>(pattern.size())));
    EMBER_RETURN_IF_ERROR(ExpectBytes(call.memory[0], count, kHandleSize, "x"));
    EMBER_RETURN_IF_ERROR(ExpectBytes(call.memory[1], count, 1, "result"));
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kPatternMemory);
    const RE2 expression(re2::StringPiece(pattern.data(), pattern.size()),
                         options);
    if (!expression.ok()) {
      constexpr size_t kShown = 64;
      return InvalidArgumentError(
          Concat({"expected a regular expression as RE2 has them, found '",
                  pattern.substr(0, kShown), "' (", expression.error(), ")"}));
    }
    // RE2 visits all states of its program for each byte in the worst case, so
    // the bytes count as work once per state.
    const int64_t states = expression.ProgramSize();
    for (int64_t i = 0; i < count; ++i) {
      EMBER_ASSIGN_OR_RETURN(
          const std::string_view text,
          Text(call, HandleAt(call.memory[0], i), /*times=*/states));
      EMBER_RETURN_IF_ERROR(Expect(
          static_cast<int64_t>(text.size()) <= kMaxMatchSteps / states,
          "strings of fewer bytes for a regular expression of so many states",
          static_cast<int64_t>(text.size())));
      call.memory[1].data[i] = RE2::FullMatch(
          re2::StringPiece(text.data(), text.size()), expression);
    }
    return OkStatus();
  }

  Status StringRank(const LibraryCall& call) {
    // approximate number of comparisons per string when many strings are
    // sorted; it is used to estimate the work
    constexpr int64_t kComparisons = 16;
    // Number of bytes whose comparison takes as long as the other work of
    // comparing two strings.
    constexpr int64_t kComparedAtOnce = 64;
    EMBER_ASSIGN_OR_RETURN(const int64_t count, Product({call.integers[0]}));
    EMBER_RETURN_IF_ERROR(ExpectBytes(call.memory[0], count, kHandleSize, "x"));
    EMBER_RETURN_IF_ERROR(
        ExpectBytes(call.memory[1], count, kHandleSize, "result"));
    // For each handle, the rank of the string, or -1 if x does not contain the
    // string.
    Scratch<int64_t> ranks(call.pool);
    Scratch<int64_t> used(call.pool);
    EMBER_RETURN_IF_ERROR(ranks.Resize(table_.size()));
    std::fill(ranks.begin(), ranks.end(), int64_t{-1});
    int64_t longest = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t handle = HandleAt(call.memory[0], i);
      EMBER_ASSIGN_OR_RETURN(const std::string_view text,
                             Text(call, handle, kComparisons));
      if (std::exchange(ranks[handle], 0) == 0) continue;
      longest = std::max(longest, static_cast<int64_t>(text.size()));
      EMBER_RETURN_IF_ERROR(used.Add(handle));
    }
    EMBER_RETURN_IF_ERROR(Sort(
        call, {used.begin(), used.end()},
        [&](int64_t a, int64_t b) { return *table_.Get(a) < *table_.Get(b); },
        std::max<int64_t>(2, kAtOnce / (1 + longest / kComparedAtOnce))));
    for (int64_t i = 0; i < used.size(); ++i) ranks[used[i]] = i;
    for (int64_t i = 0; i < count; ++i) {
      EMBER_RETURN_IF_ERROR(CheckInterrupt(interrupt_));
      const int64_t handle = HandleAt(call.memory[0], i);
      // The handle is checked again, because another thread may have changed it
      // meanwhile.
      EMBER_RETURN_IF_ERROR(table_.Get(handle).status());
      SetHandle(call.memory[1], i, std::max<int64_t>(ranks[handle], 0));
    }
    return OkStatus();
  }

  StringTable table_;
  const Interrupt* interrupt_ = nullptr;  // interrupt of the run
};

}  // namespace

std::unique_ptr<StringSupport> NewStringSupport(int64_t byte_limit) {
  return std::make_unique<Strings>(byte_limit);
}

}  // namespace ember::vm

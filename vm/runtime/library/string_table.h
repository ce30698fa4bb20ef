// The table of the strings of a run. Each has one handle, so equal strings have
// equal handles.
//
//   StringTable table(1 << 20);
//   EMBER_RETURN_IF_ERROR(table.Reset(module.strings));
//   EMBER_ASSIGN_OR_RETURN(int64_t handle, table.Intern("text"));
//   EMBER_ASSIGN_OR_RETURN(std::string_view text, table.Get(handle));
//
// The returned views are valid until the next Reset. Not thread-safe.
#ifndef EMBER_VM_RUNTIME_LIBRARY_STRING_TABLE_H_
#define EMBER_VM_RUNTIME_LIBRARY_STRING_TABLE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "base/status.h"

namespace ember::vm {

class StringTable {
 public:
  // Makes an empty table. byte_limit is the largest number of bytes of all
  // strings except the initial ones. Each string counts 128 bytes more than it
  // has.
  explicit StringTable(int64_t byte_limit) : byte_limit_(byte_limit) {}

  // Removes all strings but those in `initial`, which must differ and get the
  // handles 0, 1, …. The caller keeps them alive. If they are the same as in
  // the last call, Reset takes little time. If the interrupt, which may be
  // null, stops the work, Reset returns the interrupt's status, and the next
  // Reset continues the work.
  Status Reset(std::span<const std::string> initial,
               const Interrupt* interrupt = nullptr);

  // Returns the handle of a text, which is added if it is new. Returns
  // ResourceExhausted if the limit is exceeded.
  StatusOr<int64_t> Intern(std::string_view text);
  // Counts the bytes of a string once more under the limit, for a copy that is
  // kept elsewhere.
  Status Charge(std::string_view text);
  // Returns the string with this handle. Returns InvalidArgument if there is
  // none.
  StatusOr<std::string_view> Get(int64_t handle) const;

  int64_t size() const { return static_cast<int64_t>(views_.size()); }
  int64_t byte_limit() const { return byte_limit_; }
  // Returns the number of bytes that a string counts under the limit.
  static int64_t Cost(std::string_view text) {
    return static_cast<int64_t>(text.size()) + kEntryBytes;
  }

 private:
  // Number of bytes that a string counts in addition to its text, for its
  // entries in owned_ and the list of handles.
  static constexpr int64_t kEntryBytes = 128;

  const int64_t byte_limit_;
  int64_t bytes_ = 0;
  std::span<const std::string> initial_;
  // Holds the strings that Intern added. The caller of Reset owns the others.
  std::deque<std::string> owned_;
  std::vector<std::string_view> views_;  // strings by handle
  // The handle of each string. It is not a hash table, because an attacker can
  // easily make texts with equal hashes.
  std::map<std::string_view, int64_t> handles_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_LIBRARY_STRING_TABLE_H_

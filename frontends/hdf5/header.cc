// Object headers: the messages that describe a group or a dataset.
#include <utility>

#include "base/byte_cursor.h"
#include "frontends/hdf5/file.h"
#include "frontends/hdf5/message_types.h"

namespace ember::hdf5 {
namespace {

constexpr uint64_t kSharedFlag = 2;
constexpr size_t kMaxMessages = 1 << 16;

Status CutOff(uint64_t address) {
  return DataLossError("HDF5 object header at " + std::to_string(address) +
                       ": cut off");
}

}  // namespace

const File::Message* File::FindMessage(const Messages& messages,
                                       uint64_t type) {
  for (const Message& message : messages)
    if (message.type == type) return &message;
  return nullptr;
}

StatusOr<const File::Messages*> File::Header(uint64_t address) {
  const auto found = headers_.find(address);
  if (found != headers_.end()) return &found->second;
  EMBER_ASSIGN_OR_RETURN(Messages messages, ReadHeader(address));
  return &headers_.emplace(address, std::move(messages)).first->second;
}

StatusOr<File::Messages> File::ReadHeader(uint64_t address) {
  EMBER_ASSIGN_OR_RETURN(const auto rest, From(address));
  ByteCursor in(rest);
  const bool is_new = AsText(rest).starts_with("OHDR");
  Messages messages;
  std::vector<std::pair<uint64_t, uint64_t>> more;  // (address, size)
  MessageLayout layout;
  if (is_new) {
    in.Skip(4);
    const uint64_t version = in.Unsigned(1);
    const uint64_t flags = in.Unsigned(1);
    if (version != 2) {
      return DataLossError("HDF5 object header at " + std::to_string(address) +
                           ": expected version 2, found " +
                           std::to_string(version));
    }
    if ((flags & 0x20) != 0) in.Skip(16);
    if ((flags & 0x10) != 0) in.Skip(4);
    const bool has_order = (flags & 0x04) != 0;
    const uint64_t size = in.Unsigned(1 << (flags & 3));
    const std::span<const uint8_t> block = in.Take(size);
    if (!in.ok()) return CutOff(address);
    EMBER_RETURN_IF_ERROR(Charge(size));
    layout = {.type_width = 1, .unused = has_order ? 2u : 0u};
    EMBER_RETURN_IF_ERROR(ReadMessages(block, layout, messages, more));
  } else {
    const uint64_t version = in.Unsigned(1);
    if (version != 1) {
      return DataLossError("HDF5 object header at " + std::to_string(address) +
                           ": expected version 1 or 2, found " +
                           std::to_string(version));
    }
    in.Skip(1 + 2 + 4);
    const uint64_t size = in.Unsigned(4);
    in.Skip(4);
    const std::span<const uint8_t> block = in.Take(size);
    if (!in.ok()) return CutOff(address);
    EMBER_RETURN_IF_ERROR(Charge(size));
    EMBER_RETURN_IF_ERROR(ReadMessages(block, layout, messages, more));
  }
  // A continuation block may name further blocks. Each block is charged to the
  // file's budget, so the loop ends.
  for (size_t i = 0; i < more.size(); ++i) {
    EMBER_ASSIGN_OR_RETURN(auto block, At(more[i].first, more[i].second));
    if (is_new) {
      // A continuation block consists of "OCHK", messages, and a checksum of 4
      // bytes.
      if (block.size() < 8 || !AsText(block).starts_with("OCHK")) {
        return DataLossError("HDF5 object header at " +
                             std::to_string(address) +
                             ": expected a continuation at " +
                             std::to_string(more[i].first) + ", found none");
      }
      block = block.subspan(4, block.size() - 8);
    }
    EMBER_RETURN_IF_ERROR(ReadMessages(block, layout, messages, more));
  }
  return messages;
}

Status File::ReadMessages(std::span<const uint8_t> block,
                          const MessageLayout& layout, Messages& messages,
                          std::vector<std::pair<uint64_t, uint64_t>>& more) {
  const Status cut_off =
      DataLossError("HDF5 object header: its messages are cut off");
  ByteCursor in(block);
  // Fewer bytes than a message's fixed fields are an unused gap at the end of
  // the block.
  while (in.remaining() >= layout.prefix()) {
    Message message;
    message.type = in.Unsigned(layout.type_width);
    const uint64_t size = in.Unsigned(2);
    message.shared = (in.Unsigned(1) & kSharedFlag) != 0;
    in.Skip(layout.unused);
    message.data = in.Take(size);
    if (!in.ok() || messages.size() >= kMaxMessages) return cut_off;
    if (message.type != kContinuation) {
      messages.push_back(message);
      continue;
    }
    ByteCursor where(message.data);
    const uint64_t address = Address(where);
    more.emplace_back(address, Length(where));
    if (!where.ok()) return cut_off;
  }
  return OkStatus();
}

}  // namespace ember::hdf5

// Passes the bytes of a module's file to a function, in order, so that they can
// be written anywhere (vm/format/writer.h writes them to a file).
//
//   EMBER_RETURN_IF_ERROR(WritePieces(
//       definition, [&](std::string_view bytes, const PiecePosition& position) {
//         return Send(bytes);   // position.done of position.total are sent
//       }));
//
// The module is verified first, as WriteModule does. A piece has at most
// kMaxPieceBytes. An error of the function ends the call, which returns it.
#ifndef EMBER_VM_FORMAT_MODULE_PIECES_H_
#define EMBER_VM_FORMAT_MODULE_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/status.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

inline constexpr size_t kMaxPieceBytes = size_t{8} << 20;

// number of the file's bytes before the piece, and of all bytes of the file
struct PiecePosition {
  int64_t done = 0, total = 0;
};

Status WritePieces(
    const ModuleDefinition& module,
    const std::function<Status(std::string_view bytes,
                               const PiecePosition& position)>& write);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_MODULE_PIECES_H_

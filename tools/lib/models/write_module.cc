#include "tools/lib/models/write_module.h"

#include <optional>
#include <string_view>
#include <utility>

#include "base/atomic_file_writer.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/cli/standard_streams.h"
#include "vm/format/module_pieces.h"

namespace ember::tools {

Status WriteModuleFile(const vm::ModuleDefinition& module,
                       const std::string& path, ShownProgress* progress) {
  // The display is shown at once, because the first bytes are ready only after
  // all constants have been hashed.
  EMBER_RETURN_IF_ERROR(ReportStep(progress, {"write", path, 0, 0}));
  std::optional<AtomicFileWriter> writer;
  if (path != kStandardStream) {
    EMBER_ASSIGN_OR_RETURN(AtomicFileWriter created,
                           AtomicFileWriter::Create(UserPath(path)));
    writer.emplace(std::move(created));
  }
  EMBER_RETURN_IF_ERROR(vm::WritePieces(
      module,
      [&](std::string_view bytes, const vm::PiecePosition& position) -> Status {
        EMBER_RETURN_IF_ERROR(ReportStep(
            progress, {"write", path, position.done, position.total}));
        return writer ? writer->Write(bytes) : WriteTakenStdout(bytes);
      }));
  if (writer)
    EMBER_RETURN_IF_ERROR(writer->Commit(Durability::kSurvivesPowerLoss));
  if (progress != nullptr) progress->Clear();
  return OkStatus();
}

}  // namespace ember::tools

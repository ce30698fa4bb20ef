#include "frontends/gguf/format.h"

#include "frontends/gguf/gguf_file.h"
#include "frontends/gguf/import.h"

namespace ember::gguf {
namespace {

constexpr std::string_view kExtensions[] = {".gguf"};

}  // namespace

constinit const frontends::Format kFormat = {
    .name = "gguf",
    .title = "GGUF: language models of llama.cpp",
    .extensions = kExtensions,
    .sniff = GgufFile::IsGguf,
    .import = ImportModel,
    .inputs = ModelInputs,
};

}  // namespace ember::gguf

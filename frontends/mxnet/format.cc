#include "frontends/mxnet/format.h"

#include "frontends/mxnet/import.h"
#include "frontends/mxnet/params.h"
#include "frontends/mxnet/symbol.h"

namespace ember::mxnet {
namespace {

// True for the contents of each of a model's two files, the symbol and the
// parameters.
bool Sniff(std::string_view contents) {
  return IsSymbol(contents) || IsParams(contents);
}

constexpr std::string_view kExtensions[] = {"-symbol.json", ".params"};

}  // namespace

constinit const frontends::Format kFormat = {
    .name = "mxnet",
    .title = "MXNet 1.x (NAME-symbol.json with NAME-0000.params beside it)",
    .extensions = kExtensions,
    .sniff = Sniff,
    .import = ImportModel,
    .inputs = ModelInputs,
};

}  // namespace ember::mxnet

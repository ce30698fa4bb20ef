// vm-sign: makes keys, and signs the native kernels of a module with one.
#include <cstdio>
#include <string>
#include <vector>

#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/output_path.h"
#include "tools/lib/prejit/sign.h"

namespace ember::tools {
namespace {

struct Options {
  std::vector<std::string> models;
  std::string key, output, make_keys;
};

void Declare(Options& options, Flags& flags) {
  flags.Positional("MODEL.vmfb or an overlay", 0, 1, &options.models);
  flags.Add("key", &options.key, "NAME.secret", "Signs with this key.");
  flags.Add("o", &options.output, "FILE",
            "Writes the signed module to this file.");
  flags.Add("make-keys", &options.make_keys, "NAME",
            "Makes NAME.secret and NAME.public, and stops.");
  flags.Example("vm-sign --make-keys=release");
  flags.Example("vm-sign app.vmfb --key=release.secret -o app.vmfb");
  flags.Example("vm-run app.vmfb --key=release.public");
}

Status Run(const Options& options) {
  if (!options.make_keys.empty()) {
    if (!options.models.empty() || !options.key.empty() ||
        !options.output.empty()) {
      return CommandLineError(
          "--make-keys: expected nothing beside it, as it signs nothing");
    }
    EMBER_RETURN_IF_ERROR(MakeKeys(options.make_keys));
    std::printf(
        "%s.secret signs, and must stay with you; %s.public is for those who "
        "run\n",
        options.make_keys.c_str(), options.make_keys.c_str());
    return OkStatus();
  }
  if (options.models.empty() || options.key.empty() || options.output.empty()) {
    return CommandLineError(
        "expected MODEL.vmfb, --key=NAME.secret and -o FILE (see --help)");
  }
  EMBER_RETURN_IF_ERROR(CheckOutputFile("-o", options.output));
  return SignModule(options.models[0], options.key, options.output);
}

}  // namespace
}  // namespace ember::tools

int main(int argc, char** argv) {
  using namespace ember::tools;
  Options options;
  Flags flags("vm-sign", "MODEL.vmfb --key=NAME.secret -o OUT.vmfb",
              "Signs the native kernels of a module or overlay, so that those "
              "who trust the "
              "key can let them run.");
  Declare(options, flags);
  return RunTool(argc, argv, flags, [&options] { return Run(options); });
}

// Makes keys for native code, and signs modules with them (Ed25519, by
// libsodium).
//
//   EMBER_RETURN_IF_ERROR(MakeKeys("release"));    // release.secret, .public
//   EMBER_RETURN_IF_ERROR(SignModule("app.vmfb", "release.secret",
//                                    "app.vmfb"));
//   EMBER_ASSIGN_OR_RETURN(Ed25519Key key, ReadPublicKey("release.public"));
//
// A key file is one line of hexadecimal digits. Paths are as the user typed
// them. Thread-safe.
#ifndef EMBER_TOOLS_LIB_PREJIT_SIGN_H_
#define EMBER_TOOLS_LIB_PREJIT_SIGN_H_

#include <string>

#include "base/ed25519.h"
#include "base/status.h"

namespace ember::tools {

// Writes NAME.public, and NAME.secret, which only its owner may read. Error:
// one of the files exists.
Status MakeKeys(const std::string& name);

// Writes the module or overlay to `output`, with a signature that replaces any
// earlier one.
Status SignModule(const std::string& module, const std::string& secret_file,
                  const std::string& output);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_PREJIT_SIGN_H_

// Reads the public key with which native code must be signed to be trusted.
//
//   EMBER_ASSIGN_OR_RETURN(Ed25519Key key, ReadPublicKey("release.public"));
//
// Thread-safe.
#ifndef EMBER_TOOLS_LIB_CLI_PUBLIC_KEY_H_
#define EMBER_TOOLS_LIB_CLI_PUBLIC_KEY_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/ed25519.h"
#include "base/status.h"

namespace ember::tools {

// Reads the public key from a file that `vm-sign --make-keys` has written. The
// path is the one that the user typed; UserPath resolves it here.
StatusOr<Ed25519Key> ReadPublicKey(const std::string& path);

// Returns a text line with two hexadecimal digits for each of `count` bytes.
// ParseHexLine parses such a line.
std::string HexLine(const unsigned char* bytes, size_t count);
StatusOr<std::vector<uint8_t>> ParseHexLine(std::string_view text,
                                            size_t count);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_PUBLIC_KEY_H_

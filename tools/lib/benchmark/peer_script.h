// The text of peer_ort.mjs, which node runs (peer.h).
#ifndef EMBER_TOOLS_LIB_BENCHMARK_PEER_SCRIPT_H_
#define EMBER_TOOLS_LIB_BENCHMARK_PEER_SCRIPT_H_

namespace ember::tools {

extern const char kPeerScript[];

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_BENCHMARK_PEER_SCRIPT_H_

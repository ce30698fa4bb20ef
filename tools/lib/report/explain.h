// Prints the table of --explain: for each dispatch that ran, what it computes,
// which tier ran it or why there was no kernel, and how near to the machine's
// limits it is.
//
//   std::string text = ExplainText(*session, tier.tiering.get(),
//                                  jit::MeasureMachineLimits(threads), 30);
//
// The table has at most `rows` dispatches, those that took the most time first;
// a line below it says what the others took.
//
// The session must have been made with SessionOptions::trace. The roofline is
// the larger of operations / peak and bytes / read rate, for a working set of
// that size (jit/target/peak.h). The table gives the roofline's share of
// the median time, and which of the two it was.
#ifndef EMBER_TOOLS_LIB_REPORT_EXPLAIN_H_
#define EMBER_TOOLS_LIB_REPORT_EXPLAIN_H_

#include <cstddef>
#include <string>

#include "jit/target/peak.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/session.h"

namespace ember::tools {

// Returns the table for a session that runs on the host. `tiering` is null at
// tier 0.
std::string ExplainText(const vm::Session& session, const vm::Tiering* tiering,
                        const jit::MachineLimits& limits, size_t rows);
// Returns the table for a session on another device. The limits of such a
// device are not known, so the table has rates instead of shares of the
// roofline. A column says where each dispatch ran.
std::string ExplainDeviceText(const vm::Session& session,
                              const vm::Tiering* tiering,
                              const std::string& device, size_t rows);

// Returns all dispatches of the table as a JSON list of objects with the fields
// dispatch, nodes, calls, total_ms, median_us, share (0 to 1), operations,
// bytes, tier and computes. Objects of a session on the host have roofline_us
// and bound, too, which needs the machine's limits; on a device they have
// where.
std::string ExplainJson(const vm::Session& session, const vm::Tiering* tiering,
                        const jit::MachineLimits& limits);
std::string ExplainDeviceJson(const vm::Session& session,
                              const vm::Tiering* tiering,
                              const std::string& device);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_EXPLAIN_H_

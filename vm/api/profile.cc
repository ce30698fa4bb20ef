// Implements the functions for a session's profile and trace.
#include <algorithm>

#include "vm/api/handles.h"

namespace ember::api {

int32_t SessionProfile(EmberSession* session) {
  if (session == nullptr || !session->is_profiled || !session->CheckIdle().ok())
    return 0;
  session->profile = session->session->Profile();
  return static_cast<int32_t>(session->profile.size());
}

EmberStatus SessionProfileRow(const EmberSession* session, int32_t index,
                              EmberProfileRow* row) {
  if (session == nullptr || row == nullptr)
    return Report(NullError("session_profile_row"));
  const Status found = CheckIndex("profile", index, session->profile.size());
  if (!found.ok()) return Report(found);
  const vm::SiteProfile& site = session->profile[static_cast<size_t>(index)];
  EmberProfileRow all = {};
  all.dispatch = site.dispatch.data();
  all.origin = site.origin.data();
  all.program = site.program.data();
  all.plan = site.plan.c_str();
  all.calls = site.calls;
  all.total_ns = site.total_ns;
  std::copy_n(site.tier_calls, 3, all.tier_calls);
  all.tier = site.tier;
  Fill(all, row);
  return EMBER_OK;
}

int64_t SessionTrace(EmberSession* session) {
  if (session == nullptr || !session->CheckIdle().ok()) return 0;
  return static_cast<int64_t>(session->session->trace().size());
}

EmberStatus SessionTraceEvent(EmberSession* session, int64_t index,
                              EmberTraceEvent* event) {
  if (session == nullptr || event == nullptr)
    return Report(NullError("session_trace_event"));
  const Status idle = session->CheckIdle();
  if (!idle.ok()) return Report(idle);
  const std::span<const vm::TraceEvent> trace = session->session->trace();
  const Status found = CheckIndex("trace", index, trace.size());
  if (!found.ok()) return Report(found);
  const vm::TraceEvent& from = trace[static_cast<size_t>(index)];
  EmberTraceEvent all = {};
  // The pointer into the name can be returned, because the name is a view of
  // the module's own string, which ends with a zero byte.
  all.dispatch = session->session->SiteName(from.site).data();
  all.begin_ns = from.begin_ns;
  all.end_ns = from.end_ns;
  all.thread = from.thread;
  Fill(all, event);
  return EMBER_OK;
}

EmberStatus SessionProfileReset(EmberSession* session) {
  if (session == nullptr) return Report(NullError("session_profile_reset"));
  const Status idle = session->CheckIdle();
  if (idle.ok()) session->session->ResetProfile();
  return Report(idle);
}

}  // namespace ember::api

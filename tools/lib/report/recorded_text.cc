#include "tools/lib/report/recorded_text.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "vm/format/recorded_profile.h"
#include "vm/isa/limits.h"

namespace ember::tools {

std::string RecordedText(const vm::Session& session) {
  const vm::Module& module = session.module();
  std::map<uint32_t, vm::DispatchProfile> dispatches;
  const std::vector<vm::SiteProfile> sites = session.Profile();
  for (size_t i = 0; i < sites.size(); ++i) {
    const uint32_t number = module.sites()[i].dispatch;
    vm::DispatchProfile& dispatch = dispatches[number];
    dispatch.dispatch = number;
    for (const vm::DispatchProfile::Shape& shape : sites[i].shapes) {
      auto found = std::ranges::find(dispatch.shapes, shape.parameters,
                                     &vm::DispatchProfile::Shape::parameters);
      if (found != dispatch.shapes.end()) {
        found->calls += shape.calls;
        found->ns += shape.ns;
      } else if (dispatch.shapes.size() < vm::kMaxProfileShapes) {
        dispatch.shapes.push_back(shape);
      }
    }
  }
  std::vector<vm::DispatchProfile> profile;
  for (auto& [number, dispatch] : dispatches) {
    if (!dispatch.shapes.empty()) profile.push_back(std::move(dispatch));
  }
  vm::SortByTime(profile);
  return "// Recorded by vm-run: calls and times by the values of the "
         "dispatch's parameters.\n" +
         vm::PrintRecordedProfile(module.definition(), profile);
}

}  // namespace ember::tools

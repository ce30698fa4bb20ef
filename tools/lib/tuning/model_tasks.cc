#include "tools/lib/tuning/model_tasks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "tools/lib/cli/device.h"
#include "tools/lib/media/image_decoder.h"
#include "tools/lib/models/bind.h"
#include "tools/lib/tensors/random.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/library/string_functions.h"
#include "vm/runtime/session.h"

namespace ember::tools {
namespace {

// The number of calls with the same parameters, for a group of sites.
struct Calls {
  std::vector<int64_t> parameters;
  int64_t count = 0;
};
using CallsByGroup = std::map<uint32_t, std::vector<Calls>>;

// True if the module's calls do not depend on its inputs: it has only one
// program, so no bodies of loops or branches, and no dispatch has parameters.
bool IsStatic(const vm::Module& module) {
  return module.definition().programs.size() == 1 &&
         std::ranges::all_of(module.sites(), [&](const vm::DispatchSite& site) {
           return module.definition()
               .dispatches[site.dispatch]
               .parameters.empty();
         });
}

// Runs the model once at tier 0 and returns the profile, which has the calls of
// each site.
StatusOr<std::vector<vm::SiteProfile>> ProfileOf(
    const std::shared_ptr<const vm::Module>& module,
    const std::vector<NamedShape>& shapes) {
  RandomTensors random(0);
  EMBER_ASSIGN_OR_RETURN(const std::vector<vm::Tensor> inputs,
                         BindInputs(*module, {}, shapes, random));
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<hal::Device> device,
                         OpenDevice("cpu", 1));
  EMBER_ASSIGN_OR_RETURN(
      const std::unique_ptr<vm::Session> session,
      vm::Session::Create(module, {.device = device,
                                   .strings = vm::NewStringSupport,
                                   .images = DecodeImage,
                                   .profile = true}));
  std::vector<vm::Tensor> results;
  EMBER_RETURN_IF_ERROR(session->Run(inputs, &results));
  return session->Profile();
}

StatusOr<CallsByGroup> CallsOf(const std::shared_ptr<const vm::Module>& module,
                               const std::vector<NamedShape>& shapes) {
  CallsByGroup calls;
  if (IsStatic(*module)) {
    for (const vm::DispatchSite& site : module->sites()) {
      std::vector<Calls>& group = calls[site.group];
      if (group.empty()) group.emplace_back();
      ++group[0].count;
    }
    return calls;
  }
  EMBER_ASSIGN_OR_RETURN(const std::vector<vm::SiteProfile> profile,
                         ProfileOf(module, shapes));
  for (size_t i = 0; i < profile.size(); ++i) {
    std::vector<Calls>& group = calls[module->sites()[i].group];
    for (const vm::DispatchProfile::Shape& shape : profile[i].shapes) {
      const auto found =
          std::ranges::find(group, shape.parameters, &Calls::parameters);
      if (found == group.end())
        group.push_back({shape.parameters, shape.calls});
      else
        found->count += shape.calls;
    }
  }
  return calls;
}

}  // namespace

StatusOr<std::vector<tune::Task>> TasksOf(
    const std::shared_ptr<const vm::Module>& module, const std::string& target,
    const std::vector<NamedShape>& shapes) {
  EMBER_ASSIGN_OR_RETURN(const CallsByGroup calls, CallsOf(module, shapes));
  std::vector<tune::Task> tasks;
  for (const auto& [group, shapes_of_group] : calls) {
    vm::KernelRequest request = vm::RequestFor(module, group);
    request.target = target;
    for (const Calls& shape : shapes_of_group) {
      request.parameters = shape.parameters;
      tune::Task task = tune::MakeTask(request);
      task.calls = static_cast<double>(shape.count);
      std::vector<tune::Task> one;
      one.push_back(std::move(task));
      MergeTasks(std::move(one), tasks);
    }
  }
  return tasks;
}

void MergeTasks(std::vector<tune::Task> tasks, std::vector<tune::Task>& all) {
  for (tune::Task& task : tasks) {
    const auto found = std::ranges::find_if(all, [&](const tune::Task& other) {
      return other.key == task.key &&
             other.request.target == task.request.target;
    });
    if (found == all.end())
      all.push_back(std::move(task));
    else
      found->calls += task.calls;
  }
}

}  // namespace ember::tools

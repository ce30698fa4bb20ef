#include "vm/runtime/native_kernels.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/concat.h"
#include "base/hash.h"
#include "hal/cpu/cpu_target.h"
#include "tensor/concrete_header.h"
#include "vm/format/module_signature.h"
#include "vm/format/native_kernels.h"
#include "vm/interpreter/plan.h"
#include "vm/isa/limits.h"
#include "vm/runtime/code_memory.h"
#include "vm/runtime/cpu_kernel.h"
#include "vm/runtime/kernel_layout.h"

namespace ember::vm {
namespace {

Status Unfit(std::string_view expected) {
  return InvalidArgumentError(
      Concat({"expected ", expected, ", found another"}));
}

// Whether the image is one of this dispatch, as this runtime calls kernels.
Status CheckFits(const KernelImage& image, const tensor::Dispatch& dispatch) {
  const size_t operands = dispatch.input_count() + dispatch.output_count();
  const size_t parameters = dispatch.parameters.size();
  if (image.shape.empty() ? image.parameter_count != parameters
                          : image.shape.size() != parameters)
    return Unfit("the parameters of its dispatch");
  if (image.buffers.size() < operands)
    return Unfit("the buffers of its dispatch");
  for (size_t i = 0; i < image.buffers.size(); ++i) {
    const bool is_operand = i < operands;
    const KernelBuffer& buffer = image.buffers[i];
    const KernelScope scope =
        i < dispatch.input_count() ? KernelScope::kInput : KernelScope::kOutput;
    // Dims may be split or merged; the elements are the same.
    if (is_operand ? buffer.scope != scope ||
                         buffer.type != dispatch.buffers[i].type ||
                         buffer.alignment >
                             static_cast<uint32_t>(DTypeByteSize(buffer.type))
                   : buffer.scope <= KernelScope::kOutput)
      return Unfit("the buffers of its dispatch");
  }
  for (uint32_t i = 0; i < dispatch.input_count(); ++i) {
    for (size_t o = dispatch.input_count(); o < operands; ++o) {
      if (!image.buffers[i].may_be_overwritten &&
          MayAlias(dispatch, static_cast<int>(i), static_cast<int>(o)))
        return Unfit("operands that may share memory as those of its dispatch");
    }
  }
  // With open extents that is left to the maker's care.
  if (image.parameter_count > 0) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(
      const tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(dispatch, image.shape));
  EMBER_ASSIGN_OR_RETURN(const KernelLayout layout,
                         LayOutKernel(image, {}, kMemoryAlignment));
  for (size_t i = 0; i < operands; ++i) {
    const tensor::Buffer& buffer = dispatch.buffers[i];
    if (layout.bytes[i] !=
        header.ElementCount(buffer) * DTypeByteSize(buffer.type))
      return Unfit("the extents of its dispatch");
  }
  return OkStatus();
}

class Installer {
 public:
  Installer(Tiering& tiering, const NativeOptions& options)
      : tiering_(tiering), options_(options), module_(tiering.module()) {
    report_.all_dispatches = module_.group_count();
  }

  NativeReport Run() {
    const std::vector<NativeSection>& natives = module_.definition().natives;
    report_.sections = static_cast<int>(natives.size());
    if (!natives.empty() && options_.key != nullptr) {
      const Status status =
          VerifySignature(module_.definition(), *options_.key);
      if (!status.ok()) {
        report_.refused.push_back(
            Concat({"native kernels: ", status.message()}));
        return std::move(report_);
      }
    }
    std::vector<const NativeSection*> sections;
    for (const NativeSection& section : natives) {
      const std::string missing = hal::MissingFeatures(section.target);
      if (missing.empty()) {
        sections.push_back(&section);
      } else {
        Refuse(section, "", "this machine lacks " + missing);
      }
    }
    std::ranges::stable_sort(sections, [](const auto* a, const auto* b) {
      return hal::CountFeatures(a->target) > hal::CountFeatures(b->target);
    });
    for (const NativeSection* section : sections) {
      if (done_.size() == module_.group_count()) break;
      const Status status = Use(*section);
      if (!status.ok()) Refuse(*section, "", status.ToString());
    }
    report_.dispatches = done_.size();
    return std::move(report_);
  }

 private:
  struct Wanted {
    size_t group;
    size_t kernel;
  };

  void Refuse(const NativeSection& section, const std::string& dispatch,
              const std::string& why) {
    report_.refused.push_back(
        Concat({"native section ", section.target,
                dispatch.empty() ? "" : ": dispatch @", dispatch, ": ", why}));
  }

  Status Use(const NativeSection& section) {
    const uint64_t hash = HashBytes(section.data);
    if (hash != section.hash) {
      return DataLossError(
          Concat({"expected hash ", section.hash, ", found ", hash}));
    }
    EMBER_ASSIGN_OR_RETURN(std::vector<NativeKernel> kernels,
                           ReadNativeKernels(section.data, section.owner));
    const std::vector<Wanted> wanted = FindWanted(section, kernels);
    if (wanted.empty()) return OkStatus();
    std::vector<const KernelCode*> codes;
    std::vector<size_t> numbers;
    for (const Wanted& one : wanted) {
      const KernelCode& code = kernels[one.kernel].image.code;
      const auto found =
          std::ranges::find_if(codes, [&](const KernelCode* other) {
            return other->bytes.data() == code.bytes.data();
          });
      numbers.push_back(static_cast<size_t>(found - codes.begin()));
      if (found == codes.end()) codes.push_back(&code);
    }
    EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const CodeMemory> memory,
                           CodeMemory::Load(codes));
    bool is_used = false;
    std::set<size_t> groups;
    for (size_t i = 0; i < wanted.size(); ++i) {
      NativeKernel& kernel = kernels[wanted[i].kernel];
      const std::string dispatch = kernel.image.dispatch;
      const Status status =
          Install(wanted[i].group, kernel.image, memory,
                  memory->Functions(kernel.image.code, numbers[i]));
      if (!status.ok()) {
        Refuse(section, dispatch, status.ToString());
        continue;
      }
      is_used = true;
      groups.insert(wanted[i].group);
    }
    done_.insert(groups.begin(), groups.end());
    if (is_used) report_.targets.push_back(section.target);
    return OkStatus();
  }

  // Those for groups that have none of another section.
  std::vector<Wanted> FindWanted(const NativeSection& section,
                                 const std::vector<NativeKernel>& kernels) {
    const ModuleDefinition& definition = module_.definition();
    std::vector<Wanted> wanted;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const NativeKernel& kernel = kernels[i];
      if (kernel.dispatch >= definition.dispatches.size()) {
        Refuse(
            section, kernel.image.dispatch,
            Concat({"expected a dispatch below ", definition.dispatches.size(),
                    ", found ", kernel.dispatch}));
        continue;
      }
      const Status fits =
          CheckFits(kernel.image, definition.dispatches[kernel.dispatch]);
      if (!fits.ok()) {
        Refuse(section, kernel.image.dispatch, fits.ToString());
        continue;
      }
      std::set<size_t> groups;
      for (const DispatchSite& site : module_.sites()) {
        if (site.dispatch == kernel.dispatch &&
            site.inputs == kernel.constants && !done_.contains(site.group) &&
            groups.insert(site.group).second)
          wanted.push_back({site.group, i});
      }
    }
    return wanted;
  }

  Status Install(size_t group, KernelImage image,
                 std::shared_ptr<const CodeMemory> memory,
                 std::vector<PhaseFunction> functions) {
    const std::shared_ptr<KernelSlot>& slot = tiering_.slot(group);
    const KernelRequest request = RequestFor(tiering_.shared_module(), group);
    CpuKernelDefinition definition;
    definition.description = Concat({"of the module, for ", image.target, ", ",
                                     image.phases.size(), " phases"});
    definition.image = std::move(image);
    definition.functions = std::move(functions);
    definition.code = std::move(memory);
    definition.constants = request.constant_data;
    definition.is_settled = !options_.checks_kernels;
    const int tier = definition.image.tier;
    const std::vector<int64_t> shape = definition.image.shape;
    EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CpuKernel> kernel,
                           CpuKernel::Create(std::move(definition)));
    // Nobody needs to be asked for it. If somebody was, that one stays.
    if (!slot->ClaimRequest(tier, shape)) return OkStatus();
    slot->Install(std::move(kernel));
    ++report_.kernels;
    return OkStatus();
  }

  Tiering& tiering_;
  const NativeOptions options_;
  const Module& module_;
  std::set<size_t> done_;  // groups
  NativeReport report_;
};

}  // namespace

std::string NativeReport::Text() const {
  if (sections == 0) return "the module has no native kernels";
  if (kernels == 0) return "no native kernels for this machine";
  std::string text = Concat({"native kernels for ", dispatches, " of ",
                             all_dispatches, " dispatches ("});
  for (size_t i = 0; i < targets.size(); ++i)
    text += (i == 0 ? "" : ", ") + targets[i];
  return text + ")";
}

NativeReport InstallNativeKernels(Tiering& tiering,
                                  const NativeOptions& options) {
  return Installer(tiering, options).Run();
}

}  // namespace ember::vm

#include "vm/runtime/dispatch/native_kernels.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/concat.h"
#include "base/hash.h"
#include "base/page_hints.h"
#include "hal/cpu/target.h"
#include "hal/device_target.h"
#include "tensor/concrete_header.h"
#include "tensor/dispatch_cost.h"
#include "vm/format/module_signature.h"
#include "vm/format/native_kernels.h"
#include "vm/format/native_section.h"
#include "vm/format/native_table.h"
#include "vm/interpreter/plan.h"
#include "vm/isa/limits.h"
#include "vm/runtime/dispatch/first_run.h"
#include "vm/runtime/kernels/cpu_kernel.h"
#include "vm/runtime/kernels/layout.h"
#include "vm/runtime/memory/code_memory.h"

namespace ember::vm {
namespace {

Status Unfit(std::string_view expected) {
  return InvalidArgumentError(
      Concat({"expected ", expected, ", found another"}));
}

// Checks that the image is for this dispatch and follows the calling convention
// of this runtime.
Status CheckFits(const KernelImage& image, const tensor::Dispatch& dispatch) {
  const size_t operands = dispatch.input_count() + dispatch.output_count();
  const size_t parameters = dispatch.parameters.size();
  const bool is_open = image.shape.empty() || OpenParameters(image.shape) > 0;
  if ((is_open && image.parameter_count != parameters) ||
      (!image.shape.empty() && image.shape.size() != parameters))
    return Unfit("the parameters of its dispatch");
  if (image.buffers.size() < operands)
    return Unfit("the buffers of its dispatch");
  for (size_t i = 0; i < image.buffers.size(); ++i) {
    const bool is_operand = i < operands;
    const KernelBuffer& buffer = image.buffers[i];
    const KernelScope scope =
        i < dispatch.input_count() ? KernelScope::kInput : KernelScope::kOutput;
    // The buffer may have other dims than in the dispatch; only the number of
    // elements must be the same.
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
  // Sizes that depend on parameters cannot be checked here; the maker of the
  // image is responsible for them.
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

// The kernels for one target, from one module, overlay file or linked table.
struct Source {
  std::string name;  // name of the source for messages
  std::string target;
  NativeParts parts;
  // object that owns the memory of the kernels; null if the memory stays valid
  std::shared_ptr<const void> owner;
  // True if the code is executed where it is. False if it must be copied to
  // executable memory.
  bool is_linked = false;
  // functions that take the place of code in kernels of a linked table
  std::span<const NativeFunction> functions = {};
};

// Checks that the code has the format that kernels from this source must have.
Status CheckCode(const KernelCode& code, const Source& source, bool is_host) {
  if (!source.functions.empty())
    return code.format == KernelFormat::kCSource ? OkStatus()
                                                 : Unfit("names of functions");
  const CodeConsumer consumer =
      is_host ? CodeConsumer::kHost : CodeConsumer::kDevice;
  if (code.consumer() == consumer) return OkStatus();
  return Unfit(is_host ? "code of a CPU" : "code of a device");
}

Status WrongHash(uint64_t expected, uint64_t found) {
  return DataLossError(Concat({"expected hash ", expected, ", found ", found}));
}

// Returns the functions of the code's phases. A phase names its function, which
// is looked up in `all`.
StatusOr<std::vector<PhaseFunction>> FunctionsOf(
    const KernelCode& code, std::span<const NativeFunction> all) {
  std::vector<PhaseFunction> functions;
  for (const DevicePhase& phase : code.device) {
    const auto named =
        std::ranges::find_if(all, [&](const NativeFunction& function) {
          return function.name == phase.entry_point;
        });
    if (named == all.end()) {
      return InvalidArgumentError(
          Concat({"expected a function ", phase.entry_point, ", found none"}));
    }
    functions.push_back(named->function);
  }
  return functions;
}

// Returns the functions of code that is in executable memory already.
StatusOr<std::vector<PhaseFunction>> FunctionsOf(const KernelCode& code) {
  const auto address = reinterpret_cast<uintptr_t>(code.bytes.data());
  if (address % code.alignment != 0) {
    return InvalidArgumentError(
        Concat({"code: expected an address that is a multiple of ",
                code.alignment, ", found another"}));
  }
  std::vector<PhaseFunction> functions;
  for (const uint32_t entry : code.entries)
    functions.push_back(reinterpret_cast<PhaseFunction>(address + entry));
  return functions;
}

// For a dispatch without parameters, reads the constants that the kernel will
// read completely and without packing them, so that their pages are in memory
// before the first run. A dispatch with fewer points than a constant's elements
// reads only some of them (a table lookup), so such a constant is left out.
void ReadWhatIsRead(const KernelRequest& request) {
  const tensor::Dispatch& dispatch = *request.dispatch;
  if (!dispatch.parameters.empty()) return;
  const auto header = tensor::ConcreteHeader::Evaluate(dispatch, {});
  if (!header.ok()) return;
  const int64_t points = tensor::PointsOf(dispatch, *header);
  for (size_t i = 0; i < request.constant_data.size(); ++i) {
    const std::span<const uint8_t> data = request.constant_data[i];
    const int64_t elements = header->ElementCount(dispatch.buffers[i]);
    const int64_t bytes = elements * DTypeByteSize(dispatch.buffers[i].type);
    if (data.empty() || elements > points) continue;
    ReadAhead(data.first(std::min(data.size(), static_cast<size_t>(bytes))));
  }
}

class Installer {
 public:
  Installer(Tiering& tiering, const NativeOptions& options)
      : tiering_(tiering), options_(options), module_(tiering.module()) {
    report_.all_dispatches = module_.group_count();
    for (size_t group = 0; group < module_.group_count(); ++group) {
      if (HasKernel(group)) done_.insert(group);
    }
  }

  NativeReport Run() {
    if (options_.uses_module) FindSections();
    for (const Overlay& overlay : options_.overlays) FindSection(overlay);
    if (is_host()) {
      for (const void* const table : options_.tables) FindSections(table);
    }
    std::ranges::stable_sort(sources_, [](const Source& a, const Source& b) {
      return hal::CountFeatures(a.target) > hal::CountFeatures(b.target);
    });
    const size_t had = done_.size();
    for (const Source& source : sources_) {
      if (done_.size() == module_.group_count() || !report_.status.ok()) break;
      const Status status = Use(source);
      if (!status.ok()) Refuse(source.name, "", status.ToString());
    }
    report_.dispatches = done_.size() - had;
    return std::move(report_);
  }

 private:
  struct Wanted {
    size_t group;
    size_t kernel;
  };

  bool is_host() const { return options_.device == nullptr; }

  // Reports a step of the installation to the receiver of progress. Returns
  // false if the receiver requests to stop.
  bool Begin(std::string_view item, size_t done, size_t total) {
    if (report_.status.ok()) {
      report_.status = ReportStep(options_.progress,
                                  {"kernels", item, static_cast<int64_t>(done),
                                   static_cast<int64_t>(total)});
    }
    return report_.status.ok();
  }

  bool HasKernel(size_t group) const {
    return tiering_.slot(group)->kernels() != nullptr;
  }

  void Refuse(const std::string& source, const std::string& dispatch,
              std::string_view why) {
    report_.refused.push_back(Concat(
        {source, dispatch.empty() ? "" : ": dispatch @", dispatch, ": ", why}));
  }

  // Adds the sections of the module to the list of sources.
  void FindSections() {
    const std::vector<NativeSection>& natives = module_.definition().natives;
    report_.sections += static_cast<int>(natives.size());
    if (natives.empty()) return;
    if (options_.key != nullptr) {
      const Status status =
          VerifySignature(module_.definition(), *options_.key);
      if (!status.ok()) {
        Refuse("native kernels", "", status.message());
        return;
      }
    }
    for (const NativeSection& section : natives)
      Add(section, "native section " + section.target);
  }

  void FindSection(const Overlay& overlay) {
    ++report_.sections;
    const std::string name = "overlay " + overlay.section.target;
    Status status = CheckIdentity(Identity(), overlay.module);
    if (status.ok() && options_.key != nullptr)
      status = VerifySignature(overlay, *options_.key);
    if (status.ok()) {
      Add(overlay.section, name);
    } else {
      Refuse(name, "", status.message());
    }
  }

  void FindSections(const void* symbol) {
    StatusOr<NativeTable> table = ReadNativeTable(symbol);
    if (!table.ok()) {
      report_.refused.emplace_back(table.status().message());
      ++report_.sections;
      return;
    }
    report_.sections += static_cast<int>(table->entries.size());
    const Status fits = CheckIdentity(Identity(), table->module);
    for (NativeTableEntry& entry : table->entries) {
      const std::string name = "linked kernels " + entry.target;
      if (!fits.ok()) {
        Refuse(name, "", fits.message());
        continue;
      }
      if (entry.functions.empty() && !RunsHere(name, entry.target)) continue;
      if (!Begin(name, 0, 0)) return;
      const uint64_t hash = HashOfParts(entry.parts);
      if (hash != entry.hash) {
        Refuse(name, "", WrongHash(entry.hash, hash).message());
        continue;
      }
      sources_.push_back({.name = name,
                          .target = std::move(entry.target),
                          .parts = entry.parts,
                          .owner = nullptr,
                          .is_linked = true,
                          .functions = entry.functions});
    }
  }

  bool RunsHere(const std::string& name, const std::string& target) {
    const std::string missing =
        is_host() ? hal::MissingFeatures(target)
                  : hal::MissingOnDevice(target, options_.device->target());
    if (!missing.empty()) {
      Refuse(name, "",
             Concat({is_host() ? "this machine" : "the device", " lacks ",
                     missing}));
    }
    return missing.empty();
  }

  void Add(const NativeSection& section, const std::string& name) {
    if (!RunsHere(name, section.target) || !Begin(name, 0, 0)) return;
    const uint64_t hash = HashBytes(HashedPart(section.data));
    if (hash != section.hash) {
      Refuse(name, "", WrongHash(section.hash, hash).ToString());
      return;
    }
    StatusOr<NativeParts> parts = SplitNativeSection(section.data);
    if (!parts.ok()) {
      Refuse(name, "", parts.status().ToString());
      return;
    }
    sources_.push_back({.name = name,
                        .target = section.target,
                        .parts = *parts,
                        .owner = section.owner,
                        .is_linked = false});
  }

  // Returns the identity of the module. It is computed only if needed, that is,
  // for kernels in other files.
  const ModuleIdentity& Identity() {
    if (!identity_) identity_ = IdentityOf(module_.definition());
    return *identity_;
  }

  Status Use(const Source& source) {
    EMBER_ASSIGN_OR_RETURN(std::vector<NativeKernel> kernels,
                           ReadNativeKernels(source.parts, source.owner));
    const std::vector<Wanted> wanted = FindWanted(source, kernels);
    if (wanted.empty()) return OkStatus();
    std::vector<const KernelCode*> codes;
    std::vector<size_t> numbers;
    for (const Wanted& one : wanted) {
      const KernelCode& code = kernels[one.kernel].image.code;
      const auto found =
          std::ranges::find_if(codes, [&](const KernelCode* other) {
            return other->bytes.data() == code.bytes.data() &&
                   other->bytes.size() == code.bytes.size() &&
                   other->alignment == code.alignment;
          });
      numbers.push_back(static_cast<size_t>(found - codes.begin()));
      if (found == codes.end()) codes.push_back(&code);
    }
    std::shared_ptr<const CodeMemory> memory;
    if (!source.is_linked && is_host()) {
      EMBER_ASSIGN_OR_RETURN(memory, CodeMemory::Load(codes));
    }
    bool is_used = false;
    std::set<size_t> groups;
    for (size_t i = 0; i < wanted.size(); ++i) {
      NativeKernel& kernel = kernels[wanted[i].kernel];
      const std::string dispatch = kernel.image.dispatch;
      if (!Begin(dispatch, i, wanted.size())) break;
      const Status status =
          Install(wanted[i].group, source, kernel, memory, numbers[i]);
      if (!status.ok()) {
        Refuse(source.name, dispatch, status.ToString());
        continue;
      }
      is_used = true;
      groups.insert(wanted[i].group);
    }
    done_.insert(groups.begin(), groups.end());
    if (is_used) report_.targets.push_back(source.target);
    return OkStatus();
  }

  // Finds the kernels of a source for those groups that have no kernel from
  // another source.
  std::vector<Wanted> FindWanted(const Source& source,
                                 const std::vector<NativeKernel>& kernels) {
    const ModuleDefinition& definition = module_.definition();
    std::vector<Wanted> wanted;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const NativeKernel& kernel = kernels[i];
      if (kernel.dispatch >= definition.dispatches.size()) {
        Refuse(
            source.name, kernel.image.dispatch,
            Concat({"expected a dispatch below ", definition.dispatches.size(),
                    ", found ", kernel.dispatch}));
        continue;
      }
      Status fits = CheckCode(kernel.image.code, source, is_host());
      if (fits.ok()) {
        fits = CheckFits(kernel.image, definition.dispatches[kernel.dispatch]);
      }
      if (!fits.ok()) {
        Refuse(source.name, kernel.image.dispatch, fits.ToString());
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
    // A slot prefers the kernel that was installed last. Therefore kernels for
    // one shape are installed after those for all shapes.
    std::ranges::stable_sort(wanted, {}, [&](const Wanted& one) {
      return !kernels[one.kernel].image.shape.empty();
    });
    return wanted;
  }

  Status Install(size_t group, const Source& source, const NativeKernel& kernel,
                 const std::shared_ptr<const CodeMemory>& memory,
                 size_t code_number) {
    const std::shared_ptr<KernelSlot>& slot = tiering_.slot(group);
    const KernelRequest request = RequestFor(tiering_.shared_module(), group);
    const std::string description =
        Concat({source.is_linked ? "linked, for " : "of the module, for ",
                kernel.image.target, ", ", kernel.image.phases.size(),
                " phases", kernel.packed.empty() ? "" : ", packed before"});
    if (!is_host()) {
      EMBER_ASSIGN_OR_RETURN(
          std::unique_ptr<Kernel> made,
          options_.device_launcher({.image = kernel.image,
                                    .device = options_.device,
                                    .constants = request.constant_data,
                                    .packed = kernel.packed,
                                    .description = description}));
      PutIntoSlot(kernel, std::move(made), *slot);
      return OkStatus();
    }
    CpuKernelDefinition definition;
    definition.description = description;
    if (memory != nullptr) {
      definition.functions = memory->Functions(kernel.image.code, code_number);
    } else if (source.functions.empty()) {
      EMBER_ASSIGN_OR_RETURN(definition.functions,
                             FunctionsOf(kernel.image.code));
    } else {
      EMBER_ASSIGN_OR_RETURN(definition.functions,
                             FunctionsOf(kernel.image.code, source.functions));
    }
    definition.image = kernel.image;
    definition.code = memory;
    definition.constants = request.constant_data;
    definition.packed = kernel.packed;
    definition.packed_owner = kernel.packed_owner;
    definition.is_settled = !options_.checks_kernels;
    if (kernel.packed.empty()) ReadWhatIsRead(request);
    EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CpuKernel> made,
                           CpuKernel::Create(std::move(definition)));
    PutIntoSlot(kernel, std::move(made), *slot);
    return OkStatus();
  }

  void PutIntoSlot(const NativeKernel& kernel, std::unique_ptr<Kernel> made,
                   KernelSlot& slot) {
    // The request for this kernel is claimed, so that no session requests it
    // from a provider. If it was claimed before, the kernel of that request
    // stays.
    if (!slot.ClaimRequest(kernel.image.tier, kernel.image.shape)) return;
    slot.Install(std::move(made));
    ++report_.kernels;
  }

  Tiering& tiering_;
  const NativeOptions& options_;
  const Module& module_;
  std::optional<ModuleIdentity> identity_;
  std::vector<Source> sources_;
  std::set<size_t> done_;  // numbers of the groups of sites that have a kernel
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

Status CheckNativeTable(const Module& module, const void* symbol) {
  EMBER_ASSIGN_OR_RETURN(const NativeTable table, ReadNativeTable(symbol));
  EMBER_RETURN_IF_ERROR(
      CheckIdentity(IdentityOf(module.definition()), table.module)
          .WithContext("native kernels"));
  std::string lacks;
  for (const NativeTableEntry& entry : table.entries) {
    if (!entry.functions.empty()) return OkStatus();
    const std::string missing = hal::MissingFeatures(entry.target);
    if (missing.empty()) return OkStatus();
    lacks += Concat({lacks.empty() ? "" : "; ", entry.target,
                     ": this machine lacks ", missing});
  }
  return UnimplementedError(
      Concat({"native kernels: expected some for this machine, found ",
              lacks.empty() ? "none" : lacks}));
}

NativeReport InstallNativeKernels(Tiering& tiering,
                                  const NativeOptions& options) {
  NativeReport report = Installer(tiering, options).Run();
  if (report.kernels > 0 && options.device == nullptr)
    tiering.set_preparation(PrepareFirstRun);
  return report;
}

}  // namespace ember::vm

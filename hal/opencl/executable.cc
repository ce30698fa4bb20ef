#include "hal/opencl/executable.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "hal/executable_checks.h"
#include "hal/opencl/api/result.h"

namespace ember::hal::opencl {
namespace {

constexpr std::string_view kFormat = "opencl-c";

int64_t ArgumentBytes(const ExecutableDefinition& definition) {
  return kBindingArgumentBytes * definition.binding_count +
         kParameterArgumentBytes * definition.parameter_count;
}

Status CheckArguments(const DeviceProperties& device,
                      const ExecutableDefinition& definition) {
  const int64_t bytes = ArgumentBytes(definition);
  if (bytes <= device.argument_bytes) return OkStatus();
  return ResourceExhaustedError(Concat(
      {"expected at most ", device.argument_bytes,
       " bytes of arguments, found ", bytes, " of ", definition.binding_count,
       " bindings and ", definition.parameter_count, " parameters"}));
}

Status CheckShape(const DeviceProperties& device,
                  const ExecutableDefinition& definition) {
  int64_t invocations = 1;
  for (size_t i = 0; i < definition.workgroup.size(); ++i) {
    const int64_t size = definition.workgroup[i];
    if (size < 1 || size > device.workgroup[i]) {
      return ResourceExhaustedError(Concat(
          {"expected 1 to ", device.workgroup[i], " invocations in dimension ",
           i, " of a workgroup, found ", size}));
    }
    invocations *= size;
  }
  if (invocations <= device.invocations) return OkStatus();
  return ResourceExhaustedError(
      Concat({"expected at most ", device.invocations,
              " invocations in a workgroup, found ", invocations}));
}

}  // namespace

StatusOr<cl_kernel> OpenClExecutable::NewKernel() const {
  cl_int result = kSuccess;
  const cl_kernel kernel = context_.cl().CreateKernel(
      program_->handle(), entry_point_.c_str(), &result);
  EMBER_RETURN_IF_ERROR(context_.Check("clCreateKernel", result));
  return kernel;
}

Status OpenClExecutable::CheckKernel(cl_kernel kernel) const {
  const Functions& cl = context_.cl();
  cl_uint arguments = 0;
  EMBER_RETURN_IF_ERROR(
      context_.Check("clGetKernelInfo",
                     cl.GetKernelInfo(kernel, kKernelNumArgs, sizeof arguments,
                                      &arguments, nullptr)));
  const int expected = 2 * binding_count() + parameter_count();
  if (static_cast<int64_t>(arguments) != expected) {
    return InvalidArgumentError(
        Concat({"expected ", expected, " arguments, for ", binding_count(),
                " bindings and ", parameter_count(), " parameters, found ",
                static_cast<int64_t>(arguments)}));
  }
  // The largest workgroup of this kernel may be below the device's limit,
  // because its code uses many registers. So the kernel's own limit is checked.
  size_t most = 0;
  EMBER_RETURN_IF_ERROR(context_.Check(
      "clGetKernelWorkGroupInfo",
      cl.GetKernelWorkGroupInfo(kernel, context_.device(), kKernelWorkGroupSize,
                                sizeof most, &most, nullptr)));
  const size_t invocations = workgroup_[0] * workgroup_[1] * workgroup_[2];
  if (invocations > most) {
    return ResourceExhaustedError(
        Concat({"expected at most ", static_cast<int64_t>(most),
                " invocations in a workgroup of this code, found ",
                static_cast<int64_t>(invocations)}));
  }
  cl_ulong shared = 0;
  EMBER_RETURN_IF_ERROR(context_.Check(
      "clGetKernelWorkGroupInfo",
      cl.GetKernelWorkGroupInfo(kernel, context_.device(), kKernelLocalMemSize,
                                sizeof shared, &shared, nullptr)));
  const int64_t limit = context_.properties().shared_bytes;
  if (shared > static_cast<uint64_t>(limit)) {
    return ResourceExhaustedError(Concat(
        {"expected at most ", limit, " bytes of a workgroup's memory, found ",
         static_cast<int64_t>(shared)}));
  }
  return OkStatus();
}

StatusOr<std::unique_ptr<OpenClExecutable>> OpenClExecutable::Load(
    Context& context, ProgramCache& programs, const DeviceLimits& limits,
    const ExecutableDefinition& definition) {
  const std::string name = Concat({"executable '", definition.name, "'"});
  if (definition.format != kFormat) {
    return UnimplementedError(
        Concat({"opencl device: ", name, ": expected format '", kFormat,
                "', found '", definition.format, "'"}));
  }
  Status status = CheckCounts(limits, definition);
  if (status.ok()) status = CheckArguments(context.properties(), definition);
  if (status.ok()) status = CheckShape(context.properties(), definition);
  if (!status.ok()) return status.WithContext(name);
  StatusOr<std::shared_ptr<Program>> program =
      programs.Load({reinterpret_cast<const char*>(definition.code.data()),
                     definition.code.size()});
  if (!program.ok()) return program.status().WithContext(name);
  std::unique_ptr<OpenClExecutable> executable(
      new OpenClExecutable(context, definition));
  executable->program_ = *std::move(program);
  for (size_t i = 0; i < definition.workgroup.size(); ++i)
    executable->workgroup_[i] = static_cast<size_t>(definition.workgroup[i]);
  const StatusOr<cl_kernel> kernel = executable->NewKernel();
  status = kernel.status();
  if (kernel.ok()) {
    status = executable->CheckKernel(*kernel);
    context.cl().ReleaseKernel(*kernel);
  }
  if (!status.ok()) {
    return status.WithContext(
        Concat({name, ": entry point '", definition.entry_point, "'"}));
  }
  return executable;
}

}  // namespace ember::hal::opencl

#include "hal/opencl/program_cache.h"

#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/hash.h"
#include "hal/opencl/api/result.h"
#include "hal/trim_folder.h"

namespace ember::hal::opencl {
namespace {

constexpr std::string_view kSuffix = ".program";

// The header of a file. Behind it are the key (Origin and source) and the
// driver's bytes. Drivers trust these bytes like their own code. PrivateFolder
// ensures that no other user wrote the file; this header ensures that the file
// is complete.
struct FileHeader {
  char magic[8] = {'E', 'M', 'B', 'E', 'R', 'C', 'L', '1'};
  uint64_t hash = 0;  // hash of all bytes behind the header
  uint64_t key_bytes = 0;
};

std::string FileName(std::string_view key) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(HashString(key)));
  return Concat({std::string_view(digits), kSuffix});
}

// Returns the driver's bytes from a file's contents; empty if the file is not
// complete or has another key.
std::string_view Unpack(std::string_view file, std::string_view key) {
  FileHeader header;
  if (file.size() < sizeof header) return "";
  std::memcpy(&header, file.data(), sizeof header);
  const std::string_view contents = file.substr(sizeof header);
  if (std::memcmp(header.magic, FileHeader().magic, sizeof header.magic) != 0 ||
      header.hash != HashString(contents) || header.key_bytes != key.size() ||
      !contents.starts_with(key))
    return "";
  return contents.substr(key.size());
}

// Returns the most helpful line of a compiler's messages: the first with an
// error, or if there is none, the first that is not empty.
std::string_view SayingLine(std::string_view log) {
  std::string_view first;
  for (size_t begin = 0; begin < log.size();) {
    const size_t end = std::min(log.find('\n', begin), log.size());
    const std::string_view line = log.substr(begin, end - begin);
    if (line.find("error") != std::string_view::npos) return line;
    if (first.empty() && line.find_first_not_of(" \t\r") < line.size())
      first = line;
    begin = end + 1;
  }
  return first.empty() ? "no reason given" : first;
}

std::string OptionsFor(const DeviceProperties& properties) {
  std::string options = "-cl-std=CL1.2";
  if (properties.rounds_quotients)
    options += " -cl-fp32-correctly-rounded-divide-sqrt";
  return options;
}

}  // namespace

ProgramCache::ProgramCache(Context& context, const std::string& folder)
    : context_(context), options_(OptionsFor(context.properties())) {
  if (folder.empty()) return;
  StatusOr<PrivateFolder> opened = PrivateFolder::Open(folder + "/opencl");
  if (opened.ok()) folder_.emplace(*std::move(opened));
}

std::string ProgramCache::Origin() const {
  const DeviceProperties& p = context_.properties();
  return Concat({p.vendor, "\n", p.name, "\n", p.version, "\n",
                 p.driver_version, "\n", p.platform_version, "\n", options_,
                 "\n"});
}

StatusOr<std::shared_ptr<Program>> ProgramCache::Load(std::string_view source) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(programs_,
                  [](const auto& entry) { return entry.second.expired(); });
    const auto found = programs_.find(source);
    if (found != programs_.end()) {
      if (std::shared_ptr<Program> program = found->second.lock())
        return program;
    }
  }
  // The lock is not held while a program is built, because that takes long. So
  // two threads may build the same program; one of the results is kept.
  std::string text(source);
  const std::string key = Origin() + text;
  const std::string name = FileName(key);
  std::shared_ptr<Program> program = BuildFile(name, key);
  if (program == nullptr) {
    EMBER_ASSIGN_OR_RETURN(program, BuildSource(text));
    Save(*program, name, key);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  programs_.insert_or_assign(std::move(text), program);
  return program;
}

StatusOr<std::shared_ptr<Program>> ProgramCache::BuildSource(
    const std::string& source) {
  const char* text = source.c_str();
  const size_t size = source.size();
  cl_int result = kSuccess;
  const cl_program handle = context_.cl().CreateProgramWithSource(
      context_.handle(), 1, &text, &size, &result);
  EMBER_RETURN_IF_ERROR(context_.Check("clCreateProgramWithSource", result));
  auto program = std::make_shared<Program>(context_, handle);
  const Status status = Build(*program);
  if (status.code() != StatusCode::kInvalidArgument) {
    EMBER_RETURN_IF_ERROR(status);
    return program;
  }
  return InvalidArgumentError(
      Concat({status.message(), ": ", SayingLine(MessagesOf(*program))}));
}

std::shared_ptr<Program> ProgramCache::BuildFile(const std::string& name,
                                                 const std::string& key) {
  if (!folder_.has_value()) return nullptr;
  const std::string file = folder_->Use(name, kMaxBytes).value_or("");
  const std::string_view binary = Unpack(file, key);
  if (binary.empty()) return nullptr;
  const cl_device_id device = context_.device();
  const size_t size = binary.size();
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  cl_int taken = kSuccess, result = kSuccess;
  const cl_program handle = context_.cl().CreateProgramWithBinary(
      context_.handle(), 1, &device, &size, &bytes, &taken, &result);
  if (result != kSuccess) return nullptr;
  auto program = std::make_shared<Program>(context_, handle);
  if (taken != kSuccess || !Build(*program).ok()) return nullptr;
  return program;
}

Status ProgramCache::Build(const Program& program) {
  const cl_device_id device = context_.device();
  return context_.Check(
      "clBuildProgram",
      context_.cl().BuildProgram(program.handle(), 1, &device, options_.c_str(),
                                 nullptr, nullptr));
}

std::string ProgramCache::MessagesOf(const Program& program) {
  const auto get = [&](size_t size, void* value, size_t* actual) {
    return context_.cl().GetProgramBuildInfo(
        program.handle(), context_.device(), kProgramBuildLog, size, value,
        actual);
  };
  size_t size = 0;
  if (get(0, nullptr, &size) != kSuccess) return "";
  std::string log(size, '\0');
  if (size == 0 || get(size, log.data(), nullptr) != kSuccess) return "";
  log.resize(std::min(log.size(), log.find('\0')));
  return log;
}

void ProgramCache::Save(const Program& program, const std::string& name,
                        const std::string& key) {
  if (!folder_.has_value()) return;
  const auto get = [&](cl_uint property, size_t size, void* value) {
    return context_.cl().GetProgramInfo(program.handle(), property, size, value,
                                        nullptr) == kSuccess;
  };
  size_t bytes = 0;
  if (!get(kProgramBinarySizes, sizeof bytes, &bytes) || bytes == 0) return;
  FileHeader header = {.hash = 0, .key_bytes = key.size()};
  std::string file(sizeof header, '\0');
  file += key;
  const size_t at = file.size();
  file.resize(at + bytes);
  char* binary = file.data() + at;
  // CL_PROGRAM_BINARIES is an array with one pointer for each device. The
  // program has one device, so the address of one pointer is passed.
  if (!get(kProgramBinaries, sizeof binary, static_cast<void*>(&binary)))
    return;
  header.hash = HashString(std::string_view(file).substr(sizeof header));
  std::memcpy(file.data(), &header, sizeof header);
  if (static_cast<int64_t>(file.size()) > kMaxBytes) return;
  if (folder_->Replace(name, file).ok()) TrimFolder(*folder_, kMaxBytes, name);
}

}  // namespace ember::hal::opencl

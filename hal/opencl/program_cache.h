// Builds programs of OpenCL C, and stores what the driver makes of them for
// later processes: a file for each program on each kind of device and version
// of its driver.
//
//   ProgramCache programs(context, "/home/me/.cache/ember/kernels");
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<Program> program,
//                          programs.Load(source));
//
// A program that is in use is not built again. A file is ignored if it is
// damaged, if it is of another driver, device or source, if other users may
// have written it, or if the driver refuses it; the program is then built from
// its source. If files cannot be stored, later processes only take longer; that
// is no error. Errors: InvalidArgument with the first line of the driver's
// messages about the code. Thread-safe.
#ifndef EMBER_HAL_OPENCL_PROGRAM_CACHE_H_
#define EMBER_HAL_OPENCL_PROGRAM_CACHE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/private_folder.h"
#include "base/status.h"
#include "hal/opencl/context.h"

namespace ember::hal::opencl {

// A built program, which is released when the object is destroyed. The context
// must outlive it.
class Program {
 public:
  Program(Context& context, cl_program handle)
      : context_(context), handle_(handle) {}
  ~Program() { context_.cl().ReleaseProgram(handle_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  cl_program handle() const { return handle_; }

 private:
  Context& context_;
  const cl_program handle_;
};

class ProgramCache {
 public:
  // All drivers use `folder`; this driver creates the folder "opencl" in it. If
  // `folder` is empty, programs are in memory only. `context` must outlive this
  // object and its programs.
  ProgramCache(Context& context, const std::string& folder);

  StatusOr<std::shared_ptr<Program>> Load(std::string_view source);

  // Largest number of bytes of all files in the folder together. If there are
  // more, the files that were not used for the longest time are removed.
  static constexpr int64_t kMaxBytes = int64_t{128} << 20;

 private:
  StatusOr<std::shared_ptr<Program>> BuildSource(const std::string& source);
  // Builds a program from a file of the cache. Returns null if there is no such
  // file, or if the driver refuses it.
  std::shared_ptr<Program> BuildFile(const std::string& name,
                                     const std::string& key);
  Status Build(const Program& program);
  std::string MessagesOf(const Program& program);
  // Returns a text of everything besides its source that determines a built
  // program: device, driver and options. It is part of a file's key.
  std::string Origin() const;
  void Save(const Program& program, const std::string& name,
            const std::string& key);

  Context& context_;
  const std::string options_;
  std::optional<PrivateFolder> folder_;

  std::mutex mutex_;  // guards programs_
  // The programs that are in use, by their sources.
  std::map<std::string, std::weak_ptr<Program>, std::less<>> programs_;
};

}  // namespace ember::hal::opencl

#endif  // EMBER_HAL_OPENCL_PROGRAM_CACHE_H_

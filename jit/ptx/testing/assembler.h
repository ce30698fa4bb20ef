// Counts words in PTX text and, on machines that have the CUDA toolkit, runs
// NVIDIA's assembler ptxas on it, which reports errors, registers and spills.
//
//   EXPECT_EQ(CountIn(ptx, "bar.sync"), 2u);
//   if (!HasAssembler()) GTEST_SKIP() << kNoAssembler;
//   EXPECT_EQ(Assemble(ptx, "sm_80", &says), "");
#ifndef EMBER_JIT_PTX_TESTING_ASSEMBLER_H_
#define EMBER_JIT_PTX_TESTING_ASSEMBLER_H_

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/file.h"
#include "gtest/gtest.h"

namespace ember::jit::ptx {

inline constexpr char kAssembler[] = "/usr/local/cuda/bin/ptxas";
inline constexpr char kNoAssembler[] =
    "/usr/local/cuda/bin/ptxas is not installed (the CUDA toolkit)";

inline size_t CountIn(std::string_view text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string_view::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

inline bool HasAssembler() { return ::access(kAssembler, X_OK) == 0; }

// Runs ptxas on the PTX text. Returns a description of what is wrong; empty if
// nothing is. It counts as wrong if ptxas serializes wgmma products, which
// makes each wait for the one before. says: gets the output of `ptxas -v`; may
// be null.
inline std::string Assemble(std::string_view ptx, const std::string& processor,
                            std::string* says = nullptr) {
  // Tests that are run by hand share a temporary folder, so the name contains
  // the process id.
  const std::string file =
      testing::TempDir() + "/kernel." + std::to_string(::getpid()) + ".ptx";
  if (!WriteFileAtomically(file, ptx).ok()) return "cannot write " + file;
  const std::string command = std::string(kAssembler) +
                              " -v -arch=" + processor + " " + file +
                              " -o /dev/null >" + file + ".log 2>&1";
  const int status = std::system(command.c_str());
  const auto log = ReadFile(file + ".log");
  ::unlink(file.c_str());
  ::unlink((file + ".log").c_str());
  if (!log.ok()) return log.status().ToString();
  if (says != nullptr) *says = *log;
  const bool waits = log->find("serialized") != std::string::npos;
  return status == 0 && !waits ? "" : *log + std::string(ptx);
}

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_TESTING_ASSEMBLER_H_

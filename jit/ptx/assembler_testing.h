// NVIDIA's assembler, on machines that have the CUDA toolkit: whether it takes
// PTX, and what it says of registers and spills.
//
//   if (!HasAssembler()) GTEST_SKIP() << kNoAssembler;
//   EXPECT_EQ(Assemble(ptx, "sm_80", &says), "");
#ifndef EMBER_JIT_PTX_ASSEMBLER_TESTING_H_
#define EMBER_JIT_PTX_ASSEMBLER_TESTING_H_

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

inline bool HasAssembler() { return ::access(kAssembler, X_OK) == 0; }

// Empty, or what is wrong. says: what `ptxas -v` prints; may be null.
inline std::string Assemble(std::string_view ptx, const std::string& processor,
                            std::string* says = nullptr) {
  const std::string file = testing::TempDir() + "/kernel.ptx";
  if (!WriteFileAtomically(file, ptx).ok()) return "cannot write " + file;
  const std::string command = std::string(kAssembler) +
                              " -v -arch=" + processor + " " + file +
                              " -o /dev/null >" + file + ".log 2>&1";
  const int status = std::system(command.c_str());
  const auto log = ReadFile(file + ".log");
  if (!log.ok()) return log.status().ToString();
  if (says != nullptr) *says = *log;
  return status == 0 ? "" : *log + std::string(ptx);
}

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_ASSEMBLER_TESTING_H_

// Finds the folder of the program or library that is running, so that it can
// load the files that are installed next to it.
//
//   const std::string folder = FolderOfCode(reinterpret_cast<const void*>(&F));
//   if (!folder.empty()) Load(folder + "/ember/libember_jit.so");
//
// The result depends on neither the environment nor the working folder.
// Thread-safe.
#ifndef EMBER_BASE_CODE_FOLDER_H_
#define EMBER_BASE_CODE_FOLDER_H_

#include <string>

namespace ember {

// Returns the folder, without a slash at its end, of the program or shared
// library that contains the function at `code`. Symbolic links are followed.
// The result is empty if the system does not report the file's path.
std::string FolderOfCode(const void* code);

}  // namespace ember

#endif  // EMBER_BASE_CODE_FOLDER_H_

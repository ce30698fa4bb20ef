// Makes ZIP archives for tests.
//
//   ZipBuilder zip;
//   zip.Add("config.json", "{}");
//   zip.AddDeflated("metadata.json", "{}");
//   const std::string contents = zip.Finish();
#ifndef EMBER_FRONTENDS_ARCHIVE_TESTING_ZIP_BUILDER_H_
#define EMBER_FRONTENDS_ARCHIVE_TESTING_ZIP_BUILDER_H_

#include <cstdint>
#include <string>

namespace ember::archive {

class ZipBuilder {
 public:
  // `before`: number of bytes that precede the archive in its file; the offsets
  // that the archive stores count them.
  explicit ZipBuilder(uint64_t before = 0) : before_(before) {}

  // Adds an entry that is stored without compression.
  void Add(const std::string& name, const std::string& contents);
  void AddDeflated(const std::string& name, const std::string& contents);
  std::string Finish();

 private:
  void AddPacked(const std::string& name, const std::string& contents,
                 const std::string& packed, uint64_t method);
  const uint64_t before_;
  std::string entries_, directory_;
  uint64_t count_ = 0;
};

}  // namespace ember::archive

#endif  // EMBER_FRONTENDS_ARCHIVE_TESTING_ZIP_BUILDER_H_

#include "frontends/testing/damaged_bytes.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ember::frontends {

void ExpectOneLine(const Status& status) {
  if (status.ok()) return;
  EXPECT_FALSE(status.message().empty());
  EXPECT_EQ(status.message().find('\n'), std::string_view::npos)
      << status.ToString();
}

void TryEveryByteChanged(const std::string& bytes, const Attempt& attempt) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int flip : {0x01, 0x08, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      ExpectOneLine(attempt(damaged));
    }
  }
}

void TryEveryTruncation(const std::string& bytes, const Attempt& attempt) {
  for (size_t size = 0; size < bytes.size(); ++size)
    ExpectOneLine(attempt(bytes.substr(0, size)));
}

void TryAbsurdWords(const std::string& bytes, const Attempt& attempt) {
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    for (const uint32_t value :
         {0u, 1u, 0x7fffffffu, 0x80000000u, 0xfffffffeu}) {
      std::string damaged = bytes;
      for (size_t byte = 0; byte < 4; ++byte)
        damaged[i + byte] = static_cast<char>(value >> (8 * byte));
      ExpectOneLine(attempt(damaged));
    }
  }
}

}  // namespace ember::frontends

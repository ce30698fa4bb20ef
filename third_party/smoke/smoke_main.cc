// The portable part of the smoke test, for cross builds: exits with 0 if it
// works.
#include <cstdint>
#include <vector>

#include "third_party/smoke/smoke.h"

int main() {
  std::vector<uint8_t> bytes;
  return ember::smoke::RoundTrip(42, &bytes) == 42 ? 0 : 1;
}

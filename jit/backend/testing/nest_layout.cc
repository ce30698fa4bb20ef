#include "jit/backend/testing/nest_layout.h"

#include "jit/backend/describe_nest.h"

namespace ember::jit {

NestHeader::NestHeader(const loops::LoopNest& nest, int64_t alignment)
    : image_(DescribeNest(nest)), alignment_(alignment) {}

}  // namespace ember::jit

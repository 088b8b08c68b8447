#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels.h"

namespace ganet {
namespace base {
#include "kernels.inc"
}  // namespace base
}  // namespace ganet

#include <atomic>

#include "kernels.h"

namespace ganet {
namespace {

int best_instruction_set() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return 0;
#endif
}

std::atomic<int> in_use{best_instruction_set()};

}  // namespace

int use_instruction_set(int wanted) {
  in_use.store(wanted < best_instruction_set() ? 0 : best_instruction_set());
  return in_use.load();
}

template <class T>
const Kernels<T>& kernels() {
#if defined(__x86_64__)
  if (in_use.load(std::memory_order_relaxed) == 1) return avx2::kernels<T>();
#endif
  return base::kernels<T>();
}
template const Kernels<float>& kernels<float>();
template const Kernels<double>& kernels<double>();

}  // namespace ganet

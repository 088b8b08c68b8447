// The kernels over neighbour lists, made once for each instruction set and chosen when the library is loaded.
// No TensorFlow in here.
#pragma once

#include "core.h"

namespace ganet {

enum class Ranking : int { kAll = 0, kByNode = 1, kByScore = 2 };

// Which attention weights are dropped; a function of the pair of nodes, so that the gradient finds the same ones.
struct Dropout {
  double rate = 0;
  uint64_t seed[2] = {0, 0};
};

// o_i = Σ_j α_ij v_j, α_i = softmax_j(a_ij q_i · k_j), for each head, over all or the k best columns of each row.
// Where nodes are ranked (kByNode), a_ij ranks and is not in the softmax.
template <class T>
struct Attend {
  Lists lists;
  int64_t heads, key_width, value_width;  // widths of one head
  Ranking ranking;
  int64_t k;
  Dropout dropout;
  const T* queries;  // [rows, heads · key_width]
  const T* keys;     // [num_columns, heads · key_width]
  const T* values;   // [num_columns, heads · value_width]
  const T* weights;  // [entries], a_ij, or null
  const T* scores;   // [num_columns], what kByNode ranks by: a_ij scores_j
  T* output;         // [rows, heads · value_width]
  T* alpha;          // [chosen entries, heads]
  const int32_t* chosen_splits;  // [rows + 1]: of the chosen entries; lists.splits for kAll
  int32_t* chosen_columns;       // what was chosen, unless kAll
  T* chosen_weights;             // for kByScore, if there are weights
};

template <class T>
struct AttendGradient {
  Lists lists, transposed;  // of the chosen entries
  const int32_t* places;    // [entries]: of each transposed entry in `lists`
  int64_t heads, key_width, value_width;
  Dropout dropout;
  const T *queries, *keys, *values, *weights, *alpha, *output, *d_output;
  T *d_queries, *d_keys, *d_values;
};

// y_i = after_i Σ_j w_ij before_j x_j for each head; a null factor is 1.
template <class T>
struct Product {
  Lists lists;
  int64_t heads, width;  // of one head
  bool skip_self;        // leave out entries (i, i)
  const int32_t* places;  // [entries] of the entry in `weights`, or null: its own
  const T* weights;       // [.., heads], or null
  int64_t num_weights;    // rows of `weights`
  const T *before, *after;
  const T* x;  // [num_columns, heads · width]
  T* y;        // [rows, heads · width]
};

// y_i = max_j x_j, channel by channel, and how many j reach it; zeros for a row without entries.
template <class T>
struct Maximum {
  Lists lists;
  int64_t width;
  bool skip_self;
  const T* x;
  T *y, *count;
};

// dx_j: dy_i shared evenly by all j that reach the maximum, as TensorFlow does.
template <class T>
struct MaximumGradient {
  Lists transposed;
  int64_t width;
  bool skip_self;
  const T *x, *y, *count, *dy;
  T* dx;
};

// y = softmax of x over the rows splits[g] .. splits[g + 1] - 1 of each segment, channel by channel.
template <class T>
struct Softmax {
  Lists segments;  // its columns are not read
  int64_t width;
  const T* x;
  T* y;
};

template <class T>
struct SoftmaxGradient {
  Lists segments;
  int64_t width;
  const T *y, *dy;
  T* dx;
};

template <class T>
struct Kernels {
  void (*attend)(const Attend<T>&);
  void (*attend_gradient)(const AttendGradient<T>&);
  void (*product)(const Product<T>&);
  void (*maximum)(const Maximum<T>&);
  void (*maximum_gradient)(const MaximumGradient<T>&);
  void (*softmax)(const Softmax<T>&);
  void (*softmax_gradient)(const SoftmaxGradient<T>&);
};

namespace base {
template <class T>
const Kernels<T>& kernels();
}
#if defined(__x86_64__)
namespace avx2 {
template <class T>
const Kernels<T>& kernels();
}
#endif

// 0: what every processor of this kind has; 1: AVX2 and FMA. Returns the one that is in use from now on.
int use_instruction_set(int wanted);

template <class T>
const Kernels<T>& kernels();

}  // namespace ganet

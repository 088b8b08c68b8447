// The kernels without TensorFlow, against plain loops, on random and malformed graphs: made to run under
// AddressSanitizer and UBSan. Usage: driver [seed] [rounds]. Prints the first difference and exits with 1.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "kernels.h"
#include "lists.h"

using namespace ganet;

namespace {

std::mt19937 rng;

int64_t below(int64_t limit) { return limit > 0 ? static_cast<int64_t>(rng() % static_cast<uint64_t>(limit)) : 0; }

[[noreturn]] void fail(const char* what, double got, double wanted) {
  std::printf("FAILED %s: got %.17g, wanted %.17g\n", what, got, wanted);
  std::exit(1);
}

template <class T>
void expect_close(const char* what, const std::vector<T>& got, const std::vector<double>& wanted) {
  double size = 1;
  for (double w : wanted) size = std::max(size, std::fabs(w));
  const double tolerance = (sizeof(T) == 4 ? 2e-5 : 1e-12) * size;
  for (size_t i = 0; i < wanted.size(); ++i)
    if (!(std::fabs(got[i] - wanted[i]) <= tolerance)) fail(what, got[i], wanted[i]);
}

template <class T>
std::vector<T> numbers(int64_t count) {
  std::vector<T> result(count);
  for (T& x : result) x = static_cast<T>(below(2001) - 1000) / 1000;
  return result;
}

// Lists of a random graph: [rows] of ascending columns, made by the kernels and by sets.
struct Graph {
  int64_t nodes;
  std::vector<int64_t> edges;
  std::vector<int32_t> splits, columns;
  std::vector<float> weights;

  Lists lists() const { return {splits.data(), columns.data(), nodes, nodes, static_cast<int64_t>(columns.size())}; }
};

Graph random_graph(bool hub) {
  Graph g;
  g.nodes = below(40) + (hub ? 2500 : 0);
  const int64_t count = g.nodes ? below(3 * g.nodes + 3) + (hub ? 2400 : 0) : 0;
  const bool sorted = below(2), undirected = below(2);
  std::set<std::pair<int64_t, int64_t>> known;
  for (int64_t e = 0; e < count; ++e) {
    const int64_t s = below(g.nodes), t = hub && e < 2400 ? 3 : below(g.nodes);
    if (sorted && (s == t || !known.insert({t, s}).second)) continue;
    if (!sorted) known.insert({t, s});
    g.edges.push_back(s);
    g.edges.push_back(t);
  }
  if (sorted) {
    g.edges.clear();
    if (undirected)
      for (const auto& pair : std::set<std::pair<int64_t, int64_t>>(known)) known.insert({pair.second, pair.first});
    for (const auto& pair : known) {
      g.edges.push_back(pair.second);
      g.edges.push_back(pair.first);
    }
  }
  const int64_t edges = static_cast<int64_t>(g.edges.size() / 2);
  const std::vector<float> given = numbers<float>(edges);
  Edges<int64_t> looked(g.edges.data(), edges, g.nodes);
  g.splits.resize(g.nodes + 1);
  const bool weighted = below(2);
  const float* weights = given.data();
  if (looked.canonical) {
    g.columns.resize(edges + g.nodes);
    g.weights.resize(weighted ? g.columns.size() : 0);
    canonical_lists<int64_t, float>(looked, weights, g.splits.data(), g.columns.data(), weighted ? g.weights.data() : nullptr);
  } else {
    UnsortedLists<int64_t, float> unsorted(looked);
    g.columns.resize(unsorted.row_splits(g.splits.data()));
    g.weights.resize(weighted ? g.columns.size() : 0);
    unsorted.fill(g.splits.data(), weights, g.columns.data(), weighted ? g.weights.data() : nullptr);
  }
  for (int64_t row = 0, e = 0; row < g.nodes; ++row) {
    std::set<int64_t> wanted = {row};
    for (int64_t i = 0; i < edges; ++i)
      if (g.edges[2 * i + 1] == row) wanted.insert(g.edges[2 * i]);
    for (int64_t column : wanted) {
      if (g.columns[e] != column) fail("lists", g.columns[e], static_cast<double>(column));
      double weight = 1;
      float sum = 0;  // of all that are given, in their order
      for (int64_t i = 0; column != row && i < edges; ++i)
        if (g.edges[2 * i + 1] == row && g.edges[2 * i] == column) weight = sum += given[i];
      if (weighted && g.weights[e] != weight) fail("weights", g.weights[e], weight);
      ++e;
    }
    if (g.splits[row + 1] != e) fail("splits", g.splits[row + 1], static_cast<double>(e));
  }
  return g;
}

// Attention by plain loops in double, with its gradients.
template <class T>
struct Oracle {
  const Attend<T>& a;
  std::vector<double> output, d_queries, d_keys, d_values;

  Oracle(const Attend<T>& a, const std::vector<T>& d_output) : a(a) {
    const int64_t H = a.heads, F = a.key_width, U = a.value_width;
    output.assign(a.lists.rows * H * U, 0);
    d_queries.assign(a.lists.rows * H * F, 0);
    d_keys.assign(a.lists.num_columns * H * F, 0);
    d_values.assign(a.lists.num_columns * H * U, 0);
    for (int64_t row = 0; row < a.lists.rows; ++row)
      for (int64_t h = 0; h < H; ++h) head(row, h, d_output);
  }

  void head(int64_t row, int64_t h, const std::vector<T>& d_output) {
    const int64_t H = a.heads, F = a.key_width, U = a.value_width, begin = a.chosen_splits[row], n = a.chosen_splits[row + 1] - begin;
    const bool all = a.ranking == Ranking::kAll;
    const int32_t* columns = (all ? a.lists.columns : a.chosen_columns) + begin;
    const T* of_entries = all ? a.weights : a.chosen_weights;
    const T* weights = of_entries ? of_entries + begin : nullptr;
    std::vector<double> alpha(n);
    double largest = -INFINITY, sum = 0, mean = 0;
    for (int64_t e = 0; e < n; ++e) {
      for (int64_t c = 0; c < F; ++c)
        alpha[e] += static_cast<double>(a.queries[row * H * F + h * F + c]) * a.keys[columns[e] * H * F + h * F + c];
      if (weights) alpha[e] *= weights[e];
      largest = std::max(largest, alpha[e]);
    }
    for (double& x : alpha) sum += x = std::exp(x - largest);
    for (double& x : alpha) x /= sum;
    for (int64_t e = 0; e < n; ++e)
      for (int64_t c = 0; c < U; ++c) {
        const double v = a.values[columns[e] * H * U + h * U + c], d = d_output[row * H * U + h * U + c];
        output[row * H * U + h * U + c] += alpha[e] * v;
        d_values[columns[e] * H * U + h * U + c] += alpha[e] * d;
        mean += alpha[e] * v * d;
      }
    for (int64_t e = 0; e < n; ++e) {
      double d_score = -mean;
      for (int64_t c = 0; c < U; ++c)
        d_score += static_cast<double>(d_output[row * H * U + h * U + c]) * a.values[columns[e] * H * U + h * U + c];
      d_score *= alpha[e] * (weights ? weights[e] : 1);
      for (int64_t c = 0; c < F; ++c) {
        d_queries[row * H * F + h * F + c] += d_score * a.keys[columns[e] * H * F + h * F + c];
        d_keys[columns[e] * H * F + h * F + c] += d_score * a.queries[row * H * F + h * F + c];
      }
    }
  }
};

// Whether the chosen columns of each row are the k best: by score, then by index.
template <class T>
void expect_best(const Attend<T>& a) {
  for (int64_t row = 0; row < a.lists.rows; ++row) {
    std::vector<std::pair<double, int32_t>> order;
    for (int32_t e = a.lists.splits[row]; e < a.lists.splits[row + 1]; ++e) {
      const T score = a.scores[a.lists.columns[e]];
      const T key = a.weights ? score * a.weights[e] : score;
      const T lowest = std::numeric_limits<T>::lowest();
      order.push_back({key > lowest ? key : lowest, a.lists.columns[e]});
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
    std::set<int32_t> wanted;
    for (size_t i = 0; i < order.size() && i < static_cast<size_t>(a.k); ++i) wanted.insert(order[i].second);
    const std::vector<int32_t> got(a.chosen_columns + a.chosen_splits[row], a.chosen_columns + a.chosen_splits[row + 1]);
    if (got != std::vector<int32_t>(wanted.begin(), wanted.end())) fail("chosen", static_cast<double>(row), 0);
  }
}

template <class T>
void attention_round(const Graph& g, int64_t heads, int64_t key_width, int64_t value_width, Ranking ranking) {
  const Lists lists = g.lists();
  const auto queries = numbers<T>(g.nodes * heads * key_width), keys = numbers<T>(g.nodes * heads * key_width);
  const auto values = numbers<T>(g.nodes * heads * value_width), d_output = numbers<T>(g.nodes * heads * value_width);
  auto scores = numbers<T>(g.nodes);
  for (T& s : scores) s = below(20) ? std::round(s * 4) / 4 : below(2) ? -INFINITY : NAN;  // with ties
  const std::vector<T> weights(g.weights.begin(), g.weights.end());
  const int64_t k = 1 + below(12);
  std::vector<int32_t> chosen_splits(g.nodes + 1);
  for (int64_t row = 0; row < g.nodes; ++row)
    chosen_splits[row + 1] = chosen_splits[row] + static_cast<int32_t>(std::min<int64_t>(k, g.splits[row + 1] - g.splits[row]));
  const bool all = ranking == Ranking::kAll;
  const int64_t chosen = all ? lists.entries : chosen_splits[g.nodes];
  std::vector<std::vector<T>> first;
  for (int run = 0; run < 4; ++run) {
    set_threads(run == 0 ? 1 : run == 1 ? 2 : 7);
    use_instruction_set(run == 3 ? 0 : 1);
    std::vector<T> output(g.nodes * heads * value_width), alpha(chosen * heads), kept_weights(chosen);
    std::vector<int32_t> chosen_columns(chosen), t_splits(g.nodes + 1), t_rows(chosen), places(chosen);
    Attend<T> a = {lists, heads, key_width, value_width, ranking, k, {}, queries.data(), keys.data(), values.data(),
                   weights.empty() ? nullptr : weights.data(), scores.data(), output.data(), alpha.data(),
                   all ? lists.splits : chosen_splits.data(), chosen_columns.data(),
                   !weights.empty() && ranking == Ranking::kByScore ? kept_weights.data() : nullptr};
    kernels<T>().attend(a);
    if (ranking == Ranking::kByNode) expect_best(a);
    const Lists kept = all ? lists : Lists{chosen_splits.data(), chosen_columns.data(), g.nodes, g.nodes, chosen};
    transpose(kept, t_splits.data(), t_rows.data(), places.data());
    std::vector<T> dq(queries.size()), dk(keys.size()), dv(values.size());
    kernels<T>().attend_gradient({kept, {t_splits.data(), t_rows.data(), g.nodes, g.nodes, chosen}, places.data(), heads,
                                  key_width, value_width, {}, queries.data(), keys.data(), values.data(),
                                  all ? a.weights : a.chosen_weights, alpha.data(),
                                  output.data(), d_output.data(), dq.data(), dk.data(), dv.data()});
    const Oracle<T> oracle(a, d_output);
    expect_close("attend", output, oracle.output);
    expect_close("d_queries", dq, oracle.d_queries);
    expect_close("d_keys", dk, oracle.d_keys);
    expect_close("d_values", dv, oracle.d_values);
    if (run == 0) first = {output, dq, dk, dv};
    if (run < 3 && first != std::vector<std::vector<T>>{output, dq, dk, dv}) fail("bits for other threads", run, 0);
  }
  use_instruction_set(1);
}

template <class T>
void product_round(const Graph& g, int64_t width) {
  const Lists lists = g.lists();
  const auto x = numbers<T>(g.nodes * width), before = numbers<T>(g.nodes), after = numbers<T>(g.nodes);
  const std::vector<T> weights(g.weights.begin(), g.weights.end());
  const bool skip_self = below(2);
  std::vector<T> y(x.size()), best(x.size()), count(x.size()), soft(x.size()), d_soft(x.size()), d_best(x.size());
  set_threads(1 + static_cast<int>(below(3)));
  kernels<T>().product({lists, 1, width, skip_self, nullptr, weights.empty() ? nullptr : weights.data(), lists.entries,
                        before.data(), after.data(), x.data(), y.data()});
  kernels<T>().maximum({lists, width, skip_self, x.data(), best.data(), count.data()});
  std::vector<double> sums(x.size()), maxima(x.size(), 0);
  for (int64_t row = 0; row < g.nodes; ++row)
    for (int64_t c = 0; c < width; ++c) {
      double largest = -INFINITY, sum = 0;
      for (int32_t e = g.splits[row]; e < g.splits[row + 1]; ++e) {
        const int32_t j = g.columns[e];
        if (skip_self && j == row) continue;
        largest = std::max<double>(largest, x[j * width + c]);
        sum += static_cast<double>(weights.empty() ? 1 : weights[e]) * before[j] * x[j * width + c];
      }
      sums[row * width + c] = sum * after[row];
      maxima[row * width + c] = std::isinf(largest) ? 0 : largest;
    }
  expect_close("product", y, sums);
  expect_close("maximum", best, maxima);
  std::vector<int32_t> t_splits(g.nodes + 1), t_rows(lists.entries), places(lists.entries);
  transpose(lists, t_splits.data(), t_rows.data(), places.data());
  const Lists transposed = {t_splits.data(), t_rows.data(), g.nodes, g.nodes, lists.entries};
  kernels<T>().maximum_gradient({transposed, width, skip_self, x.data(), best.data(), count.data(), x.data(), d_best.data()});
  double in = 0, out = 0;  // what is handed out is what came in, for rows that have a maximum
  for (size_t i = 0; i < x.size(); ++i) in += count[i] > 0 ? x[i] : 0, out += d_best[i];
  if (std::fabs(in - out) > 1e-3) fail("maximum_gradient", out, in);
  // Graphs of any size next to each other, some without nodes.
  std::vector<int64_t> ids(g.nodes);
  for (int64_t n = 1; n < g.nodes; ++n) ids[n] = ids[n - 1] + (below(5) ? 0 : below(3));
  check_graph_ids(ids.data(), g.nodes, g.nodes);
  const int64_t graphs = g.nodes ? ids.back() + 1 : 0;
  std::vector<int32_t> segment(graphs + 1), narrow(g.nodes);
  segment_splits(ids.data(), g.nodes, segment.data(), narrow.data());
  const Lists segments = {segment.data(), nullptr, graphs, g.nodes, g.nodes};
  kernels<T>().softmax({segments, width, x.data(), soft.data()});
  kernels<T>().softmax_gradient({segments, width, soft.data(), x.data(), d_soft.data()});
  for (int64_t graph = 0; graph < graphs; ++graph)
    for (int64_t c = 0; c < width; ++c) {
      double sum = 0, gradient = 0;
      for (int32_t n = segment[graph]; n < segment[graph + 1]; ++n) sum += soft[n * width + c], gradient += d_soft[n * width + c];
      if (segment[graph] < segment[graph + 1] && std::fabs(sum - 1) > 1e-5) fail("softmax", sum, 1);
      if (std::fabs(gradient) > 1e-5) fail("softmax_gradient", gradient, 0);
    }
}

template <class Work>
void expect_invalid(const char* what, const Work& work) {
  try {
    work();
  } catch (const Invalid&) {
    return;
  }
  fail(what, 0, 1);
}

// Numbers out of range must come back as sentences, and touch no memory.
// The transpose against plain loops; of lists with an entry changed as well, or two next to each other in the wrong order.
void transpose_round(const Graph& given) {
  const int64_t entries = static_cast<int64_t>(given.columns.size());
  if (entries > 2000) return;
  for (int change = 0; change < 12; ++change) {
    Graph g = given;
    const int64_t e = below(entries);
    if (change > 0 && entries > 1 && change % 2 == 0) g.columns[e] = static_cast<int32_t>(below(g.nodes));
    if (change > 0 && entries > 1 && change % 2 == 1) std::swap(g.columns[e], g.columns[e > 0 ? e - 1 : 1]);
    std::vector<int32_t> splits(g.nodes + 1), rows(entries), places(entries);
    transpose(g.lists(), splits.data(), rows.data(), places.data());
    int64_t place = 0;
    for (int64_t column = 0; column < g.nodes; ++column) {
      if (splits[column] != place) fail("splits of the transpose", splits[column], place);
      for (int64_t row = 0; row < g.nodes; ++row)
        for (int64_t e = g.splits[row]; e < g.splits[row + 1]; ++e) {
          if (g.columns[e] != column) continue;
          if (rows[place] != row || places[place] != e) fail("transpose", places[place], e);
          ++place;
        }
    }
  }
}

void malformed_round() {
  const int64_t n = 6;
  std::vector<int32_t> splits = {0, 2, 2, 4, 5, 6, 8}, columns = {0, 1, 2, 3, 4, 5, 0, 1};
  std::vector<float> x(n * 3, 1), y(n * 3);
  const auto run = [&] {
    kernels<float>().product({{splits.data(), columns.data(), n, n, static_cast<int64_t>(columns.size())}, 1, 3, false,
                              nullptr, nullptr, 0, nullptr, nullptr, x.data(), y.data()});
  };
  run();
  auto& place = below(2) ? splits[below(7)] : columns[below(8)];
  const int32_t bad[] = {-1, 9, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()};
  place = bad[below(4)];
  expect_invalid("malformed lists", run);
  const int64_t far[] = {-1, n, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min(), int64_t{1} << 32};
  std::vector<int64_t> edges = {0, 1, 2, 3, 4, 5};
  edges[below(6)] = far[below(5)];
  expect_invalid("edges out of range", [&] { Edges<int64_t>(edges.data(), 3, n); });
  expect_invalid("too many edges", [&] { Edges<int64_t>(edges.data(), int64_t{1} << 31, n); });
  std::vector<int64_t> ids = {0, 1, 1, 2};
  ids[below(4)] = far[3];
  expect_invalid("graph_ids", [&] { check_graph_ids(ids.data(), 4, 4); });
}

}  // namespace

int main(int argc, char** argv) {
  rng.seed(argc > 1 ? std::atoi(argv[1]) : 0);
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 50;
  for (int round = 0; round < rounds; ++round) {
    const Graph g = random_graph(round % 25 == 24);
    const int64_t heads = 1 + below(3), key_width = below(20), value_width = below(40);
    attention_round<float>(g, heads, key_width, value_width, Ranking::kAll);
    attention_round<double>(g, heads, key_width, value_width, Ranking::kByNode);
    attention_round<float>(g, 1, key_width, value_width, Ranking::kByScore);
    product_round<float>(g, below(70));
    product_round<double>(g, below(40));
    transpose_round(g);
    malformed_round();
  }
  std::printf("%d rounds\n", rounds);
  return 0;
}

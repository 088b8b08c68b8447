// Neighbour lists from edges, their transpose, and the splits of sorted segments. No TensorFlow in here.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "core.h"

namespace ganet {

// Edges (source, target) as they came, and what is known about them after one look at all.
template <class Index>
struct Edges {
  const Index* pairs;  // [count, 2]
  int64_t count;
  int64_t num_nodes;
  bool canonical;  // sorted by target, then source, each once, no self-loops

  Edges(const Index* pairs, int64_t count, int64_t num_nodes) : pairs(pairs), count(count), num_nodes(num_nodes) {
    require(num_nodes >= 0, "the number of nodes must not be negative.");
    if (num_nodes + count >= INT32_MAX)
      throw Invalid(std::to_string(count) + " edges among " + std::to_string(num_nodes) +
                    " nodes are too many: neighbour lists hold at most 2^31 - 1 entries. Use batches of fewer edges.");
    look();
  }

  Index source(int64_t e) const { return pairs[2 * e]; }
  Index target(int64_t e) const { return pairs[2 * e + 1]; }

 private:
  void look() {
    typedef typename std::make_unsigned<Index>::type Unsigned;
    const Unsigned limit = static_cast<Unsigned>(num_nodes);  // a negative number is above it, read as unsigned
    std::atomic<bool> in_order{true};
    std::atomic<int64_t> first_bad{count};
    parallel_ranges(count, 1 << 15, [&](int64_t begin, int64_t end) {
      bool good = true, ordered = true;
      Index before_s = begin > 0 ? source(begin - 1) : -1, before_t = begin > 0 ? target(begin - 1) : -1;
      for (int64_t e = begin; e < end; ++e) {
        const Index s = source(e), t = target(e);
        good &= (static_cast<Unsigned>(s) < limit) & (static_cast<Unsigned>(t) < limit);
        ordered &= (s != t) & ((before_t < t) | ((before_t == t) & (before_s < s)));
        before_s = s;
        before_t = t;
      }
      if (!ordered) in_order.store(false, std::memory_order_relaxed);
      if (good) return;
      int64_t bad = begin;
      while (source(bad) >= 0 && target(bad) >= 0 && source(bad) < num_nodes && target(bad) < num_nodes) ++bad;
      for (int64_t known = first_bad.load(); bad < known && !first_bad.compare_exchange_weak(known, bad);) {
      }
    });
    canonical = in_order.load();
    const int64_t bad = first_bad.load();
    if (bad < count)
      throw Invalid("`edges` row " + std::to_string(bad) + " is [" + std::to_string(source(bad)) + ", " +
                    std::to_string(target(bad)) + "], but `x` has " + std::to_string(num_nodes) +
                    " nodes: node numbers must be 0 to " + std::to_string(num_nodes - 1) + ".");
  }
};

// The lists of edges that are canonical: each entry's place follows from its edge alone, so one pass is enough.
// `entry_weights` is null where there are no weights; `weights` may also be null where there are no edges.
//
// Before the entry of edge e, from s to t, there are e edges, the self-loops of the t rows before, and t's own where
// s > t. The self-loop is put behind each edge with s < t, until the next one takes its place: no branch is needed,
// but the edges of one row must be one thread's.
template <class Index, class T>
void canonical_lists(const Edges<Index>& edges, const T* weights, int32_t* splits, int32_t* columns, T* entry_weights) {
  const auto first_of_row = [&](int64_t e) {  // at e or behind it
    while (e > 0 && e < edges.count && edges.target(e - 1) == edges.target(e)) ++e;
    return e;
  };
  // Rows first .. last - 1 begin before edge e: row `first` has had its edges, the others have none.
  const auto finish_rows = [&](int64_t e, int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      splits[row + 1] = static_cast<int32_t>(e + row + 1);
      columns[e + row + 1] = static_cast<int32_t>(row + 1);  // the next row's self-loop, if no edge takes its place
      if (entry_weights) entry_weights[e + row + 1] = T(1);
    }
  };
  const int64_t nodes = edges.num_nodes;
  splits[0] = 0;
  if (nodes == 0) return;
  columns[0] = 0;
  if (entry_weights) entry_weights[0] = T(1);
  parallel_ranges(edges.count, 1 << 14, [&](int64_t begin, int64_t end) {
    begin = first_of_row(begin);
    end = first_of_row(end);
    int64_t row = begin > 0 ? edges.target(begin - 1) : 0;
    for (int64_t e = begin; e < end; ++e) {
      const int64_t s = edges.source(e), t = edges.target(e), above = s > t;
      if (t != row) finish_rows(e, row, t);
      row = t;
      columns[e + t + above] = static_cast<int32_t>(s);
      columns[e + t + 1] = static_cast<int32_t>(above ? s : t);
      if (entry_weights) {
        entry_weights[e + t + above] = weights[e];
        entry_weights[e + t + 1] = above ? weights[e] : T(1);
      }
    }
  });
  const int64_t last = edges.count > 0 ? edges.target(edges.count - 1) : 0;
  finish_rows(edges.count, last, nodes - 1);
  splits[nodes] = static_cast<int32_t>(edges.count + nodes);
}

// The place where each of `keys` [count] goes when they are brought into order, equal ones staying in theirs:
// place(k) is called with item and place. `splits` [num_keys + 1] receives where each key's items begin.
//
// Parts of the items are counted and placed side by side; the places are the same however many parts there are.
template <class Key, class Place>
void counting_sort(int64_t count, int64_t num_keys, int32_t* splits, const Key& key, const Place& place) {
  const int64_t parts = std::max<int64_t>(1, std::min<int64_t>({threads(), 16, count / (2 * num_keys + 4096)}));
  const auto bound = [&](int64_t part) { return count * part / parts; };
  auto next = uncleared<int32_t>(parts * num_keys);
  parallel(parts, static_cast<int>(parts), [&](int64_t part, int) {
    int32_t* mine = next.get() + part * num_keys;
    std::fill_n(mine, num_keys, 0);
    for (int64_t i = bound(part); i < bound(part + 1); ++i) ++mine[key(i)];
  });
  int32_t total = 0;
  for (int64_t k = 0; k < num_keys; ++k) {
    splits[k] = total;
    for (int64_t part = 0; part < parts; ++part) {
      const int32_t here = next[part * num_keys + k];
      next[part * num_keys + k] = total;
      total += here;
    }
  }
  splits[num_keys] = total;
  parallel(parts, static_cast<int>(parts), [&](int64_t part, int) {
    int32_t* mine = next.get() + part * num_keys;
    for (int64_t i = bound(part); i < bound(part + 1); ++i) place(i, mine[key(i)]++);
  });
}

// The lists of edges in any order, with repetitions and self-loops: a repeated edge counts once (with the sum of its
// weights), self-loops are replaced by the one that every node has.
template <class Index, class T>
class UnsortedLists {
 public:
  explicit UnsortedLists(const Edges<Index>& edges)
      : edges_(edges), bucket_splits_(uncleared<int32_t>(edges.num_nodes + 1)), bucket_(uncleared<Item>(edges.count)) {
    counting_sort(
        edges.count, edges.num_nodes, bucket_splits_.get(), [&](int64_t e) { return edges.target(e); },
        [&](int64_t e, int32_t place) {
          bucket_[place] = {static_cast<int32_t>(edges.source(e)), static_cast<int32_t>(e)};
        });
  }

  // Sorts each row and writes the splits.
  int64_t row_splits(int32_t* splits) {
    splits[0] = 0;
    for_rows([&](int64_t row) {
      Item *begin = bucket_.get() + bucket_splits_[row], *end = bucket_.get() + bucket_splits_[row + 1];
      std::sort(begin, end);
      int32_t count = 1;
      for (const Item* item = begin; item < end; ++item) count += counts(item, begin, row);
      splits[row + 1] = count;
    });
    for (int64_t row = 0; row < edges_.num_nodes; ++row) splits[row + 1] += splits[row];
    return splits[edges_.num_nodes];
  }

  void fill(const int32_t* splits, const T* weights, int32_t* columns, T* entry_weights) {
    for_rows([&](int64_t row) {
      const Item *begin = bucket_.get() + bucket_splits_[row], *end = bucket_.get() + bucket_splits_[row + 1];
      int64_t place = splits[row];
      const auto put = [&](int64_t column, T weight) {
        columns[place] = static_cast<int32_t>(column);
        if (entry_weights) entry_weights[place] = weight;
        ++place;
      };
      bool loop_is_put = false;
      for (const Item* item = begin; item < end; ++item) {
        if (!counts(item, begin, row)) continue;
        if (item->source > row && !loop_is_put) {
          put(row, T(1));
          loop_is_put = true;
        }
        T weight = entry_weights ? weights[item->edge] : T(1);
        for (const Item* same = item + 1; entry_weights && same < end && same->source == item->source; ++same)
          weight += weights[same->edge];
        put(item->source, weight);
      }
      if (!loop_is_put) put(row, T(1));
    });
  }

 private:
  struct Item {
    int32_t source, edge;
    bool operator<(const Item& other) const {
      return source != other.source ? source < other.source : edge < other.edge;
    }
  };

  static bool counts(const Item* item, const Item* begin, int64_t row) {
    return item->source != row && (item == begin || item[-1].source != item->source);
  }

  template <class Work>
  void for_rows(const Work& work) {
    const int64_t grain = std::max<int64_t>(64, edges_.num_nodes / 64);
    parallel_ranges(edges_.num_nodes, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) work(row);
    });
  }

  const Edges<Index>& edges_;
  std::unique_ptr<int32_t[]> bucket_splits_;
  std::unique_ptr<Item[]> bucket_;
};

// Throws Invalid where a column is out of range.
inline void check_columns(const int32_t* columns, int64_t count, int64_t num_columns) {
  std::atomic<bool> good{true};
  parallel_ranges(count, 1 << 16, [&](int64_t begin, int64_t end) {
    bool fine = true;
    for (int64_t e = begin; e < end; ++e) fine &= static_cast<uint32_t>(columns[e]) < static_cast<uint64_t>(num_columns);
    if (!fine) good.store(false, std::memory_order_relaxed);
  });
  require(good.load(), "`columns` names a column that does not exist.");
}

// Whether the lists are their own transpose, as those of an undirected graph are, and then the place of (j, i) for each
// entry (i, j), in `places`. Such lists are found in a look at half of the entries, and others given up at the first
// entry without its counterpart.
//
// Row by row, in row i: an entry j < i must be what row j has next behind its diagonal, since the rows before i have
// taken what is before it. Behind the last row nothing may be left over.
inline bool own_transpose(const Lists& lists, int32_t* places) {
  if (lists.rows != lists.num_columns) return false;
  const auto next = uncleared<int32_t>(lists.rows);  // of row j: its first entry that no row below has taken
  const int32_t *splits = lists.splits, *columns = lists.columns;
  for (int32_t row = 0; row < lists.rows; ++row) {
    int32_t e = splits[row], before = -1;
    const int32_t end = splits[row + 1];
    for (; e < end && columns[e] < row; ++e) {
      const int32_t column = columns[e], there = next[column];
      if (column <= before || there >= splits[column + 1] || columns[there] != row) return false;
      next[column] = there + 1;
      places[there] = e;
      places[e] = there;
      before = column;
    }
    if (e < end && columns[e] == row) {
      places[e] = e;
      ++e;
    }
    next[row] = e;
  }
  for (int64_t row = 0; row < lists.rows; ++row)
    if (next[row] != splits[row + 1]) return false;
  return true;
}

// The lists of columns: for each column the rows that have it, ascending, and the place of that entry in `lists`.
inline void transpose(const Lists& lists, int32_t* splits, int32_t* rows, int32_t* places) {
  Plan plan(lists, 1, false);  // checks the splits
  check_columns(lists.columns, lists.entries, lists.num_columns);
  if (own_transpose(lists, places)) {
    std::copy_n(lists.splits, lists.rows + 1, splits);
    std::copy_n(lists.columns, lists.entries, rows);
    return;
  }
  auto row_of = uncleared<int32_t>(lists.entries);
  parallel(static_cast<int64_t>(plan.tasks().size()), plan.workers(), [&](int64_t t, int) {
    for (int32_t row = plan.tasks()[t].first; row < plan.tasks()[t].last; ++row)
      std::fill(row_of.get() + lists.splits[row], row_of.get() + lists.splits[row + 1], row);
  });
  counting_sort(
      lists.entries, lists.num_columns, splits, [&](int64_t e) { return lists.columns[e]; },
      [&](int64_t e, int32_t place) {
        rows[place] = row_of[e];
        places[place] = static_cast<int32_t>(e);
      });
}

// 1/d or 1/√d for each row, d its number of entries or the sum of their weights; without its self-loop where
// `skip_self` says so. A row without entries, or with weights of 0 alone, has 0.
template <class T>
void normalization(const Lists& lists, const T* weights, bool root, bool skip_self, T* factors) {
  Plan plan(lists, 2, false);
  parallel(static_cast<int64_t>(plan.tasks().size()), plan.workers(), [&](int64_t t, int) {
    for (int32_t row = plan.tasks()[t].first; row < plan.tasks()[t].last; ++row) {
      const int64_t begin = lists.splits[row], end = lists.splits[row + 1];
      int64_t count = end - begin;
      T sum = 0;
      for (int64_t e = begin; e < end && (weights || skip_self); ++e) {
        const bool skip = skip_self && lists.columns[e] == row;
        count -= skip;
        if (weights && !skip) sum += weights[e];
      }
      const T degree = weights ? sum : static_cast<T>(count);
      factors[row] = !(degree > 0) ? T(0) : root ? T(1) / std::sqrt(degree) : T(1) / degree;
    }
  });
}

constexpr int64_t kEmptyGraphs = 1 << 16;  // as in ops/checks.py

// Where each graph's rows begin, from ascending `ids` [count]. `splits` has ids[count - 1] + 2 places.
template <class Index>
void check_graph_ids(const Index* ids, int64_t count, int64_t num_nodes) {
  if (count != num_nodes)
    throw Invalid("`graph_ids` has " + std::to_string(count) + " entries, but `x` has " + std::to_string(num_nodes) +
                  " nodes.");
  int64_t bad = -1;
  for (int64_t n = 1; n < count && bad < 0; ++n)
    if (ids[n] < ids[n - 1]) bad = n;
  if (bad < 0 && count > 0 && ids[0] < 0) bad = 0;
  if (bad >= 0)
    throw Invalid("`graph_ids` must be ascending from 0, but entry " + std::to_string(bad) + " is " +
                  std::to_string(ids[bad]) + (bad > 0 ? " after " + std::to_string(ids[bad - 1]) : std::string()) +
                  ": put the nodes of one graph next to each other.");
  require(count < INT32_MAX - kEmptyGraphs - 2, "`graph_ids` has too many entries: at most 2^31 - 2^16 - 4.");
  // One wild number would otherwise take all the memory there is.
  if (count > 0 && ids[count - 1] >= num_nodes + kEmptyGraphs)
    throw Invalid("`graph_ids` goes up to " + std::to_string(ids[count - 1]) + " for " + std::to_string(num_nodes) +
                  " nodes, so that more than " + std::to_string(kEmptyGraphs) +
                  " graphs would have none: number the graphs 0, 1, 2, ...");
}

template <class Index>
void segment_splits(const Index* ids, int64_t count, int32_t* splits, int32_t* narrow) {
  int64_t graph = -1;
  for (int64_t n = 0; n < count; ++n) {
    narrow[n] = static_cast<int32_t>(ids[n]);
    while (graph < ids[n]) splits[++graph] = static_cast<int32_t>(n);
  }
  splits[graph + 1] = static_cast<int32_t>(count);
}

}  // namespace ganet

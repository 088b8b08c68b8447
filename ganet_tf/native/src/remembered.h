// Neighbour lists of graphs that have come before, and their transposes. A model that is trained on one graph, or
// evaluated on the same batches after every epoch, gets the same edges again and again.
//
// Edges are compared byte by byte with a copy of those that the lists were made from: an address proves nothing, since
// what stands there may have been changed (NumPy shares its memory with tensors). Nothing is kept of a graph that came
// once. The kept tensors are TensorFlow's own, handed out by reference; TensorFlow writes to none that has two owners.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "core.h"
#include "tensorflow_api.h"

namespace ganet {

// What lists are made from.
struct GraphSource {
  const char* edges;
  const char* weights;
  int64_t edge_bytes, weight_bytes, count, num_nodes;
  int index_type, weight_type;

  bool like(const GraphSource& other) const {
    return count == other.count && num_nodes == other.num_nodes && index_type == other.index_type &&
           weight_type == other.weight_type && edge_bytes == other.edge_bytes && weight_bytes == other.weight_bytes;
  }

  // A number that tells most graphs apart, from a few of their bytes.
  uint64_t glance() const {
    uint64_t sum = static_cast<uint64_t>(count) * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(num_nodes);
    const auto add = [&sum](const char* bytes, int64_t size) {
      for (int64_t i = 0; i < 64 && size >= 8; ++i) {
        uint64_t word;
        std::memcpy(&word, bytes + (size / 8 - 1) * i / 63 * 8, 8);
        sum = (sum ^ word) * 0xbf58476d1ce4e5b9ull;
        sum ^= sum >> 29;
      }
    };
    add(edges, edge_bytes);
    add(weights, weight_bytes);
    return sum;
  }
};

inline bool same_bytes(const char* a, const char* b, int64_t size) {
  std::atomic<bool> same{true};
  parallel_ranges(size, 1 << 19, [&](int64_t begin, int64_t end) {
    if (same.load(std::memory_order_relaxed) && std::memcmp(a + begin, b + begin, end - begin) != 0)
      same.store(false, std::memory_order_relaxed);
  });
  return same.load();
}

// Three tensors that go together: lists (splits, columns, weights), or a transpose (splits, rows, places).
struct Triple {
  TF_Tensor* tensors[3] = {nullptr, nullptr, nullptr};

  Triple() = default;
  Triple(const Triple&) = delete;
  ~Triple() {
    for (TF_Tensor* tensor : tensors)
      if (tensor != nullptr) TF_DeleteTensor(tensor);
  }
};

struct RememberedGraph {
  GraphSource source;  // its sizes and types; the bytes are these:
  std::vector<char> edges, weights;
  std::shared_ptr<const Triple> lists, transposed;
};

// A few graphs, the one that was asked for last in front. A thread that finds another one at work does without: no
// call waits here, and a forked child whose parent was at work just never finds anything.
class RememberedGraphs {
 public:
  static RememberedGraphs& instance() {
    static RememberedGraphs* all = new RememberedGraphs;  // never destroyed: TensorFlow may outlive main()
    return *all;
  }

  void enable(bool on) {
    std::lock_guard<std::mutex> lock(mutex_);
    enabled_ = on;
    graphs_.clear();
  }
  int64_t hits() const { return hits_.load(); }

  // The lists of the same graph, or null.
  std::shared_ptr<const Triple> lists(const GraphSource& source) {
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return nullptr;
    for (size_t i = 0; i < graphs_.size(); ++i) {
      const std::shared_ptr<RememberedGraph>& graph = graphs_[i];
      if (!graph->source.like(source)) continue;
      if (!same_bytes(graph->edges.data(), source.edges, source.edge_bytes)) continue;
      if (!same_bytes(graph->weights.data(), source.weights, source.weight_bytes)) continue;
      std::rotate(graphs_.begin(), graphs_.begin() + i, graphs_.begin() + i + 1);
      ++hits_;
      return graphs_[0]->lists;
    }
    return nullptr;
  }

  // To be told of the lists of a graph that was not found.
  void add(const GraphSource& source, const std::shared_ptr<const Triple>& made) {
    try {
      keep(source, made);
    } catch (const std::bad_alloc&) {  // then it is not remembered
    }
  }

  // The transpose of lists that are kept here, which is known by their addresses: nobody else can have those. Null if
  // it is not there yet, and `mine` then says whether `add_transposed` should be told.
  std::shared_ptr<const Triple> transposed(const void* splits, const void* columns, int64_t num_columns, bool* mine) {
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    RememberedGraph* graph = lock.owns_lock() ? find(splits, columns, num_columns) : nullptr;
    *mine = graph != nullptr && graph->transposed == nullptr;
    return graph ? graph->transposed : nullptr;
  }
  void add_transposed(const void* splits, const void* columns, int64_t num_columns, const std::shared_ptr<const Triple>& made) {
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (RememberedGraph* graph = lock.owns_lock() ? find(splits, columns, num_columns) : nullptr) graph->transposed = made;
  }

 private:
  static constexpr size_t kGraphs = 16, kSeen = 64;
  // Of all that are kept: at 20 bytes an edge 160 MB.
  static constexpr int64_t kMostEdges = 1 << 23;

  void keep(const GraphSource& source, const std::shared_ptr<const Triple>& made) {
    if (source.count == 0 || source.count > kMostEdges) return;
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || !enabled_) return;
    const uint64_t glance = source.glance();
    const auto seen = std::find(seen_.begin(), seen_.end(), glance);
    if (seen == seen_.end()) {  // comes for the first time, like most batches
      if (seen_.size() == kSeen) seen_.erase(seen_.begin());
      seen_.push_back(glance);
      return;
    }
    auto graph = std::make_shared<RememberedGraph>();
    graph->edges.assign(source.edges, source.edges + source.edge_bytes);
    graph->weights.assign(source.weights, source.weights + source.weight_bytes);
    graph->source = source;
    graph->source.edges = graph->source.weights = nullptr;
    graph->lists = made;
    graphs_.insert(graphs_.begin(), graph);
    int64_t edges = 0;
    size_t kept = 0;
    while (kept < std::min(graphs_.size(), kGraphs) && (edges += graphs_[kept]->source.count) <= kMostEdges) ++kept;
    graphs_.resize(kept);
  }

  RememberedGraph* find(const void* splits, const void* columns, int64_t num_columns) {
    for (const auto& graph : graphs_)
      if (graph->source.num_nodes == num_columns && TF_TensorData(graph->lists->tensors[0]) == splits &&
          TF_TensorData(graph->lists->tensors[1]) == columns)
        return graph.get();
    return nullptr;
  }

  std::mutex mutex_;
  bool enabled_ = true;
  std::vector<std::shared_ptr<RememberedGraph>> graphs_;
  std::vector<uint64_t> seen_;
  std::atomic<int64_t> hits_{0};
};

}  // namespace ganet

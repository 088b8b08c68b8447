// TensorFlow's side: each op's definition, the checks of what comes in, and the call of a kernel.
//
// Nothing here trusts TensorFlow's shape functions: they do not run eagerly. Every error is a sentence (`Invalid`) that
// becomes an InvalidArgumentError; no exception leaves a kernel.

#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "kernels.h"
#include "lists.h"
#include "remembered.h"
#include "tensorflow_api.h"

namespace ganet {
namespace {

template <class T>
constexpr TF_DataType type_of = TF_FLOAT;
template <>
constexpr TF_DataType type_of<double> = TF_DOUBLE;
template <>
constexpr TF_DataType type_of<int32_t> = TF_INT32;
template <>
constexpr TF_DataType type_of<int64_t> = TF_INT64;

// What TensorFlow said no to.
struct Failure {
  TF_Code code;
  std::string message;
};

struct Status {
  TF_Status* raw = TF_NewStatus();
  Status() = default;
  Status(const Status&) = delete;
  ~Status() { TF_DeleteStatus(raw); }
  void check() const {
    if (TF_GetCode(raw) != TF_OK) throw Failure{TF_GetCode(raw), TF_Message(raw)};
  }
};

// An input of some type and rank: its numbers and sizes.
template <class T>
class Input {
 public:
  Input(TF_OpKernelContext* context, int index) {
    Status status;
    TF_GetInput(context, index, &tensor_, status.raw);
    status.check();
    if (TF_TensorType(tensor_) != type_of<T>) throw Invalid("input " + std::to_string(index) + " has the wrong type.");
  }
  Input(const Input&) = delete;
  ~Input() { TF_DeleteTensor(tensor_); }

  int rank() const { return TF_NumDims(tensor_); }
  int64_t size() const { return TF_TensorElementCount(tensor_); }
  int64_t dim(int axis) const { return axis < rank() ? TF_Dim(tensor_, axis) : 0; }
  const T* data() const { return static_cast<const T*>(TF_TensorData(tensor_)); }
  // Null for an input that was left out.
  const T* data_or_null(bool given) const { return given ? data() : nullptr; }

  std::string shape() const {  // as Python prints it
    std::string text = "(";
    for (int axis = 0; axis < rank(); ++axis) text += (axis ? ", " : "") + std::to_string(dim(axis));
    return text + (rank() == 1 ? ",)" : ")");
  }

  const Input& with_rank(int wanted, const char* name) const {
    if (rank() != wanted)
      throw Invalid("`" + std::string(name) + "` must have " + std::to_string(wanted) + " axes, but has shape " + shape() + ".");
    return *this;
  }
  const Input& with_size(int64_t wanted, const char* name) const {
    with_rank(1, name);
    if (size() != wanted)
      throw Invalid("`" + std::string(name) + "` must have " + std::to_string(wanted) + " entries, but has " +
                    std::to_string(size()) + ".");
    return *this;
  }
  const Input& with_shape(int64_t rows, int64_t columns, const char* name) const {
    with_rank(2, name);
    if (dim(0) != rows || dim(1) != columns)
      throw Invalid("`" + std::string(name) + "` must have shape (" + std::to_string(rows) + ", " +
                    std::to_string(columns) + "), but has " + shape() + ".");
    return *this;
  }
  T scalar(const char* name) const {
    with_rank(0, name);
    return *data();
  }

 private:
  TF_Tensor* tensor_ = nullptr;
};

// An output's numbers; the tensor itself goes to `kept`, if that is given.
template <class T>
T* output(TF_OpKernelContext* context, int index, std::vector<int64_t> dims, Triple* kept = nullptr) {
  Status status;
  int64_t size = 1;
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(size, dim, &size) || size > std::numeric_limits<int64_t>::max() / 16)
      throw Invalid("the result would be larger than any memory.");
  TF_Tensor* tensor = TF_AllocateOutput(context, index, type_of<T>, dims.data(), static_cast<int>(dims.size()),
                                        static_cast<size_t>(size) * sizeof(T), status.raw);
  if (TF_GetCode(status.raw) == TF_OK && tensor == nullptr) throw std::bad_alloc();
  status.check();
  T* data = static_cast<T*>(TF_TensorData(tensor));
  if (kept != nullptr) kept->tensors[index] = tensor;
  else TF_DeleteTensor(tensor);  // the op keeps its own reference
  return data;
}

void set_outputs(TF_OpKernelContext* context, const Triple& known) {
  Status status;
  for (int index = 0; index < 3; ++index) {
    TF_SetOutput(context, index, known.tensors[index], status.raw);
    status.check();
  }
}

Lists lists_of(const Input<int32_t>& splits, const Input<int32_t>& columns, int64_t rows, int64_t num_columns) {
  splits.with_size(rows + 1, "row_splits");
  columns.with_rank(1, "columns");
  require(num_columns <= INT32_MAX, "more than 2^31 - 1 columns.");
  return {splits.data(), columns.data(), rows, num_columns, columns.size()};
}

int64_t rows_of(const Input<int32_t>& splits) {
  splits.with_rank(1, "row_splits");
  require(splits.size() > 0, "`row_splits` must have one entry more than there are rows.");
  return splits.size() - 1;
}

struct Attributes {
  int64_t heads = 1, k = 0, ranking = 0, flags = 0;
  float dropout = 0;
};
enum Flags : int64_t { kWeighted = 1, kRoot = 2, kSkipSelf = 4 };

typedef TF_OpKernelContext Context;

template <class Index, class T>
void compute_lists(const Attributes& attributes, Context* context) {
  const Input<Index> edges(context, 0);
  const Input<int32_t> num_nodes(context, 1);
  const Input<T> weights(context, 2);
  if (edges.rank() != 2 || edges.dim(1) != 2)
    throw Invalid("`edges` must have shape [edges, 2], a row = (source, target), but has " + edges.shape() +
                  (edges.rank() == 2 && edges.dim(0) == 2 ? ": transpose it." : "."));
  const bool weighted = attributes.flags & kWeighted;
  weights.with_size(weighted ? edges.dim(0) : 0, "edge_weights");
  const T* given = weights.data();
  const GraphSource source = {reinterpret_cast<const char*>(edges.data()),
                              reinterpret_cast<const char*>(given),
                              edges.size() * static_cast<int64_t>(sizeof(Index)),
                              weights.size() * static_cast<int64_t>(sizeof(T)),
                              edges.dim(0),
                              num_nodes.scalar("num_nodes"),
                              type_of<Index>,
                              type_of<T>};
  if (const auto remembered = RememberedGraphs::instance().lists(source)) return set_outputs(context, *remembered);
  const Edges<Index> known(edges.data(), source.count, source.num_nodes);
  const auto made = std::make_shared<Triple>();
  int32_t* splits = output<int32_t>(context, 0, {known.num_nodes + 1}, made.get());
  const auto make_rest = [&](int64_t entries, const auto& fill) {
    int32_t* columns = output<int32_t>(context, 1, {entries}, made.get());
    T* entry_weights = output<T>(context, 2, {weighted ? entries : 0}, made.get());
    fill(columns, weighted ? entry_weights : nullptr);
    RememberedGraphs::instance().add(source, made);
  };
  if (known.canonical)
    return make_rest(known.count + known.num_nodes, [&](int32_t* columns, T* entry_weights) {
      canonical_lists(known, given, splits, columns, entry_weights);
    });
  UnsortedLists<Index, T> unsorted(known);
  make_rest(unsorted.row_splits(splits), [&](int32_t* columns, T* entry_weights) {
    unsorted.fill(splits, given, columns, entry_weights);
  });
}

void compute_transpose(const Attributes&, Context* context) {
  const Input<int32_t> splits(context, 0), columns(context, 1), num_columns(context, 2);
  const int64_t wanted = num_columns.scalar("num_columns");
  require(wanted >= 0, "the number of columns must not be negative.");
  const Lists lists = lists_of(splits, columns, rows_of(splits), wanted);
  bool to_be_kept = false;
  auto& remembered = RememberedGraphs::instance();
  const auto known = remembered.transposed(lists.splits, lists.columns, wanted, &to_be_kept);
  if (known != nullptr) return set_outputs(context, *known);
  const auto made = std::make_shared<Triple>();
  int32_t* new_splits = output<int32_t>(context, 0, {wanted + 1}, made.get());
  int32_t* rows = output<int32_t>(context, 1, {lists.entries}, made.get());
  transpose(lists, new_splits, rows, output<int32_t>(context, 2, {lists.entries}, made.get()));
  if (to_be_kept) remembered.add_transposed(lists.splits, lists.columns, wanted, made);
}

template <class T>
void compute_normalization(const Attributes& attributes, Context* context) {
  const Input<int32_t> splits(context, 0), columns(context, 1);
  const Input<T> weights(context, 2);
  const Lists lists = lists_of(splits, columns, rows_of(splits), INT32_MAX);
  const bool weighted = attributes.flags & kWeighted;
  weights.with_size(weighted ? lists.entries : 0, "weights");
  normalization(lists, weights.data_or_null(weighted), attributes.flags & kRoot, attributes.flags & kSkipSelf,
                output<T>(context, 0, {lists.rows}));
}

template <class Index>
void compute_segments(const Attributes&, Context* context) {
  const Input<Index> ids(context, 0);
  const Input<int32_t> num_nodes(context, 1);
  if (ids.rank() != 1) throw Invalid("`graph_ids` must have shape [nodes], but has " + ids.shape() + ".");
  check_graph_ids(ids.data(), ids.size(), num_nodes.scalar("num_nodes"));
  const int64_t graphs = ids.size() ? ids.data()[ids.size() - 1] + 1 : 0;
  int32_t* splits = output<int32_t>(context, 0, {graphs + 1});
  segment_splits(ids.data(), ids.size(), splits, output<int32_t>(context, 1, {ids.size()}));
}

Dropout dropout_of(const Attributes& attributes, const Input<int64_t>& seed) {
  require(attributes.dropout >= 0 && attributes.dropout < 1, "`dropout` must be at least 0 and below 1.");
  Dropout result;
  result.rate = attributes.dropout;
  seed.with_size(attributes.dropout > 0 ? 2 : 0, "dropout_seed");
  if (attributes.dropout > 0) std::memcpy(result.seed, seed.data(), sizeof(result.seed));
  return result;
}

// The widths of one head, from [.., heads · width] tensors.
template <class T>
void set_widths(const Attributes& attributes, const Input<T>& queries, const Input<T>& keys, const Input<T>& values,
                int64_t* key_width, int64_t* value_width) {
  require(attributes.heads >= 1, "`heads` must be at least 1.");
  queries.with_rank(2, "queries");
  values.with_rank(2, "values");
  keys.with_shape(values.dim(0), queries.dim(1), "keys");
  require(queries.dim(1) % attributes.heads == 0 && values.dim(1) % attributes.heads == 0,
          "the widths of `keys` and `values` must be multiples of `heads`.");
  *key_width = queries.dim(1) / attributes.heads;
  *value_width = values.dim(1) / attributes.heads;
}

// How many of each row's entries are chosen: [rows + 1] sums of min(k, entries).
void chosen_splits(const Lists& lists, int64_t k, int32_t* splits) {
  Plan(lists, 1, false);  // checks that the splits ascend
  splits[0] = 0;
  for (int64_t row = 0; row < lists.rows; ++row)
    splits[row + 1] = splits[row] + static_cast<int32_t>(std::min<int64_t>(k, lists.splits[row + 1] - lists.splits[row]));
}

template <class T>
void compute_attend(const Attributes& attributes, Context* context) {
  const Input<T> queries(context, 0), keys(context, 1), values(context, 2), weights(context, 5), scores(context, 6);
  const Input<int32_t> splits(context, 3), columns(context, 4);
  const Input<int64_t> seed(context, 7);
  Attend<T> a = {};
  a.heads = attributes.heads;
  set_widths(attributes, queries, keys, values, &a.key_width, &a.value_width);
  a.lists = lists_of(splits, columns, queries.dim(0), values.dim(0));
  require(attributes.ranking >= 0 && attributes.ranking <= 2, "`ranking` must be 0, 1 or 2.");
  a.ranking = static_cast<Ranking>(attributes.ranking);
  a.k = attributes.k;
  const bool all = a.ranking == Ranking::kAll, weighted = attributes.flags & kWeighted;
  require(all || a.k >= 1, "`k` must be at least 1.");
  require(a.ranking != Ranking::kByScore || a.heads == 1, "ranking by scores is for one head.");
  scores.with_size(a.ranking == Ranking::kByNode ? values.dim(0) : 0, "scores");
  weights.with_size(weighted ? a.lists.entries : 0, "weights");
  a.dropout = dropout_of(attributes, seed);
  a.queries = queries.data();
  a.keys = keys.data();
  a.values = values.data();
  a.scores = scores.data();
  a.weights = weights.data_or_null(weighted);
  a.output = output<T>(context, 0, {a.lists.rows, values.dim(1)});
  int32_t* new_splits = output<int32_t>(context, 2, {all ? 0 : a.lists.rows + 1});
  if (!all) chosen_splits(a.lists, a.k, new_splits);
  const int64_t chosen = all ? a.lists.entries : new_splits[a.lists.rows];
  a.chosen_splits = all ? a.lists.splits : new_splits;
  a.alpha = output<T>(context, 1, {chosen, a.heads});
  a.chosen_columns = output<int32_t>(context, 3, {all ? 0 : chosen});
  const bool keeps_weights = weighted && a.ranking == Ranking::kByScore;
  T* chosen_weights = output<T>(context, 4, {keeps_weights ? chosen : 0});
  a.chosen_weights = keeps_weights ? chosen_weights : nullptr;
  kernels<T>().attend(a);
}

template <class T>
void compute_attend_gradient(const Attributes& attributes, Context* context) {
  const Input<T> queries(context, 0), keys(context, 1), values(context, 2), weights(context, 5);
  const Input<int32_t> splits(context, 3), columns(context, 4), t_splits(context, 6), t_columns(context, 7), places(context, 8);
  const Input<T> alpha(context, 9), out(context, 10), d_output(context, 11);
  const Input<int64_t> seed(context, 12);
  AttendGradient<T> a = {};
  a.heads = attributes.heads;
  set_widths(attributes, queries, keys, values, &a.key_width, &a.value_width);
  a.lists = lists_of(splits, columns, queries.dim(0), values.dim(0));
  a.transposed = lists_of(t_splits, t_columns, values.dim(0), queries.dim(0));
  require(a.transposed.entries == a.lists.entries, "the transposed lists must have as many entries as the lists.");
  const bool weighted = attributes.flags & kWeighted;
  a.dropout = dropout_of(attributes, seed);
  a.queries = queries.data();
  a.keys = keys.data();
  a.values = values.data();
  a.places = places.with_size(a.lists.entries, "places").data();
  a.weights = weights.with_size(weighted ? a.lists.entries : 0, "weights").data_or_null(weighted);
  a.alpha = alpha.with_shape(a.lists.entries, a.heads, "alpha").data();
  a.output = out.with_shape(a.lists.rows, values.dim(1), "output").data();
  a.d_output = d_output.with_shape(a.lists.rows, values.dim(1), "d_output").data();
  a.d_queries = output<T>(context, 0, {queries.dim(0), queries.dim(1)});
  a.d_keys = output<T>(context, 1, {keys.dim(0), keys.dim(1)});
  a.d_values = output<T>(context, 2, {values.dim(0), values.dim(1)});
  kernels<T>().attend_gradient(a);
}

template <class T>
void compute_product(const Attributes& attributes, Context* context) {
  const Input<T> x(context, 0), weights(context, 3), before(context, 5), after(context, 6);
  const Input<int32_t> splits(context, 1), columns(context, 2), places(context, 4);
  Product<T> a = {};
  x.with_rank(2, "x");
  a.lists = lists_of(splits, columns, rows_of(splits), x.dim(0));
  a.heads = 1;
  a.width = x.dim(1);
  a.skip_self = attributes.flags & kSkipSelf;
  const bool weighted = attributes.flags & kWeighted;
  weights.with_size(weighted ? a.lists.entries : 0, "weights");
  a.weights = weights.data_or_null(weighted);
  a.num_weights = weights.size();
  if (places.size()) a.places = places.with_size(a.lists.entries, "places").data();
  if (before.size()) a.before = before.with_size(a.lists.num_columns, "before").data();
  if (after.size()) a.after = after.with_size(a.lists.rows, "after").data();
  if (!weighted) a.places = nullptr;
  a.x = x.data();
  a.y = output<T>(context, 0, {a.lists.rows, a.width});
  kernels<T>().product(a);
}

template <class T>
void compute_maximum(const Attributes& attributes, Context* context) {
  const Input<T> x(context, 0);
  const Input<int32_t> splits(context, 1), columns(context, 2);
  x.with_rank(2, "x");
  Maximum<T> a = {};
  a.lists = lists_of(splits, columns, rows_of(splits), x.dim(0));
  a.width = x.dim(1);
  a.skip_self = attributes.flags & kSkipSelf;
  a.x = x.data();
  a.y = output<T>(context, 0, {a.lists.rows, a.width});
  a.count = output<T>(context, 1, {a.lists.rows, a.width});
  kernels<T>().maximum(a);
}

template <class T>
void compute_maximum_gradient(const Attributes& attributes, Context* context) {
  const Input<T> x(context, 0), y(context, 1), count(context, 2), dy(context, 3);
  const Input<int32_t> splits(context, 4), rows(context, 5);
  x.with_rank(2, "x");
  y.with_rank(2, "y");
  MaximumGradient<T> a = {};
  a.transposed = lists_of(splits, rows, x.dim(0), y.dim(0));
  a.width = x.dim(1);
  a.skip_self = attributes.flags & kSkipSelf;
  a.x = x.data();
  a.y = y.with_shape(y.dim(0), a.width, "y").data();
  a.count = count.with_shape(y.dim(0), a.width, "count").data();
  a.dy = dy.with_shape(y.dim(0), a.width, "d_y").data();
  a.dx = output<T>(context, 0, {x.dim(0), a.width});
  kernels<T>().maximum_gradient(a);
}

template <class T>
void compute_softmax(const Attributes&, Context* context) {
  const Input<T> x(context, 0);
  const Input<int32_t> splits(context, 1);
  x.with_rank(2, "x");
  Softmax<T> a = {};
  a.segments = {splits.data(), nullptr, rows_of(splits), x.dim(0), x.dim(0)};
  a.width = x.dim(1);
  a.x = x.data();
  a.y = output<T>(context, 0, {x.dim(0), a.width});
  kernels<T>().softmax(a);
}

template <class T>
void compute_softmax_gradient(const Attributes&, Context* context) {
  const Input<T> y(context, 0), dy(context, 1);
  const Input<int32_t> splits(context, 2);
  y.with_rank(2, "y");
  SoftmaxGradient<T> a = {};
  a.segments = {splits.data(), nullptr, rows_of(splits), y.dim(0), y.dim(0)};
  a.width = y.dim(1);
  a.y = y.data();
  a.dy = dy.with_shape(y.dim(0), a.width, "d_y").data();
  a.dx = output<T>(context, 0, {y.dim(0), a.width});
  kernels<T>().softmax_gradient(a);
}

// The attributes that an op has, read when TensorFlow makes its kernel.
template <bool kHasFlags, bool kIsAttention, bool kHasRanking>
void* create(TF_OpKernelConstruction* construction) {
  Attributes* attributes = new (std::nothrow) Attributes;
  if (attributes == nullptr) return nullptr;
  TF_Status* status = TF_NewStatus();
  const auto read = [&](bool has, const char* name, int64_t* value) {
    if (has && TF_GetCode(status) == TF_OK) TF_OpKernelConstruction_GetAttrInt64(construction, name, value, status);
  };
  read(kHasFlags, "flags", &attributes->flags);
  read(kIsAttention, "heads", &attributes->heads);
  read(kHasRanking, "ranking", &attributes->ranking);
  read(kHasRanking, "k", &attributes->k);
  if (kIsAttention && TF_GetCode(status) == TF_OK)
    TF_OpKernelConstruction_GetAttrFloat(construction, "dropout", &attributes->dropout, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(construction, status);
  TF_DeleteStatus(status);
  return attributes;
}

void destroy(void* attributes) { delete static_cast<Attributes*>(attributes); }

void fail(Context* context, TF_Code code, const char* message) {
  TF_Status* status = TF_NewStatus();
  TF_SetStatus(status, code, message);
  TF_OpKernelContext_Failure(context, status);
  TF_DeleteStatus(status);
}

template <void (*kCompute)(const Attributes&, Context*)>
void guarded(void* attributes, Context* context) {
  try {
    if (attributes == nullptr) throw std::bad_alloc();
    kCompute(*static_cast<const Attributes*>(attributes), context);
  } catch (const Invalid& error) {
    fail(context, TF_INVALID_ARGUMENT, error.what());
  } catch (const Failure& failure) {
    fail(context, failure.code, failure.message.c_str());
  } catch (const std::bad_alloc&) {
    fail(context, TF_RESOURCE_EXHAUSTED, "not enough memory for this graph: use smaller batches.");
  } catch (const std::exception& error) {
    fail(context, TF_INTERNAL, error.what());
  } catch (...) {
    fail(context, TF_INTERNAL, "an unknown error in a native kernel.");
  }
}

void unknown_shapes(TF_ShapeInferenceContext* context, TF_Status* status) {
  TF_ShapeInferenceContextSetUnknownShape(context, status);  // Python sets them, see operators.py
}

typedef void* (*Create)(TF_OpKernelConstruction*);
typedef void (*Compute)(void*, Context*);

struct TypeChoice {
  const char* attr;
  TF_DataType type;
};

// Errors at load time are left to the first use of the op: TensorFlow then says that it does not know it.
void register_kernel(const char* op, Create create, Compute compute, std::vector<TypeChoice> types) {
  TF_Status* status = TF_NewStatus();
  TF_KernelBuilder* builder = TF_NewKernelBuilder(op, "CPU", create, compute, destroy);
  std::string name = op;
  for (const TypeChoice& choice : types) {
    TF_KernelBuilder_TypeConstraint(builder, choice.attr, choice.type, status);
    name += "_" + std::to_string(choice.type);
  }
  TF_RegisterKernelBuilder(name.c_str(), builder, status);
  TF_DeleteStatus(status);
}

void register_op(const char* name, std::vector<const char*> attrs, std::vector<const char*> inputs,
                 std::vector<const char*> outputs) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* builder = TF_NewOpDefinitionBuilder(name);
  for (const char* spec : attrs) TF_OpDefinitionBuilderAddAttr(builder, spec);
  for (const char* spec : inputs) TF_OpDefinitionBuilderAddInput(builder, spec);
  for (const char* spec : outputs) TF_OpDefinitionBuilderAddOutput(builder, spec);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, unknown_shapes);
  TF_RegisterOpDefinition(builder, status);
  TF_DeleteStatus(status);
}

constexpr Create kNoAttributes = create<false, false, false>, kFlags = create<true, false, false>;
constexpr Create kAttention = create<true, true, false>, kRankedAttention = create<true, true, true>;

template <class T>
void register_for_type() {
  const TypeChoice type = {"T", type_of<T>};
  const TypeChoice int32 = {"Index", TF_INT32}, int64 = {"Index", TF_INT64};
  register_kernel("GanetLists", kFlags, guarded<compute_lists<int32_t, T>>, {type, int32});
  register_kernel("GanetLists", kFlags, guarded<compute_lists<int64_t, T>>, {type, int64});
  register_kernel("GanetNormalization", kFlags, guarded<compute_normalization<T>>, {type});
  register_kernel("GanetAttend", kRankedAttention, guarded<compute_attend<T>>, {type});
  register_kernel("GanetAttendGrad", kAttention, guarded<compute_attend_gradient<T>>, {type});
  register_kernel("GanetProduct", kFlags, guarded<compute_product<T>>, {type});
  register_kernel("GanetMaximum", kFlags, guarded<compute_maximum<T>>, {type});
  register_kernel("GanetMaximumGrad", kFlags, guarded<compute_maximum_gradient<T>>, {type});
  register_kernel("GanetSoftmax", kNoAttributes, guarded<compute_softmax<T>>, {type});
  register_kernel("GanetSoftmaxGrad", kNoAttributes, guarded<compute_softmax_gradient<T>>, {type});
}

bool register_all() {
  const char *type = "T: {float, double}", *index = "Index: {int32, int64}", *flags = "flags: int = 0";
  const char *heads = "heads: int = 1", *dropout = "dropout: float = 0.0";
  register_op("GanetLists", {type, index, flags}, {"edges: Index", "num_nodes: int32", "edge_weights: T"},
              {"row_splits: int32", "columns: int32", "weights: T"});
  register_op("GanetTranspose", {}, {"row_splits: int32", "columns: int32", "num_columns: int32"},
              {"column_splits: int32", "rows: int32", "places: int32"});
  register_op("GanetNormalization", {type, flags}, {"row_splits: int32", "columns: int32", "weights: T"}, {"factors: T"});
  register_op("GanetSegments", {index}, {"graph_ids: Index", "num_nodes: int32"}, {"row_splits: int32", "ids: int32"});
  register_op("GanetAttend", {type, flags, heads, dropout, "ranking: int = 0", "k: int = 0"},
              {"queries: T", "keys: T", "values: T", "row_splits: int32", "columns: int32", "weights: T", "scores: T",
               "dropout_seed: int64"},
              {"output: T", "alpha: T", "chosen_splits: int32", "chosen_columns: int32", "chosen_weights: T"});
  register_op("GanetAttendGrad", {type, flags, heads, dropout},
              {"queries: T", "keys: T", "values: T", "row_splits: int32", "columns: int32", "weights: T",
               "column_splits: int32", "rows: int32", "places: int32", "alpha: T", "output: T", "d_output: T",
               "dropout_seed: int64"},
              {"d_queries: T", "d_keys: T", "d_values: T"});
  register_op("GanetProduct", {type, flags},
              {"x: T", "row_splits: int32", "columns: int32", "weights: T", "places: int32", "before: T", "after: T"},
              {"y: T"});
  register_op("GanetMaximum", {type, flags}, {"x: T", "row_splits: int32", "columns: int32"}, {"y: T", "count: T"});
  register_op("GanetMaximumGrad", {type, flags},
              {"x: T", "y: T", "count: T", "d_y: T", "column_splits: int32", "rows: int32"}, {"d_x: T"});
  register_op("GanetSoftmax", {type}, {"x: T", "row_splits: int32"}, {"y: T"});
  register_op("GanetSoftmaxGrad", {type}, {"y: T", "d_y: T", "row_splits: int32"}, {"d_x: T"});
  register_for_type<float>();
  register_for_type<double>();
  register_kernel("GanetTranspose", kNoAttributes, guarded<compute_transpose>, {});
  register_kernel("GanetSegments", kNoAttributes, guarded<compute_segments<int32_t>>, {{"Index", TF_INT32}});
  register_kernel("GanetSegments", kNoAttributes, guarded<compute_segments<int64_t>>, {{"Index", TF_INT64}});
  return true;
}

const bool registered = register_all();

}  // namespace
}  // namespace ganet

// For Python's ctypes.
extern "C" {
__attribute__((visibility("default"))) void ganet_set_threads(int count) { ganet::set_threads(count); }
__attribute__((visibility("default"))) int ganet_threads() { return ganet::threads(); }
__attribute__((visibility("default"))) int ganet_use_instruction_set(int wanted) {
  return ganet::use_instruction_set(wanted);
}
// Switching clears what is remembered.
__attribute__((visibility("default"))) void ganet_remember_lists(int on) {
  ganet::RememberedGraphs::instance().enable(on != 0);
}
__attribute__((visibility("default"))) int64_t ganet_remembered_hits() {
  return ganet::RememberedGraphs::instance().hits();
}
}

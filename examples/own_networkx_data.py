"""Classify your own networkx graphs: is a graph a tree, or does it have short cycles?

python examples/own_networkx_data.py
"""

import keras
import networkx as nx

from ganet_tf import data, models


def make_graphs(count=60):
    """Random trees (class "tree") and ring-like small worlds (class "ring"), 12 to 20 nodes each."""
    graphs, labels = [], []
    for seed in range(count):
        size = 12 + seed % 9
        if seed % 2:
            graphs.append(nx.random_labeled_tree(size, seed=seed))
        else:
            graphs.append(nx.connected_watts_strogatz_graph(size, 4, 0.1, seed=seed))
        labels.append("tree" if seed % 2 else "ring")
    return graphs, labels


def main(epochs=8):
    keras.utils.set_random_seed(0)
    dataset = data.GraphDataset.from_networkx(*make_graphs(), features="degree")
    train, test = dataset.fold(1)  # ten stratified folds, as these graphs have no published ones

    model = models.GraphClassifier(
        num_classes=dataset.num_classes,
        operator="hgao",
        k=4,
        num_modules=2,
        sort_pooling_k=dataset.sort_pooling_k(0.6),
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.005), loss=loss, metrics=["accuracy"])
    model.fit(train.batches(16, shuffle=True, seed=0), epochs=epochs, verbose=0)

    accuracy = model.evaluate(test.batches(16), verbose=0, return_dict=True)["accuracy"]
    print(f"{len(train)} graphs for training, {len(test)} for testing: accuracy {accuracy:.0%}")
    for graph, scores in list(zip(test, model.predict(test.batches(16), verbose=0), strict=True))[:3]:
        print(f"  a {dataset.class_labels[graph.y]} was taken for a {dataset.class_labels[scores.argmax()]}")
    return accuracy


if __name__ == "__main__":
    main()

"""A Keras model of your own with an HGAO layer in it, written with the Functional API.

python examples/own_keras_model.py
"""

import keras

from ganet_tf import data, layers


def make_model(num_features, num_classes):
    """Two graph layers with a skip connection, sort pooling, and whatever Keras has after that."""
    x = keras.Input((num_features,), name="x")
    edges = keras.Input((2,), dtype="int32", name="edges")
    graph_ids = keras.Input((), dtype="int32", name="graph_ids")

    h = layers.GCN(16, activation="relu")(x, edges)
    attended = layers.HGAO(16, k=4, kernel_regularizer="l2")(h, edges)
    h = keras.layers.Concatenate()([h, attended])
    h = layers.SortPooling(k=8)(h, graph_ids=graph_ids)  # [graphs, 8, 32]
    h = keras.layers.Flatten()(h)
    h = keras.layers.Dense(32, activation="relu")(h)
    outputs = keras.layers.Dense(num_classes)(h)
    return keras.Model({"x": x, "edges": edges, "graph_ids": graph_ids}, outputs)


def main(epochs=5):
    keras.utils.set_random_seed(0)
    dataset = data.load("BA2Motifs", num_graphs=120, features="degree")  # made on the spot, no download
    train, test = dataset.fold(1)

    model = make_model(dataset.num_features, dataset.num_classes)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss=loss, metrics=["accuracy"])
    # The batches shuffle themselves; Keras's own shuffle is for arrays.
    model.fit(train.batches(20, shuffle=True, seed=0), epochs=epochs, shuffle=False, verbose=0)

    model.summary()
    results = model.evaluate(test.batches(20), verbose=0, return_dict=True)
    print(f"Accuracy on {len(test)} graphs: {results['accuracy']:.0%}")
    return results["accuracy"]


if __name__ == "__main__":
    main()

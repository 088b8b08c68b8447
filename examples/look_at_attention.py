"""See which neighbours hard attention chooses, on Zachary's karate club.

python examples/look_at_attention.py
"""

import keras
import numpy as np

from ganet_tf import data, models


def main(epochs=40, k=4):
    keras.utils.set_random_seed(0)
    club = data.load("Karate")
    model = models.NodeClassifier(club.num_classes, k=k, num_modules=1, dropout=0.3, attention_dropout=0.0)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss=loss, metrics=["accuracy"])
    model.fit(club.batches("train"), epochs=epochs, verbose=0)
    accuracy = model.evaluate(club.batches("test"), verbose=0, return_dict=True)["accuracy"]
    print(f"Sides taken by the members, accuracy on the test nodes: {accuracy:.0%}\n")

    # What the attention of the first module sees is the output of the GCN before it.
    h = model.ganet.embedding(club.x, club.edges)
    chosen = model.ganet.gams[0].attention.selected(h, club.edges)

    for member in (0, 33, 2, 11):
        degree = int(np.sum(club.edges[:, 1] == member))
        print(f"Member {member} (side {club.y[member]}) (degree {degree}) attends to")
        rows = zip(*(part.numpy()[member] for part in chosen), strict=True)
        for neighbor, gate, weight in rows:
            if neighbor >= 0:
                who = "itself" if neighbor == member else f"member {neighbor} (side {club.y[neighbor]})"
                print(f"  {who:20} weight {weight:.2f}, gate {gate:.2f}")
    return chosen


if __name__ == "__main__":
    main()

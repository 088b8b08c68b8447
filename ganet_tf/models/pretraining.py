"""Training that needs no labelled batch: before the epochs of `fit`, and beside them."""

import keras


class Pretraining:
    """Numbered steps on a model's weights, each a function of the seed and its number alone.

    So a run that was killed goes on where it was: put the values of `variables` back, and do the steps that are left.
    A subclass says how many `steps` there are, and does one in `step(number)`.

    Args:
        model: The model, which is built.
        seed: Decides everything that is drawn.

    Attributes:
        steps: Steps before the first epoch.
        variables: What a checkpoint has to keep: those of the model, and of an optimizer of its own.
    """

    steps = 0

    def __init__(self, model, seed):
        self.model = model
        self.seed = int(seed)

    @property
    def variables(self):
        return list(self.model.variables)

    def step(self, number):
        """Does one step. Returns its loss, a scalar."""
        raise NotImplementedError

    def beside(self, epoch):
        """The numbers of the steps to do with an epoch, counted from 0; none by default."""
        return ()

    def run(self, first=0):
        """Does the steps from `first` on."""
        for number in range(first, self.steps):
            self.step(number)


class Pretrained:
    """A model with `pretraining(dataset, seed)`, which gives a `Pretraining`. Stands before `GraphModel`."""

    def pretrain(self, dataset, seed=0):
        """Does all steps before the first epoch.

        Args:
            dataset: A `NodeDataset`.
            seed: Decides everything that is drawn.

        Returns:
            A Keras callback for `fit`, for models that also train beside the epochs; others may ignore it.
        """
        if not self.built:
            self.build({"x": (None, dataset.num_features), "edges": (None, 2)})
        pretraining = self.pretraining(dataset, seed)
        pretraining.run()
        return Beside(pretraining)

    def check_nodes(self, dataset):
        """Raises unless the data set has the nodes that the model has vectors for."""
        if dataset.num_nodes != self.num_nodes:
            raise ValueError(
                f"'{self.name}' has vectors for {self.num_nodes} nodes, but {dataset.name} has {dataset.num_nodes}: "
                f"make it with num_nodes={dataset.num_nodes}."
            )


class Beside(keras.callbacks.Callback):
    """Does the steps of a `Pretraining` that belong to each epoch, before it."""

    def __init__(self, pretraining):
        super().__init__()
        self.pretraining = pretraining

    def on_epoch_begin(self, epoch, logs=None):
        for number in self.pretraining.beside(epoch):
            self.pretraining.step(number)

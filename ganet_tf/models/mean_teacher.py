"""Training with a mean teacher: unlabelled nodes are taught by an average of the model's own past."""

import keras
import tensorflow as tf

from ganet_tf.models.base import GraphModel, take_nodes


@keras.saving.register_keras_serializable(package="ganet_tf")
class MeanTeacher(GraphModel):
    """Mean teacher (Tarvainen and Valpola 2017) around a model for nodes: a second loss, on all nodes.

    With z the student's logits, z' those of the teacher, N all nodes and t the number of updates so far:

        loss + weight · min(1, t / ramp) · 1/N Σ_i |softmax(z_i) - softmax(z'_i / temperature)|²

    The teacher is a copy of the student without dropout, whose weights are a moving average: after each update
    w' <- decay · w' + (1 - decay) · w. The first loss and the optimizer see the student; what is evaluated, predicted,
    exported and given by a call without `training=True` is the teacher. No label but the training ones is used: the
    second loss needs the features of all nodes, which is transductive learning, as GCN's is.

    Use it as the model that it wraps: compile, fit, evaluate. `teacher` is then a model of the student's class with
    the averaged weights, to save on its own. Counting t, the optimizer's state and both sets of weights are saved with
    the wrapper, so that training resumes where it stood.

    Args:
        student: The model to train, for example a `NodeClassifier`: its answers are logits of classes, or one of a yes
            or no. Its inputs may have `nodes`.
        weight: Of the second loss.
        decay: Of the moving average.
        temperature: Below 1 the teacher's answers are sharpened.
        ramp: Updates over which the weight grows from 0; 0 for none. With one batch an epoch these are epochs.
        confidence: Nodes whose largest sharpened probability is lower count 0 in the sum.
        num_features: F, if the model is to make its weights at once; `None` leaves it to the first data.
        **kwargs: `name`, `dtype`.

    Call arguments:
        inputs: The student's.
        training: True gives the student's outputs, with dropout; otherwise the teacher's.

    Returns:
        What the student returns.

    Raises:
        ValueError: For a number out of its range.

    Example:

    >>> from ganet_tf.models import NodeClassifier
    >>> student = NodeClassifier(num_classes=4, num_modules=2)
    >>> model = MeanTeacher(student, weight=2.0)
    >>> model({"x": np.ones((3, 7), dtype="float32"), "edges": np.array([[0, 1], [1, 0]])}).shape
    TensorShape([3, 4])
    """

    def __init__(
        self,
        student: keras.Model,
        weight: float = 1.0,
        decay: float = 0.98,
        temperature: float = 0.5,
        ramp: int = 100,
        confidence: float = 0.0,
        num_features: int | None = None,
        **kwargs,
    ):
        numbers = {"weight": weight, "decay": decay, "temperature": temperature, "ramp": ramp, "confidence": confidence}
        check_numbers(**numbers)
        super().__init__({"student": student, **numbers, "num_features": num_features}, **kwargs)
        self.required, self.optional = student.required, student.optional
        self.teacher = type(student).from_config({**student.get_config(), "name": f"{student.name}_teacher"})
        self.teacher.trainable = False
        self.build_if_known()

    @property
    def num_classes(self):
        """The student's."""
        return self.student.num_classes

    def build_layers(self, x_shape, edges_shape, graph_ids_shape):
        """Builds both models; the teacher begins with the student's weights."""
        shapes = {"x": x_shape, "edges": edges_shape, "graph_ids": graph_ids_shape}
        shapes = {key: shape for key, shape in shapes.items() if key in (*self.required, *self.optional)}
        for model in (self.student, self.teacher):
            if not model.built:
                model.build(shapes)
        for theirs, ours in zip(self.teacher.weights, self.student.weights, strict=True):
            theirs.assign(ours)

    def call(self, inputs: dict, training: bool | None = None) -> tf.Tensor:
        """The teacher's answers; the student's in training."""
        model = self.student if training else self.teacher
        return model(inputs, training=training)

    def train_step(self, data):
        """One update of the student on both losses, then the teacher follows."""
        inputs, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
        whole = {key: part for key, part in inputs.items() if key != "nodes"}
        answers = self.teacher(whole, training=False)
        with tf.GradientTape() as tape:
            logits = self.student(whole, training=True)
            y_pred = take_nodes(logits, inputs.get("nodes"))
            loss = self.compute_loss(inputs, y, y_pred, sample_weight) + self.consistency(logits, answers)
            scaled = self.optimizer.scale_loss(loss)
        variables = self.student.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(scaled, variables), variables, strict=True))
        self.follow()
        next(metric for metric in self.metrics if metric.name == "loss").update_state(loss)
        return self.compute_metrics(inputs, y, y_pred, sample_weight)

    def consistency(self, logits, answers):
        """The second loss, with its weight of this moment."""
        answers = softmax(tf.stop_gradient(answers) / self.temperature)
        sure = tf.cast(tf.reduce_max(answers, axis=-1) >= self.confidence, answers.dtype)
        gaps = tf.reduce_sum(tf.square(softmax(logits) - answers), axis=-1)
        updates = tf.cast(self.optimizer.iterations, answers.dtype)
        grown = tf.minimum(1.0, updates / self.ramp) if self.ramp else 1.0
        return self.weight * grown * tf.reduce_mean(sure * gaps)

    def follow(self):
        """Moves the teacher's weights towards the student's."""
        trained = {id(variable) for variable in self.student.trainable_variables}
        for theirs, ours in zip(self.teacher.weights, self.student.weights, strict=True):
            if id(ours) in trained:
                theirs.assign(self.decay * theirs.value + (1.0 - self.decay) * tf.cast(ours.value, theirs.dtype))
            else:  # what the student does not learn, but counts, such as the means of a normalization
                theirs.assign(ours.value)

    def compute_output_shape(self, input_shape):
        return self.student.compute_output_shape(input_shape)


def softmax(logits):
    """Probabilities of each class; with one output, which is a yes or no, of both answers."""
    if logits.shape[-1] == 1:
        logits = tf.concat([logits, tf.zeros_like(logits)], axis=-1)
    return tf.nn.softmax(logits, axis=-1)


def check_numbers(weight, decay, temperature, ramp, confidence):
    """Raises ValueError for a number out of its range."""
    ranges = (
        ("weight", weight, weight >= 0, "at least 0"),
        ("decay", decay, 0 <= decay < 1, "at least 0 and below 1"),
        ("temperature", temperature, 0 < temperature <= 1, "above 0 and at most 1"),
        ("ramp", ramp, ramp >= 0, "at least 0"),
        ("confidence", confidence, 0 <= confidence < 1, "at least 0 and below 1"),
    )
    for name, number, good, words in ranges:
        if not good:
            raise ValueError(f"`{name}` must be {words}, but is {number!r}.")

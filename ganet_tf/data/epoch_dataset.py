"""A `tf.data.Dataset` whose elements a Python function makes, epoch after epoch."""


def epoch_dataset(make_batch, num_batches, signature, initial_epoch=0):
    """Makes a dataset of `num_batches` elements that are others in every epoch.

    Keras makes more iterators than it uses up: one to look at the first batch, one at the end of every epoch. So an
    epoch counts only when its last batch has been handed out, and whoever looks at less gets the same epoch again.

    It does what `from_generator` would do, which cannot be used: TensorFlow 2.21 sets M_TRIM_THRESHOLD to 128 kB for
    the whole process as soon as a generator runs. After that malloc maps every larger tensor anew, and all
    operations, of the training step too, take twice the time.

    Args:
        make_batch: Function (epoch, step) to a structure of arrays as in `signature`; step counts from 0.
        num_batches: Number of batches in an epoch.
        signature: Structure of `tf.TensorSpec`.
        initial_epoch: The first epoch's number.

    Returns:
        Dataset of known cardinality, prefetched.
    """
    import tensorflow as tf  # here, so that data can be read and looked at without it

    state = {"epoch": int(initial_epoch)}
    specs = tf.nest.flatten(signature)

    def arrays(epoch, step):
        batch = make_batch(int(epoch), int(step))
        if step == num_batches - 1:
            state["epoch"] = int(epoch) + 1
        return tf.nest.flatten(batch)

    @tf.autograph.experimental.do_not_convert
    def one_batch(epoch, step):
        tensors = tf.numpy_function(arrays, [epoch, step], [spec.dtype for spec in specs])
        shaped = [tf.ensure_shape(tensor, spec.shape) for tensor, spec in zip(tensors, specs, strict=True)]
        return tf.nest.pack_sequence_as(signature, shaped)

    @tf.autograph.experimental.do_not_convert
    def one_epoch(_):
        # Read once for each iterator, so that all its batches are of one epoch.
        epoch = tf.ensure_shape(tf.numpy_function(lambda: state["epoch"], [], tf.int64), [])
        return tf.data.Dataset.range(num_batches).map(lambda step: one_batch(epoch, step))

    dataset = tf.data.Dataset.from_tensors(0).flat_map(one_epoch)
    dataset = dataset.apply(tf.data.experimental.assert_cardinality(num_batches))
    # Never so far ahead that a look at the first batch makes the whole epoch.
    ahead = min(2, num_batches - 2)
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    # The tuner sleeps 10 ms, 20, 40, ... and TensorFlow 2.21 lets the end of an epoch wait until it wakes up: an epoch
    # of 5.2 s took 10.24. There is nothing to tune here.
    options.autotune.enabled = False
    return (dataset.prefetch(ahead) if ahead > 0 else dataset).with_options(options)

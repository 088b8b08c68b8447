"""Looking inside: whom each node attends to, as numbers, as a picture, as a page to click through.

>>> explain.attention(model, graph)[0].weights()      # of every candidate, in the first attention layer
>>> explain.plot_attention(model, graph)              # a matplotlib figure
>>> explain.explore(model, dataset, "attention.html")  # one file that opens in any browser, without a network
>>> explain.faithfulness(model, dataset, truth)       # are the chosen neighbours those that matter?

Any model that holds layers of `ganet_tf.layers` can be looked at, one of your own too. `plot_attention` needs
matplotlib, `explore` Bokeh: `pip install "ganet-tf[explain]"` has both.
"""

from ganet_tf.explain.attention import Attention, attention, channel_attention
from ganet_tf.explain.explorer import explore
from ganet_tf.explain.faithfulness import faithfulness
from ganet_tf.explain.plot import plot_attention

__all__ = ["Attention", "attention", "channel_attention", "explore", "faithfulness", "plot_attention"]

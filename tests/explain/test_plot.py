"""plot_attention draws what was chosen and what was left out, and says so."""

import numpy as np
import pytest

from ganet_tf import data, explain, models
from ganet_tf.explain.plot import default_nodes, gate_range
from tests.explain.small import GRAPH, STAR, trained

pytest.importorskip("matplotlib", reason="needs the extra `explain`")


def drawn(figure):
    """{line style is dashed: number of lines}, without the graph's own edges; and the legend's texts."""
    axes = figure.axes[0]
    _, *lines = axes.collections[:-1]
    counts = {True: 0, False: 0}
    for part in lines:
        counts[part.get_linestyle()[0][1] is not None] += len(part.get_segments())
    return counts, [text.get_text() for text in axes.get_legend().get_texts()]


def test_chosen_solid_left_out_dashed():
    look = explain.attention(trained(), STAR)[0]
    counts, texts = drawn(explain.plot_attention(trained(), STAR, nodes=[0]))
    others = (look.rows == 0) & (look.columns != 0)
    assert counts == {False: int((others & look.chosen()).sum()), True: int((others & ~look.chosen()).sum())}
    assert counts[True] >= 2  # of five candidates two are chosen
    assert "neighbour, left out" in texts


def test_it_says_where_nobody_is_left_out():
    model = models.GraphClassifier(2, k=8, num_modules=1, units=4, module_units=4, sort_pooling_k=10)
    counts, texts = drawn(explain.plot_attention(model, GRAPH, nodes=[0]))
    assert counts[True] == 0
    assert "nobody left out: at most 4 candidates, k = 8" in texts


def test_modules_by_number_and_name_and_nodes_of_their_own():
    figure = explain.plot_attention(trained(), GRAPH, module="gam_2", nodes=[3, 1, 5])
    assert figure.axes[0].get_title() == "gam_2: k = 2"
    assert explain.plot_attention(trained(), GRAPH, module=-1).axes[0].get_title() == "gam_2: k = 2"
    assert sum(text.endswith("chooses") for text in drawn(figure)[1]) == 3


def test_channels_are_a_matrix():
    model = models.GraphClassifier(2, operator="cgao", num_modules=1, units=4, module_units=3, sort_pooling_k=10)
    (image,) = explain.plot_attention(model, GRAPH).axes[0].images
    np.testing.assert_allclose(image.get_array(), explain.channel_attention(model, GRAPH)["gam_1"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"module": "gam_9"}, "There is no module 'gam_9': the attention layers are gam_1, gam_2"),
        ({"module": 2}, "There is no module 2"),
        ({"nodes": [6]}, "There is no node 6: the graph has the nodes 0 to 5"),
    ],
)
def test_what_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        explain.plot_attention(trained(), GRAPH, **options)


def test_a_graph_that_is_too_large_is_refused():
    large = data.Graph(np.ones((501, 4)), [[0, 1]])
    with pytest.raises(ValueError, match="501 nodes, of which a picture shows 500"):
        explain.plot_attention(trained(), large)


def test_the_default_nodes_are_no_neighbours():
    look = explain.attention(trained(), GRAPH)[0]
    first, second = default_nodes(look)
    assert first == 0 and second not in look.columns[look.rows == first]


def test_gates_that_are_all_alike_do_not_look_different():
    low, high = gate_range(np.array([0.5, 0.501]))
    assert high - low == pytest.approx(0.1)
    assert gate_range(np.array([0.2, 0.9])) == (0.2, 0.9)

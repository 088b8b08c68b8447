"""The explorer's page: what is in it, and in a real browser what it does."""

import json
import re
import shutil
from html.parser import HTMLParser

import keras
import numpy as np
import pytest

from ganet_tf import data, explain, models
from tests.explain.small import GRAPH, STAR, dataset, trained

pytest.importorskip("bokeh", reason="needs the extra `explain`")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of two graphs."""
    return explain.explore(trained(), dataset(), tmp_path_factory.mktemp("page") / "attention.html")


def content(path):
    """The data of a page."""
    return json.loads(re.search(r"^const DATA = (.*);$", path.read_text(encoding="utf-8"), re.MULTILINE)[1])


class Links(HTMLParser):
    """Whatever the tags of a page lead to; texts inside of scripts are none."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found += [value for name, value in attributes if name in ("src", "href")]


def test_it_holds_everything_itself(page):
    text = page.read_text(encoding="utf-8")
    assert [link for link in Links(text).found if link != "data:,"] == []
    assert "@DATA@" not in text and "@BOKEH@" not in text
    assert len(text) < 2_000_000


def test_candidates_probabilities_and_other_k(page):
    found = content(page)
    assert [module["k"] for module in found["modules"]] == [2, 2]
    star = found["graphs"][1]
    assert star["starts"] == [0, 5, 7, 9, 11, 13] and star["candidates"][:5] == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(star["layers"][1]["ranks"], explain.attention(trained(), STAR)[1].ranks, rtol=1e-6)
    inputs = {"x": STAR.x, "edges": STAR.edges, "graph_ids": np.zeros(5, "int32")}
    np.testing.assert_allclose(star["answers"][""][0], keras.ops.softmax(trained()(inputs))[0], atol=1e-4)
    assert star["answers"]["2"] == star["answers"][""] != star["answers"]["1"]
    assert trained().ganet.gams[0].attention.k == 2  # as before
    assert found["classes"] == ["star", "tree"] and star["truth"] == 0
    assert len(star["influence"]) == 5 and min(star["influence"]) >= 0
    assert found["labels"] == ["degree 1", "degree 2", "degree 3", "degree 4"]  # in the order of their numbers


def test_nodes_of_one_graph_and_of_a_part_of_it(tmp_path):
    club = data.load("Karate")
    model = models.NodeClassifier(2, k=3, num_modules=1, units=4, module_units=4)
    whole = content(explain.explore(model, club, tmp_path / "whole.html"))
    assert [len(view["ids"]) for view in whole["graphs"]] == [34]
    assert len(whole["graphs"][0]["answers"][""]) == 34 and whole["graphs"][0]["truths"][0] == int(club.y[0])
    parts = content(explain.explore(model, club, tmp_path / "parts.html", max_nodes=20))
    assert len(parts["graphs"]) == 12 and parts["graphs"][0]["name"].startswith("around node ")


def test_of_a_large_graph_what_is_near_the_hub(tmp_path):
    view = content(explain.explore(trained(), dataset(), tmp_path / "few.html", max_nodes=4))["graphs"][0]
    assert view["ids"] == [0, 1, 2, 3]
    assert view["candidates"][: view["starts"][1]] == [0, 1, 2, 3]
    assert 4 in view["candidates"]  # of node 3, though it is not drawn


def test_text_of_users_cannot_break_out(tmp_path):
    strange = data.GraphDataset([GRAPH, STAR], ["</script><b>", "ok"], name="<i>")
    text = explain.explore(trained(), strange, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "&lt;i&gt;</title>" in text and "</" not in re.search(r"^const DATA = (.*);$", text, re.MULTILINE)[1]
    assert content(tmp_path / "page.html")["classes"] == ["</script><b>", "ok"]


def test_what_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no graphs"):
        explain.explore(trained(), dataset()[:0], tmp_path / "none.html")
    with pytest.raises(ValueError, match="no attention"):
        explain.explore(models.DGCNN(2, sort_pooling_k=10), dataset(), tmp_path / "none.html")
    assert not (tmp_path / "none.html").exists()


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window, or a skip that says what is missing."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium: pip install -e '.[dev]'")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("needs chromium and chromedriver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    flags = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --window-size=1280,860"
    for flag in flags.split():
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    made.set_page_load_timeout(60)
    yield made
    made.quit()


@pytest.fixture
def shown(browser, page):
    """The page in the browser; at the end nothing may have gone wrong there."""
    yield opened(browser, page)
    problems = [entry for entry in browser.get_log("browser") if entry["level"] not in ("INFO", "DEBUG")]
    assert problems == []


def opened(browser, page):
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(page.as_uri())
    WebDriverWait(browser, 60).until(lambda b: b.execute_script("return document.body.dataset.ready") == "yes")
    return browser


def at(browser, node):
    """Where a node stands on the screen, relative to the middle of the drawing."""
    return browser.execute_script(
        """
        const plot = Bokeh.documents.map(d => d.get_model_by_name("graph_plot")).find(m => m);
        const view = Bokeh.index.find_one(plot), g = DATA.graphs[explorer.state.graph];
        const box = view.el.getBoundingClientRect(), {x_scale, y_scale} = view.frame;
        const [x, y] = [x_scale.compute(g.x[arguments[0]]), y_scale.compute(g.y[arguments[0]])];
        return [x - box.width / 2, y - box.height / 2];
        """,
        node,
    )


def click(browser, node):
    from selenium.webdriver.common.action_chains import ActionChains

    plot = browser.find_element("css selector", "#graph > *")
    right, down = at(browser, node)
    ActionChains(browser).move_to_element_with_offset(plot, int(right), int(down)).click().perform()


def state(browser, key):
    return browser.execute_script(f"return explorer.state.{key}")


def heading(browser):
    return browser.find_element("id", "node_title").text


def chosen(browser):
    """The candidates that the table has as chosen."""
    return [int(row.text.split()[1]) for row in browser.find_elements("css selector", "#rows tr.in")]


def test_a_click_on_a_node_shows_its_choice(shown):
    assert heading(shown) == "Node 0 attends to 2 of 4 candidates"
    click(shown, 4)
    assert heading(shown) == "Node 4 attends to 2 of 3 candidates"
    look = explain.attention(trained(), GRAPH)[0]
    assert set(chosen(shown)) == set(look.columns[(look.rows == 4) & look.chosen()])
    shown.find_element("css selector", "#rows tr.in button").click()
    assert heading(shown).startswith(f"Node {state(shown, 'node')} ")


def test_keys_graph_module_node_k_and_search(shown):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    def press(*keys):
        ActionChains(shown).send_keys(*keys).perform()

    press(Keys.ARROW_RIGHT)
    assert state(shown, "graph") == 1 and heading(shown) == "Node 0 attends to 2 of 5 candidates"
    press("m")
    look = explain.attention(trained(), STAR)[1]
    assert set(chosen(shown)) == set(look.columns[(look.rows == 0) & look.chosen()])
    press("+")
    assert set(chosen(shown)) == set(look.columns[(look.rows == 0) & look.chosen(3)])
    weights = [float(row.text.split()[-1]) for row in shown.find_elements("css selector", "#rows tr.in")]
    order = [int(np.flatnonzero((look.rows == 0) & (look.columns == node))[0]) for node in chosen(shown)]
    np.testing.assert_allclose(weights, look.weights(3)[order], atol=1e-3)
    press("0", Keys.ARROW_DOWN)
    assert (state(shown, "k"), state(shown, "node")) == (2, 1)
    press("/", "node 3", Keys.ENTER)
    assert heading(shown).startswith("Node 3 ")
    press("/", "graph 0", Keys.ENTER)
    assert state(shown, "graph") == 0


def test_colours_and_light_and_dark(shown):
    def colors():
        return shown.execute_script("return [...models.nodes.data.color]")

    by_label, seen = colors(), set()
    for name in ("gate", "prediction", "label"):
        shown.execute_script("explorer.set({color: arguments[0]})", name)
        seen.add(tuple(colors()))
    assert len(seen) == 3 and colors() == by_label
    before = shown.execute_script("return getComputedStyle(document.body).backgroundColor")
    shown.find_element("id", "theme").click()
    assert shown.execute_script("return getComputedStyle(document.body).backgroundColor") != before


def test_numbers_in_the_drawing_and_a_word_where_nobody_is_left_out(shown):
    names = shown.execute_script("return [...models.names.data.text]")
    assert names == [str(node) for node in range(GRAPH.num_nodes)]
    assert "nobody is left out" not in shown.find_element("id", "key").text
    shown.execute_script("explorer.set({k: 99})")
    assert "nobody is left out" in shown.find_element("id", "key").text


def test_keys_work_on_the_slider(shown):
    from selenium.webdriver.common.keys import Keys

    slider = shown.find_element("id", "k")
    slider.send_keys("m")
    assert state(shown, "module") == 1
    slider.send_keys(Keys.ARROW_LEFT)
    assert (state(shown, "graph"), state(shown, "k")) == (0, 1)


def test_five_hundred_nodes(browser, tmp_path):
    """They are drawn, and every step through them comes out; how fast is not asserted."""
    rng = np.random.default_rng(0)
    edges = np.stack([np.arange(1, 500), [rng.integers(0, i) for i in range(1, 500)]], axis=1)
    large = data.Graph(rng.normal(size=(500, 4)), np.concatenate([edges, edges[:, ::-1]]), 1)
    path = explain.explore(trained(), data.GraphDataset([large, GRAPH], ["a", "b"]), tmp_path / "large.html")
    shown = opened(browser, path)
    seen = shown.execute_script(
        """
        const seen = [];
        for (let node = 0; node < 50; node++) { explorer.set({node}); seen.push(node_title.textContent); }
        return seen;
        """
    )
    assert len({text.split()[1] for text in seen}) == 50
    assert shown.execute_script("return models.nodes.data.x.length") == 500
    shown.execute_script("explorer.set({node: 0})")
    near = shown.execute_script("return models.names.data.text.map(Number)")  # others have no number, and are paler
    alpha = shown.execute_script("return [...models.nodes.data.alpha]")
    assert 0 in near and len(near) < 30 and {alpha[node] for node in near} == {1} and alpha.count(1) < 50

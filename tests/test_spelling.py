from ganet_tf.spelling import nearest, plain


def test_plain():
    assert plain("IMDB-M (multi)") == "imdbmmulti" and plain("D&D") == "dd"


def test_nearest():
    assert nearest("Degre", ["degree", "labels"]) == " (did you mean 'degree'?)"
    assert nearest("zzz", ["degree", "labels"]) == ""

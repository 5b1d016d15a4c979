"""Input that is odd but sound: what is done to the project, and what must work."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field

from breaking import (
    RUN,
    STUDY,
    VIT,
    Break,
    both,
    encoded,
    file,
    folder,
    from_a_card,
    gone,
    in_tree,
    line,
    link,
    packed,
    picture,
    torn,
    trapped,
    weights,
)
from PIL import Image


@dataclass(frozen=True)
class Odd:
    """One input that must work.

    Attributes:
        name: Its name in the list of tests.
        command: A verb of reattn with its arguments.
        makes: A file that the command makes; it is deleted before.
        breaks: What is done to the project first.
        environment: Variables that are set; the command then has its own process.
        says: What stands in the file that it makes.
    """

    name: str
    command: str
    makes: str
    breaks: Break = lambda project: None
    environment: Mapping[str, str] = field(default_factory=dict)
    says: str = ""


def rewritten(change) -> Break:
    """The bytes of the study's file are changed."""

    def apply(project) -> None:
        path = project / STUDY
        path.write_bytes(change(path.read_bytes()))

    return apply


TABLES, MODELS = "tables tiny", "results/tiny/tables/models.csv"
CONFIGURATIONS = [
    ("a byte order mark", rewritten(lambda text: b"\xef\xbb\xbf" + text)),
    ("line ends of Windows", rewritten(lambda text: text.replace(b"\n", b"\r\n"))),
    ("off without quotes", line(STUDY, "wandb: 'off'", "wandb: off")),
    ("a date for a title", line(STUDY, "title: Tiny", "title: 2020-01-01")),
    ("emoji and quotes", line(STUDY, "title: Tiny", "title: \"'é' \U0001f600 & <b>\"")),
    ("an exponent", line(VIT, "learning_rate: 0.01", "learning_rate: 1e-2")),
    (
        "anchors",
        both(
            line(STUDY, "reduced: a test", "reduced: &name a test"),
            line(STUDY, "title: Tiny", "title: *name"),
        ),
    ),
    ("a hidden file among variants", file("config/variants/.x.yaml.swp", b"\xff")),
    ("a backup among variants", file("config/variants/vit.yaml~", "{")),
]


def animation() -> bytes:
    """A GIF of two pictures."""
    frames = [Image.new("RGB", (16, 16), colour) for colour in ("red", "blue")]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])
    return buffer.getvalue()


CLEAR = Image.new("RGBA", (16, 16), (9, 9, 9, 0))
PICTURES = {
    "one pixel": ("1.png", encoded(Image.new("RGB", (1, 1)))),
    "a line of pixels": ("1.png", encoded(Image.new("RGB", (300, 1)))),
    "grey": ("1.png", picture(mode="L")),
    "black and white": ("1.png", picture(mode="1")),
    "a palette": ("1.gif", picture("GIF", "P")),
    "CMYK": ("1.jpg", picture("JPEG", "CMYK")),
    "YCbCr": ("1.jpg", picture("JPEG", "YCbCr")),
    "transparent": ("1.png", encoded(CLEAR)),
    "animated": ("1.gif", animation()),
    "progressive": ("1.jpg", picture("JPEG", progressive=True)),
    "WebP": ("1.webp", picture("WEBP")),
    "no suffix": ("1", picture()),
    "the wrong suffix": ("1.jpg", picture()),
    "capitals": ("1.PNG", picture()),
    "an awkward name": ("a 'b' \"c\" é\n$(x) {y}.png", picture()),
}
FACTS = "results/folder/data/data.json"
TREE = "prepare folder --data-path {project}/pictures"
IMAGES = [
    *(
        Odd(f"an image: {name}", TREE, FACTS, in_tree(f"train/a/{file_name}", content))
        for name, (file_name, content) in PICTURES.items()
    ),
    Odd("a linked image", TREE, FACTS, link("pictures/train/a/1.png", "0.png")),
    Odd(
        "a linked class",
        TREE,
        FACTS,
        both(*(link(f"pictures/{s}/c", "a") for s in ("train", "test"))),
    ),
    Odd(
        "litter",
        TREE,
        FACTS,
        both(in_tree("train/.DS_Store", b"x"), in_tree("x.txt", b"")),
    ),
    Odd("the last path", "prepare folder", FACTS, says='"train": 3'),
    *(
        Odd(
            f"an archive, {name}",
            f"prepare folder --data-path {{project}}/{name}",
            FACTS,
            both(packed(name), gone("pictures")),
        )
        for name in ("a.tar", "a.tgz.tar.gz", "a.zip")
    ),
    Odd(
        "a wrong suffix of an archive",
        "prepare folder --data-path {project}/a.jpg",
        FACTS,
        both(packed("a.zip"), lambda p: (p / "a.zip").rename(p / "a.jpg")),
    ),
]

TRAIN, STATUS = "train tiny vit", f"{RUN}/status.json"
WORK = "results/tiny/work/vit/seed0/checkpoint.pt"
CHECKPOINTS = [
    ("torn", torn(WORK)),
    ("empty", file(WORK, "")),
    ("a page", file(WORK, "<html></html>")),
    ("code", trapped(WORK)),
    ("other settings", weights(lambda c: {**c, "fingerprint": "other"}, WORK)),
    ("without history", weights(lambda c: {"model": c["model"]}, WORK)),
    ("another model", weights(lambda c: {**c, "model": {}}, WORK)),
    ("a history of text", weights(lambda c: {**c, "history": ["x"]}, WORK)),
]

MEASURED = "results/tiny/measure/measurements.csv"
RESULTS = [
    ("a torn status", torn(STATUS), "cannot be read as JSON"),
    ("a torn metrics", torn(f"{RUN}/metrics.json"), "cannot be read as JSON"),
    ("no metrics", gone(f"{RUN}/metrics.json"), "left no metrics.json"),
    ("a folder for metrics", folder(f"{RUN}/metrics.json"), "metrics.json"),
    ("a run that is gone", gone("results/tiny/runs/vit"), "has not been made"),
    ("torn predictions", torn(f"{RUN}/predictions.npz"), "vit"),
    ("torn measurements", torn(MEASURED), "vit"),
    ("no measurements", gone("results/tiny/measure"), "not measured yet"),
    (
        "binary measurements",
        file(MEASURED, b"\xff"),
        "measure again",
    ),
]

REPORT, PAGE = "report tiny", "results/tiny/report/report.html"
UNTOUCHED = "results/untouched/report/report.html"
REPORTS = [
    Odd("a report without runs", REPORT, PAGE, gone("results/tiny/runs")),
    Odd("a report on torn tables", REPORT, PAGE, torn(MODELS)),
    Odd(
        "a report without figures",
        f"{REPORT} --drop-figures",
        PAGE,
        gone("results/tiny/figures"),
    ),
    Odd(
        "a report without one figure that is listed",
        f"{REPORT} --no-refresh --drop-figures",
        PAGE,
        gone("results/tiny/figures/curves/vit_curves.svg"),
    ),
    Odd("a report on nothing", "report untouched", UNTOUCHED),
]

MODEL = f"{RUN}/model.pt"
DRAW, DRAWN = "figures tiny vit", "results/tiny/figures/attention/vit/figures.json"
NOWHERE = "/proc/nowhere"  # not even root can make it
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
COMPARED = "results/tiny/figures/comparison/figures.json"
PREPARE = "prepare folder --data-path {project}/pictures"
ENVIRONMENTS = [
    (
        "no home",
        (DRAW, DRAWN),
        {"HOME": NOWHERE, "XDG_CACHE_HOME": NOWHERE, "XDG_CONFIG_HOME": NOWHERE},
    ),
    ("no folder for matplotlib", (DRAW, DRAWN), {"MPLCONFIGDIR": NOWHERE}),
    (
        "a display that is gone",
        (DRAW, DRAWN),
        {"DISPLAY": "localhost:64.0", "MPLBACKEND": "TkAgg"},
    ),
    (
        "an unknown backend",
        ("charts tiny comparison", COMPARED),
        {"MPLBACKEND": "nosuch", "PYTHONWARNINGS": "error"},
    ),
    (
        "no temporary folder",
        (TRAIN, STATUS),
        {"TMPDIR": "/nowhere", "OMP_NUM_THREADS": "abc", "WANDB_MODE": "nonsense"},
    ),
    (
        "unknown cards",
        (TRAIN, STATUS),
        {"CUDA_VISIBLE_DEVICES": "banana", "OMP_NUM_THREADS": "-1", "COLUMNS": "1"},
    ),
    ("warnings as errors", (TRAIN, STATUS), {"PYTHONWARNINGS": "error", "HOME": ""}),
    ("ASCII alone", (REPORT, PAGE), ASCII),
    ("ASCII alone, for a path", (PREPARE, FACTS), ASCII),
    ("the C locale", (REPORT, PAGE), {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}),
]

ARRAYS = "results/tiny/attention/vit.npz"
UNTRAINED = "results/untouched/attention/vit.npz"
ODD = [
    Odd("attention before training", "attention untouched vit", UNTRAINED),
    Odd("weights from a card", "attention tiny vit", ARRAYS, from_a_card(MODEL)),
    *(Odd(name, TABLES, MODELS, breaks) for name, breaks in CONFIGURATIONS),
    *IMAGES,
    *(
        Odd(f"a checkpoint: {name}", TRAIN, STATUS, breaks, says="ok")
        for name, breaks in CHECKPOINTS
    ),
    *(
        Odd(f"tables on {name}", TABLES, MODELS, breaks, says=says)
        for name, breaks, says in RESULTS
    ),
    *REPORTS,
]
ODD_ENVIRONMENTS = [
    Odd(name, *verb, environment=environment)
    for name, verb, environment in ENVIRONMENTS
]

"""Configurations that cannot be used."""

from breaking import (
    STUDY,
    VIT,
    Bad,
    Break,
    added,
    block,
    both,
    file,
    folder,
    gone,
    line,
    link,
    moved,
    study,
    training,
)
from conftest import TINY

CHECK, REPORT = "check tiny", "report tiny"
NAMES = "lowercase letters, digits and single hyphens"
HA_VIT = "config/variants/ha-vit.yaml"
NINES = [*"xxxxxxxxx"]


def text(content: str | bytes) -> Break:
    """The study's file holds nothing but this."""
    return file(STUDY, content)


def rate(value: str) -> Break:
    """The ViT's learning rate is written in another way."""
    return line(VIT, "learning_rate: 0.01", f"learning_rate: {value}")


def of_vit(**settings: object) -> Break:
    """The study overrides settings of the ViT."""
    return study(overrides={**TINY["overrides"], "variants": {"vit": settings}})


def of_family(name: str, **settings: object) -> Break:
    """The study overrides settings of a family."""
    return study(overrides={"families": {name: settings}})


FILES = [
    ("cut off", (STUDY, "line 2", "','"), text("training: {epochs: 2\n")),
    ("prose", (STUDY, "key: value"), text("a study of nothing\n")),
    ("tabs", (STUDY, "line 2", "spaces, not tabs"), text("data:\n\ta: 1\n")),
    ("repeated key", (STUDY, "repeated key seeds"), added(STUDY, "seeds: [1]\n")),
    (
        "repeated key inside",
        (VIT, "repeated key heads"),
        line(VIT, "heads: 9", "heads: 9\n  heads: 9"),
    ),
    ("empty file", (STUDY, "holds nothing", "key: value"), text("")),
    ("comments alone", (STUDY, "holds nothing"), text("# title: x\n")),
    ("a list", (STUDY, "holds a list"), text("- title: x\n" * 99)),
    ("two documents", (STUDY, "another document"), added(STUDY, "---\na: 1\n")),
    ("Latin-1", (STUDY, "UTF-8"), text("title: café\n".encode("latin-1"))),
    ("UTF-16", (STUDY, "UTF-8"), text("title: x\n".encode("utf-16"))),
    ("zero bytes", (STUDY, "special characters"), text(b"title: x\0\n")),
    ("a folder for a study", (STUDY, "directory"), folder(STUDY)),
    ("a folder for a variant", (VIT, "directory"), folder(VIT)),
    ("a link to nowhere", (STUDY, "is missing"), link(STUDY, "nowhere.yaml")),
    ("a link to itself", (STUDY, "symbolic links"), link(STUDY, "tiny.yaml")),
    (
        "code in YAML",
        (STUDY, "line 1", "python/object"),
        text("title: !!python/object/apply:os.mkdir [EXECUTED]\n"),
    ),
    ("endless brackets", (STUDY, "too deeply"), text("title: " + "[" * 5000)),
    (
        "lists of lists of lists",
        (STUDY, "title = [[[", "valid string"),
        study(title=[[NINES] * 9] * 9),
    ),
    (
        "a number of 5,001 digits",
        (STUDY, "5001 digits"),
        training("epochs: 1" + "0" * 5000),
    ),
    (
        "a variant's file with spaces",
        ("My ViT.yaml", NAMES, "Rename it"),
        moved(VIT, "config/variants/My ViT.yaml"),
    ),
]

KEYS = [
    ("misspelt key", (STUDY, "titel", "Did you mean title?"), study(titel="x")),
    (
        "misspelt key inside",
        ("training.epoch ", "Did you mean epochs?"),
        block("training", epoch=3),
    ),
    ("unknown key", ("zebra is not a known key", "Known: "), study(zebra=1)),
    ("a number as key", (STUDY, "1 = 1", "Keys"), added(STUDY, "1: 2\n")),
    ("a missing block", ("data is missing. Add it.",), study(data=None)),
    ("unknown variant", ("'vitt'", "Did you mean vit?"), study(variants=["vitt"])),
    ("a variant with spaces", ("'My ViT'", NAMES), study(variants=["My ViT"])),
    ("a variant outside", ("'../x'", NAMES), study(variants=["../x"])),
    ("unknown group", ("groups.0 = 'all'", "'report'"), study(groups=["all"])),
    (
        "unknown family",
        (VIT, "'vitt'", "Did you mean vit?"),
        line(VIT, "family: vit", "family: vitt"),
    ),
    ("no family", (VIT, "family is missing"), line(VIT, "family: vit", "famly: vit")),
    ("another family", ("of vit", "family cannot be changed"), of_vit(family="san")),
    (
        "text for overrides",
        ("overrides.variants.vit = 3",),
        study(overrides={"variants": {"vit": 3}}),
    ),
    ("a foreign setting", ("of vit", "stages is not a known key"), of_vit(stages=2)),
    (
        "an ordinary version that is none",
        (HA_VIT, "Did you mean vit?"),
        line(HA_VIT, "ordinary: vit", "ordinary: vitt"),
    ),
    ("two faults", ("2 faults", "titel", "seeds.0"), study(titel="x", seeds=[-1])),
    (
        "faults in two files",
        (STUDY, VIT),
        both(study(seeds=[-1]), line(VIT, "heads: 9", "heads: 0")),
    ),
]

VALUES = [
    ("text for a count", ("threads = 'two'",), block("training", threads="two")),
    ("a count in quotes", ("batch = '32'",), block("training", batch="32")),
    ("a fraction for a count", ("epochs = 3.5",), training("epochs: 3.5")),
    ("true for a count", ("epochs = true",), training("epochs: true")),
    ("a leading zero", ("epochs = '010'",), training("epochs: 010")),
    ("base sixty", ("epochs = '1:30'",), training("epochs: 1:30")),
    ("a rate in quotes", (VIT, "= '1e-3'", "number"), rate("'1e-3'")),
    ("a rate of NaN", (VIT, "learning_rate = .nan", "finite"), rate(".nan")),
    ("an infinite rate", (VIT, "learning_rate = .inf", "finite"), rate("1e999")),
    ("a negative rate", (VIT, "= -0.1", "greater than 0"), rate("-0.1")),
    (
        "an infinite decay",
        (VIT, "weight_decay = .inf"),
        line(VIT, "recipe:", "recipe:\n  weight_decay: .inf"),
    ),
    ("a mean of NaN", ("mean.0 = .nan",), block("data", mean=[float("nan"), 0.1, 0.1])),
    ("a deviation of zero", ("std.1 = 0.0",), block("data", std=[0.1, 0.0, 0.1])),
    ("negative epochs", ("training.epochs = -1",), training("epochs: -1")),
    ("epochs for ever", ("epochs = 1000", "1000000"), training("epochs: 1" + "0" * 30)),
    ("a million threads", ("= 1000000", "1024"), block("training", threads=10**6)),
    ("a width of 10^12", ("of vit", "width = 10000"), of_vit(width=10**12)),
    (
        "warm-up without end",
        (VIT, "warmup_epochs = 100", "lower warmup_epochs"),
        line(VIT, "warmup_epochs: 5", "warmup_epochs: 100"),
    ),
    ("no heads", ("of vit", "heads = 0"), of_vit(heads=0)),
    ("half a head", ("of vit", "heads = 1.5", "integer"), of_vit(heads=1.5)),
    ("an odd width", ("width = 9 is odd", "even"), of_family("learned2d", width=9)),
    (
        "a width that groups do not divide",
        ("san-pairwise", "width = 33", "multiple of 32"),
        study(
            variants=["san-pairwise"],
            overrides={"families": {"san": {"width": 33, "stages": 2}}},
        ),
    ),
    (
        "patches that do not divide",
        ("patch_size = 3", "possible: 1, 2, 4, 8, 16"),
        study(overrides={"all": {"patch_size": 3}}),
    ),
    (
        "too many stages",
        ("stages = 4", "at most 3"),
        study(variants=["san-pairwise"], overrides={}),
    ),
    ("an image size of zero", ("image_size = 0",), block("data", image_size=0)),
    (
        "images that end in one pixel",
        ("resnet18", "8x8", "at least 9 pixels"),
        study(variants=["resnet18"], data={"source": "digits", "image_size": 8}),
    ),
    ("no variant", ("nothing to train", "groups"), study(variants=[])),
    ("no seed", ("seeds = []", "at least 1"), study(seeds=[])),
    ("repeated seeds", ("seeds repeat", "[1, 1]"), study(seeds=[1, 1])),
    ("a negative seed", ("seeds.0 = -1",), study(seeds=[-1])),
    ("a large seed", ("= 1099511627776", "2147483648"), study(seeds=[2**40])),
    ("no word of reduction", ("add `reduced:`",), study(reduced=None)),
    ("no reason", ("validation", "add `reason:`"), study(validation={"images": 0})),
    ("a query outside", ("[3, 16]", "0 to 15"), block("attention", queries=[[3, 16]])),
    ("half a query", ("queries.0.1 is missing",), block("attention", queries=[[3]])),
    (
        "a picture that is not there",
        ("'nofile.png' does not exist",),
        block("attention", images=["nofile.png"]),
    ),
    (
        "no sample of that name",
        ("sample:moon.jpg", "sample:china.jpg"),
        block("attention", images=["sample:moon.jpg"]),
    ),
]

LEDGER, LAYOUT = "config/deviations.yaml", "report/layout.yaml"
PAGE = "report/page/template.html"
SECTION = "report/sections/01-introduction.md.j2"
BAD_CONFIGURATIONS = [
    *(Bad(name, CHECK, words, breaks) for name, words, breaks in FILES + KEYS + VALUES),
    Bad(
        "a study's file with capitals",
        "check Tiny",
        ("Tiny.yaml", NAMES),
        moved(STUDY, "config/studies/Tiny.yaml"),
    ),
    Bad(
        "a fault met by training",
        "train tiny vit",
        (VIT, "heads = 0"),
        line(VIT, "heads: 9", "heads: 0"),
    ),
    Bad("a fault met by reporting", REPORT, ("seeds.0",), study(seeds=[-1])),
    Bad(
        "no published numbers",
        "tables tiny",
        ("config/published.yaml is missing",),
        gone("config/published.yaml"),
    ),
    Bad(
        "published numbers without sources",
        "tables tiny",
        ("config/published.yaml", "sources is missing"),
        file("config/published.yaml", "variants: {}\n"),
    ),
    Bad("no ledger", REPORT, (f"{LEDGER} is missing",), gone(LEDGER)),
    Bad("a torn ledger", REPORT, (LEDGER, "line 2"), file(LEDGER, "- {id: D1\n")),
    Bad("a foreign ledger", REPORT, (LEDGER,), file(LEDGER, "a: 1\n")),
    Bad("a torn layout", REPORT, (LAYOUT, "line 1"), file(LAYOUT, "{")),
    Bad("a foreign layout", REPORT, (LAYOUT,), file(LAYOUT, "- 3\n")),
    Bad("a torn section", REPORT, (SECTION,), added(SECTION, "<% if %>")),
    Bad("no sections", REPORT, ("report/sections",), gone("report/sections")),
    Bad("no page", REPORT, ("template.html is missing",), gone(PAGE)),
]

"""Images, archives and downloads that cannot be used."""

import tarfile
import zipfile
from pathlib import Path

from breaking import (
    Bad,
    block,
    bomb,
    both,
    file,
    folder,
    gone,
    in_tree,
    link,
    many,
    member,
    packed,
    picture,
    pipe,
    torn,
    zeros,
)
from PIL import Image

PREPARE = "prepare folder --data-path {project}/"
TREE = f"{PREPARE}pictures"
PAGE = "<!DOCTYPE html><html><body>Not found</body></html>"
JPEG = picture("JPEG", quality=90)
A = "train/a/1.png"
MEND = (A, "Mend or remove it")


def black(project: Path) -> None:
    """Every picture is black."""
    for path in (project / "pictures").rglob("*.png"):
        Image.new("RGB", (16, 16)).save(path)


def tar(add, *words: str, name: str = "a.tar.gz") -> Bad:
    """An archive of the pictures with something added."""
    return Bad(f"{words[0]} in a tar", f"{PREPARE}{name}", words, packed(name, add))


def archive(name: str, kept: float) -> Bad:
    """A good archive that ends early."""
    breaks = both(packed(name), torn(name, kept))
    words = (name, "torn or damaged", "again")
    return Bad(f"{kept:.0%} of {name}", f"{PREPARE}{name}", words, breaks)


def linked(opened: zipfile.ZipFile) -> None:
    """Add a symbolic link."""
    info = zipfile.ZipInfo("train/a/link.png")
    info.external_attr = 0o120777 << 16
    opened.writestr(info, "/etc/passwd")


def named(name: str):
    """Adds a picture of a name to a zip archive."""
    return lambda opened: opened.writestr(name, picture())


def encrypted(project: Path) -> None:
    """A zip whose members say that they need a password."""
    packed("a.zip")(project)
    content = bytearray((project / "a.zip").read_bytes())
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        place = content.find(signature)
        while place >= 0:
            content[place + offset] |= 1
            place = content.find(signature, place + 4)
    (project / "a.zip").write_bytes(content)


TREES = [
    ("no train", ("train/<class>/", "no train"), gone("pictures/train")),
    ("no test", ("missing: test/a, test/b",), gone("pictures/test")),
    (
        "other classes in test",
        ("class folders", "test/c"),
        in_tree("train/c/0.png", JPEG),
    ),
    (
        "one class",
        ("one class", "Add a second"),
        both(gone("pictures/train/b"), gone("pictures/test/b")),
    ),
    ("an empty class", ("no images in test/a",), gone("pictures/test/a/0.png")),
    ("a stray image", ("train/x.png", "no class folder"), in_tree("train/x.png", JPEG)),
    ("text for an image", MEND, in_tree(A, b"no image")),
    ("an empty image", MEND, in_tree(A, b"")),
    ("a web page for an image", MEND, in_tree(A, PAGE.encode())),
    ("half a PNG", MEND, in_tree(A, picture()[:60])),
    ("half a JPEG", MEND, in_tree(A, JPEG[: len(JPEG) // 2])),
    ("400 million pixels", (A, "exceeds limit"), in_tree(A, bomb())),
    ("16 bits", (A, "8 bits a channel"), in_tree(A, picture(mode="I;16"))),
    ("floating point", (A, "8 bits a channel"), in_tree(A, picture("TIFF", "F"))),
    ("black images", ("deviations", "`std:`"), black),
    ("a link to nowhere", (A, "broken link"), link(f"pictures/{A}", "nowhere")),
    ("a pipe", ("train/a/p", "pipe"), pipe("pictures/train/a/p")),
    ("a folder in itself", ("a/up", "holds it"), link("pictures/train/a/up", "../..")),
    ("a folder for an image", ("train/a/x/0",), in_tree("train/a/x/0", b"no image")),
]

PATHS = [
    ("nowhere", ("nowhere", "does not exist")),
    ("notes.txt", ("notes.txt", "no tar or zip"), file("notes.txt", "x\n")),
    ("a.png", ("a.png", "no tar or zip"), file("a.png", picture())),
    ("empty.tar", ("empty.tar", "no tar or zip"), file("empty.tar", "")),
    ("page.tar.gz", ("page.tar.gz", "web page"), file("page.tar.gz", PAGE)),
    ("results/tiny/data/images.npy", ("images.npy", "no tar or zip")),
    ("empty", ("no train folder", "train/<class>/"), folder("empty")),
    (
        "two",
        ("several train folders",),
        both(file("two/x/train/a/0", "x"), file("two/y/train/a/0", "x")),
    ),
    ("pipe", ("pipe",), pipe("pipe")),
    (
        "../pictures/../../nowhere",
        ("nowhere", "does not exist"),
    ),
]

ARCHIVES = [
    *(archive(name, 0.5) for name in ("a.tar", "a.tar.gz", "a.tar.xz", "a.zip")),
    archive("a.tar.bz2", 0.9),
    archive("b.zip", 0.98),
    tar(member("../evil.png"), "../evil.png", "outside the archive"),
    tar(member("/evil.png"), "/evil.png", "outside the archive"),
    tar(member("train/a/l.png", tarfile.SYMTYPE, "/etc/passwd"), "l.png", "link"),
    tar(member("train/a/h.png", tarfile.LNKTYPE, "../../x"), "h.png", "link"),
    tar(member("train/a/d.png", tarfile.CHRTYPE), "d.png", "device"),
    tar(member("train/a/f.png", tarfile.FIFOTYPE), "f.png", "device"),
    tar(member("train/a/0.png"), "train/a/0.png", "twice", name="a.tar"),
    *(
        Bad(f"{words[0]} in a zip", f"{PREPARE}a.zip", words, packed("a.zip", add))
        for add, words in (
            (named("../evil.png"), ("../evil.png", "outside the archive")),
            (named("/evil.png"), ("/evil.png", "outside the archive")),
            (linked, ("link.png", "link")),
            (many(20_000), ("train/a/00", "Mend or remove")),
            (zeros("train/a/z.png", 300 << 20), ("train/a/z.png", "256 MiB")),
        )
    ),
    Bad("a password", f"{PREPARE}a.zip", ("a.zip", "encrypted"), encrypted),
]

NO_CIFAR = ("cifar-10-python.tar.gz", "MD5", "again")
CIFAR = "prepare cifar --data-path {project}/"
BATCHES = "cifar-10-batches-py"
DOWNLOAD = "download {project}/kept.tar.gz --url "
DOWNLOADS = [
    Bad("no archive of CIFAR-10", "prepare cifar", ("cifar10", "download")),
    Bad("another archive", f"{CIFAR}a.tar.gz", NO_CIFAR, packed("a.tar.gz")),
    Bad("a page for CIFAR-10", f"{CIFAR}a", ("web page", "again"), file("a", PAGE)),
    Bad("a folder without it", f"{CIFAR}pictures", ("pictures", BATCHES)),
    Bad(
        "a folder of torn batches",
        f"{CIFAR}{BATCHES}",
        (BATCHES, "data_batch_1", "MD5"),
        both(
            *(file(f"{BATCHES}/data_batch_{n}", "x") for n in range(1, 6)),
            file(f"{BATCHES}/test_batch", "x"),
            file(f"{BATCHES}/batches.meta", "x"),
        ),
    ),
    Bad(
        "a folder that lacks a batch",
        f"{CIFAR}{BATCHES}",
        (BATCHES, "lacks", "Unpack"),
        file(f"{BATCHES}/batches.meta", "x"),
    ),
    *(
        Bad(f"a server's {place}", f"{DOWNLOAD}{{url}}/{place}", ("{url}/", *words))
        for place, words in {
            "page": ("web page", "elsewhere"),
            "missing": ("404", "data_path=PATH"),
            "closed": ("not the published", "again"),
            "chunks": ("cannot be downloaded", "data_path=PATH"),
            "garbage": ("cannot be downloaded", "data_path=PATH"),
            "circle": ("cannot be downloaded", "data_path=PATH"),
            "silence": ("timed out", "data_path=PATH"),
            "other": ("not the published", "MD5"),
        }.items()
    ),
    Bad("no server", f"{DOWNLOAD}http://127.0.0.1:9/x", ("127.0.0.1:9", "refused")),
    Bad("no network", f"{DOWNLOAD}http://no.invalid/x", ("no.invalid", "data_path")),
    Bad("no address", f"{DOWNLOAD}cifar", ("cifar", "cannot be downloaded")),
    Bad(
        "no such scheme", f"{DOWNLOAD}htp://x/y", ("htp://x/y", "cannot be downloaded")
    ),
    Bad(
        "a download into nowhere",
        "download /dev/null/x.tar.gz --url {url}/page",
        ("/dev/null",),
    ),
]

BAD_IMAGES = [
    Bad("no path", "prepare fresh", ("fresh", "--data-path PATH")),
    Bad(
        "an image of /dev/null", "prepare folder --data-path /dev/null", ("/dev/null",)
    ),
    Bad(
        "a path for digits", "prepare tiny --data-path .", ("scikit-learn", "data_path")
    ),
    *(
        Bad(f"a path to {entry[0]}", f"{PREPARE}{entry[0]}", *entry[1:])
        for entry in PATHS
    ),
    *(Bad(name, TREE, words, breaks) for name, words, breaks in TREES),
    *ARCHIVES,
    *DOWNLOADS,
    Bad(
        "an attention image out of range",
        "prepare tiny",
        ("attention.images = 360", "at most 359"),
        block("attention", images=[360]),
    ),
    Bad(
        "more validation images than there are",
        "prepare tiny",
        ("validation.images = 5000", "at most 1436"),
        block("validation", images=5000),
    ),
]

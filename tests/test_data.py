"""Preparing images: the same bytes from every form, or one clear sentence."""

import hashlib
import io
import itertools
import multiprocessing
import pickle
import pickletools
import subprocess
import sys
import tarfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from reattn.config.studies import DataSettings
from reattn.data import download_cifar10, load_attention_images, open_data, prepare
from reattn.data.cifar10_files import official_release
from reattn.data.preparation import channel_statistics
from reattn.errors import DataError
from reattn.files import read_json, write_json

PAGE = b"<!DOCTYPE html><html><body>503 Service Unavailable</body></html>"
PREPARED = {"images.npy", "labels.npy", "data.json"}
FOLDER = DataSettings(source="image-folder", image_size=16)
CIFAR10 = DataSettings(source="cifar10")
DIGITS = DataSettings(source="digits", image_size=16)


def picture(seed, mode="RGB", size=(16, 16)):
    generator = np.random.default_rng(seed)
    pixels = generator.integers(0, 256, (size[1], size[0], 4), dtype=np.uint8)
    return Image.fromarray(pixels, "RGBA").convert(mode)


def encoded(image, extension="png"):
    buffer = io.BytesIO()
    image.save(buffer, "JPEG" if extension == "jpg" else extension)
    return buffer.getvalue()


@pytest.fixture
def tree(tmp_path):
    """Two classes, three training images and one test image each."""
    seed = 0
    for split, count in (("train", 3), ("test", 1)):
        for name in ("cat", "dog"):
            for number in range(count):
                put(tmp_path / "tree", f"{split}/{name}/{number}.png", picture(seed))
                seed += 1
    return tmp_path / "tree"


def put(tree, name, content):
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else encoded(content))
    return path


def members(tree):
    return sorted(tree.rglob("*"), key=lambda path: path.name, reverse=True)


def pack(tree, archive, top=""):
    """An archive in another order than the tree's, with `top` as its first folder."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive, "w") as file:
            for path in members(tree):
                file.write(path, f"{top}{path.relative_to(tree)}")
        return archive
    compression = archive.suffix.removeprefix(".")
    mode = "w" if compression == "tar" else f"w:{compression}"
    with tarfile.open(archive, mode) as file:
        for path in members(tree):
            file.add(path, f"{top}{path.relative_to(tree)}", recursive=False)
    return archive


def prepared(settings, destination, path=None):
    prepare(settings, destination, path)
    assert {path.name for path in destination.iterdir()} == PREPARED
    return open_data(destination, verify_images=True)


def refused(settings, destination, path, *words):
    """The fault is one DataError with these words, and nothing is left behind."""
    with pytest.raises(DataError) as caught:
        prepare(settings, destination, path)
    for word in words:
        assert word in str(caught.value)
    assert not destination.exists() or not list(destination.iterdir())


def pixels_of(path):
    return np.asarray(Image.open(path).convert("RGB")).transpose(2, 0, 1)


# ---------------------------------------------------------------- image folders


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".tar.xz", ".tar.bz2", ".zip"])
@pytest.mark.parametrize("top", ["", "./", "pictures/"])
def test_an_archive_gives_the_bytes_of_its_tree(tree, tmp_path, suffix, top):
    """Form, order and enclosing folder of the source never change the data."""
    from_tree = prepared(FOLDER, tmp_path / "a", tree)
    archive = pack(tree, tmp_path / f"pictures{suffix}", top)
    from_archive = prepared(FOLDER, tmp_path / "b", archive)
    assert from_archive.info["checksum"] == from_tree.info["checksum"]
    for name in ("images.npy", "labels.npy"):
        assert (tmp_path / "a" / name).read_bytes() == (
            tmp_path / "b" / name
        ).read_bytes()
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert from_archive.info["archive_checksum"] == f"sha256:{digest}"
    assert from_tree.info["archive_checksum"] is None


def test_every_image_keeps_its_label_and_split(tree, tmp_path):
    """A reordered image must take its label along."""
    dataset = prepared(FOLDER, tmp_path / "data", tree)
    assert dataset.classes == ("cat", "dog")
    assert dataset.info["counts"] == {"train": 6, "test": 2}
    for split, images, labels in (
        ("train", dataset.train_images, dataset.train_labels),
        ("test", dataset.test_images, dataset.test_labels),
    ):
        for image, label in zip(images, labels, strict=True):
            found = [
                path.parent.name
                for path in (tree / split).rglob("*.png")
                if (
                    np.asarray(Image.open(path).convert("RGB"))
                    == image.T.swapaxes(0, 1)
                ).all()
            ]
            assert found == [dataset.classes[label]]


def test_classes_are_mixed(tmp_path):
    """Batch statistics over test images in order must not see one class only."""
    for split in ("train", "test"):
        for name in ("cat", "dog"):
            for number in range(60):
                put(tmp_path / "t", f"{split}/{name}/{number}.png", picture(number))
    labels = prepared(FOLDER, tmp_path / "data", tmp_path / "t").test_labels
    assert 0.3 < labels[:40].mean() < 0.7


def test_litter_and_files_beside_the_splits_are_left_out(tree, tmp_path):
    """.DS_Store, __MACOSX and a README are no images."""
    expected = prepared(FOLDER, tmp_path / "a", tree).info
    put(tree, "train/cat/.DS_Store", b"x")
    put(tree, "__MACOSX/train/cat/._0.png", b"x")
    put(tree, "README.txt", b"x")
    assert prepared(FOLDER, tmp_path / "b", tree).info == expected


@pytest.mark.parametrize(
    ("mode", "rule"), [("L", "grey"), ("1", "grey"), ("P", "palette"), ("CMYK", "cmyk")]
)
def test_other_modes_become_three_channels(tree, tmp_path, mode, rule):
    """The rule is applied, and data.json counts the images that it touched."""
    image = picture(50).convert(mode)
    put(tree, "train/cat/other.png", encoded(image, "tiff"))
    dataset = prepared(FOLDER, tmp_path / "data", tree)
    assert dataset.info["treated"] == {rule: 1}
    pixels = np.asarray(image.convert("RGB")).transpose(2, 0, 1)
    assert (dataset.train_images == pixels).all(axis=(1, 2, 3)).sum() == 1


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_transparency_lies_over_white(tree, tmp_path, mode):
    """A wholly transparent picture is white, whatever colour it hides."""
    image = Image.new("RGBA", (16, 16), (200, 10, 10, 0)).convert(mode)
    if mode == "P":
        image.info["transparency"] = image.getpixel((0, 0))
    put(tree, "test/dog/clear.png", image)
    dataset = prepared(FOLDER, tmp_path / "data", tree)
    assert dataset.info["treated"]["transparent"] == 1
    assert (dataset.test_images == 255).all(axis=(1, 2, 3)).sum() == 1


def test_other_sizes_are_cut_and_resized(tree, tmp_path):
    """The central square of a wide picture stays; the count is stated."""
    wide = Image.new("RGB", (96, 32), "black")
    wide.paste((10, 200, 30), (32, 0, 64, 32))
    put(tree, "test/dog/wide.png", wide)
    dataset = prepared(FOLDER, tmp_path / "data", tree)
    assert dataset.info["treated"] == {"resized": 1}
    centre = np.array([10, 200, 30], dtype=np.uint8)[:, None, None]
    assert (dataset.test_images == centre).all(axis=(1, 2, 3)).sum() == 1


@pytest.mark.parametrize("form", ["tree", "pictures.tar.gz", "pictures.zip"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("torn.jpg", encoded(picture(1, size=(64, 64)), "jpg")[:900]),
        ("empty.png", b""),
        ("notes.txt", b"no image"),
        ("deep.png", encoded(Image.new("I;16", (16, 16)))),
    ],
)
def test_a_broken_image_is_named(tree, tmp_path, form, name, content):
    """The sentence names the file, also inside an archive."""
    put(tree, f"train/dog/{name}", content)
    source = tree if form == "tree" else pack(tree, tmp_path / form)
    refused(FOLDER, tmp_path / "data", source, str(source), f"train/dog/{name}")


def test_train_and_test_must_have_the_same_classes(tree, tmp_path):
    """A class without test images would shift every label."""
    put(tree, "train/bird/0.png", picture(9))
    refused(FOLDER, tmp_path / "data", tree, "same class folders", "test/bird")


@pytest.mark.parametrize("form", ["tree", "pictures.tar", "pictures.zip"])
def test_an_empty_class_is_named(tree, tmp_path, form):
    """An empty folder is a fault, not a class."""
    for split in ("train", "test"):
        put(tree, f"{split}/bird/0.png", picture(9))
    (tree / "test/bird/0.png").unlink()
    source = tree if form == "tree" else pack(tree, tmp_path / form)
    refused(FOLDER, tmp_path / "data", source, "no images in test/bird")


def test_a_file_outside_the_classes_is_named(tree, tmp_path):
    """An image in train/ itself has no label."""
    put(tree, "train/stray.png", picture(9))
    refused(FOLDER, tmp_path / "data", tree, "train/stray.png", "no class folder")


def test_a_folder_without_train_is_explained(tmp_path):
    """The sentence says what the folder should look like."""
    put(tmp_path / "t", "cat/0.png", picture(0))
    refused(FOLDER, tmp_path / "d", tmp_path / "t", "train/<class>/", "no train")


def test_a_missing_source_is_named(tmp_path):
    """No path and a wrong path are told apart."""
    refused(FOLDER, tmp_path / "data", None, "--data-path PATH")
    refused(FOLDER, tmp_path / "data", tmp_path / "nowhere", "nowhere is missing")


# --------------------------------------------------------------------- archives


def test_a_web_page_is_recognised(tmp_path):
    """A server's error page saved under the archive's name."""
    page = put(tmp_path, "pictures.tar.xz", b"\n " + PAGE)
    refused(FOLDER, tmp_path / "data", page, "pictures.tar.xz", "web page")


def test_something_else_is_no_archive(tmp_path):
    """Any other file is refused by name."""
    file = put(tmp_path, "pictures.tar.gz", b"hello")
    refused(FOLDER, tmp_path / "data", file, "pictures.tar.gz", "no tar or zip")


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".tar.xz", ".tar.bz2", ".zip"])
@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_a_torn_archive_is_named(tree, tmp_path, suffix, kept):
    """An interrupted copy must not pass as a smaller data set."""
    archive = pack(tree, tmp_path / f"pictures{suffix}")
    content = archive.read_bytes()
    archive.write_bytes(content[: int(len(content) * kept)])
    refused(FOLDER, tmp_path / "data", archive, archive.name, "torn or damaged")


def test_a_changed_checksum_of_an_archive_is_noticed(tree, tmp_path):
    """It lies behind the last member, where reading could stop before it."""
    archive = pack(tree, tmp_path / "pictures.tar.gz")
    content = bytearray(archive.read_bytes())
    content[-6] ^= 1
    archive.write_bytes(content)
    refused(FOLDER, tmp_path / "data", archive, archive.name, "torn or damaged")


def test_an_archive_of_the_current_folder_is_read(tree, tmp_path):
    """`tar cf pictures.tar .` has a member for the folder itself."""
    with tarfile.open(tmp_path / "pictures.tar", "w") as file:
        file.add(tree, ".")
    expected = prepared(FOLDER, tmp_path / "a", tree).info["checksum"]
    packed = prepared(FOLDER, tmp_path / "b", tmp_path / "pictures.tar")
    assert packed.info["checksum"] == expected


def test_a_tar_cut_between_two_members_is_torn(tree, tmp_path):
    """Python reads such a file to its end without complaint."""
    archive = pack(tree, tmp_path / "pictures.tar")
    with tarfile.open(archive) as file:
        last = file.getmembers()[-1].offset
    archive.write_bytes(archive.read_bytes()[:last])
    refused(FOLDER, tmp_path / "data", archive, "pictures.tar", "torn or damaged")


@pytest.mark.parametrize("name", ["../train/cat/evil.png", "/train/cat/evil.png"])
@pytest.mark.parametrize("form", ["pictures.tar", "pictures.zip"])
def test_a_member_outside_the_archive_is_refused(tree, tmp_path, form, name):
    """`..` and absolute names are refused, though nothing is unpacked."""
    archive = pack(tree, tmp_path / form)
    if form.endswith("zip"):
        with zipfile.ZipFile(archive, "a") as file:
            file.writestr(name, encoded(picture(1)))
    else:
        with tarfile.open(archive, "a") as file:
            file.addfile(tarfile.TarInfo(name))
    refused(FOLDER, tmp_path / "data", archive, name, "outside the archive")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_in_a_tar_are_refused(tree, tmp_path, kind):
    """A link could point anywhere."""
    archive = pack(tree, tmp_path / "pictures.tar")
    link = tarfile.TarInfo("train/cat/link.png")
    link.type, link.linkname = kind, "/etc/passwd"
    with tarfile.open(archive, "a") as file:
        file.addfile(link)
    refused(FOLDER, tmp_path / "data", archive, "train/cat/link.png", "link")


def test_links_in_a_zip_are_refused(tree, tmp_path):
    """A zip marks a link in its Unix attributes."""
    archive = pack(tree, tmp_path / "pictures.zip")
    link = zipfile.ZipInfo("train/cat/link.png")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(archive, "a") as file:
        file.writestr(link, "/etc/passwd")
    refused(FOLDER, tmp_path / "data", archive, "train/cat/link.png", "link")


def test_a_member_that_comes_twice_is_refused(tree, tmp_path):
    """Which of the two counts would be a guess."""
    archive = pack(tree, tmp_path / "pictures.tar")
    with tarfile.open(archive, "a") as file:
        file.add(tree / "train/cat/1.png", "train/cat/0.png")
    refused(FOLDER, tmp_path / "data", archive, "train/cat/0.png twice")


# ----------------------------------------------------------------------- digits


def test_digits_are_fixed_and_balanced(tmp_path):
    """1,437 and 360 images, every class in its share, the same bytes each time."""
    first = prepared(DIGITS, tmp_path / "a")
    second = prepared(DIGITS, tmp_path / "b")
    assert first.info == second.info
    assert first.train_images.shape == (1437, 3, 16, 16)
    assert first.test_images.shape == (360, 3, 16, 16)
    assert (first.train_images[:, 0] == first.train_images[:, 2]).all()
    assert first.train_images.max() == 255
    shares = np.bincount(first.test_labels) / np.bincount(first.train_labels)
    assert np.ptp(shares) < 0.03


def test_digits_at_their_own_size_are_not_resampled(tmp_path):
    """At 8x8 the 17 grey levels arrive as they are, with their labels."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    data = prepared(DIGITS.model_copy(update={"image_size": 8}), tmp_path / "data")
    known = {
        np.round(image * 255 / 16).astype(np.uint8).tobytes(): target
        for image, target in zip(digits.images, digits.target, strict=True)
    }
    images = np.concatenate([data.train_images, data.test_images])[:, 0]
    labels = np.concatenate([data.train_labels, data.test_labels])
    assert [known[image.tobytes()] for image in images] == labels.tolist()


def test_preparing_needs_no_torch(tmp_path):
    """Preparing and opening must stay quick to start."""
    code = (
        "import sys; from reattn.config.studies import DataSettings\n"
        "from reattn.data import open_data, prepare, load_attention_images\n"
        "prepare(DataSettings(source='digits', image_size=8), sys.argv[1])\n"
        "load_attention_images([0], open_data(sys.argv[1]), 8)\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "d")], check=True)


def test_no_worker_process_and_no_shared_memory(tmp_path):
    """Small /dev/shm cannot break what never uses it."""
    shared = Path("/dev/shm")
    before = set(shared.iterdir()) if shared.is_dir() else set()
    prepared(DIGITS, tmp_path / "data")
    assert not multiprocessing.active_children()
    assert not shared.is_dir() or not {
        path for path in set(shared.iterdir()) - before if "reattn" in path.name
    }


# ---------------------------------------------------------------------- CIFAR-10


def as_python2(content):
    """A pickle of protocol 3 rewritten with the opcodes of Python 2's protocol 2."""
    result = bytearray(content.replace(b"numpy._core", b"numpy.core"))
    for opcode, _, position in pickletools.genops(bytes(result)):
        if opcode.name in ("BINBYTES", "SHORT_BINBYTES"):
            result[position] = ord("T" if opcode.name == "BINBYTES" else "U")
    return bytes(result)


@pytest.fixture
def release(tmp_path, monkeypatch):
    """A small release in the official form, with checksums of its own."""
    folder = tmp_path / "source/cifar-10-batches-py"
    folder.mkdir(parents=True)
    generator = np.random.default_rng(0)
    official = official_release()
    checksums = {}
    for name in official.files:
        content = {"label_names": ["airplane", "automobile"]}
        if name != official.names[0]:
            data = generator.integers(0, 256, (4, 3072), dtype=np.uint8)
            content = {"data": data, "labels": [0, 1, 1, 0], "batch_label": name}
        written = as_python2(pickle.dumps(content, protocol=3))
        (folder / name).write_bytes(written)
        checksums[name] = hashlib.md5(written).hexdigest()
    archive = tmp_path / "source" / official.archive
    with tarfile.open(archive, "w:gz") as file:
        file.add(folder, folder.name)
    small = replace(
        official,
        url=archive.as_uri(),
        archive_md5=hashlib.md5(archive.read_bytes()).hexdigest(),
        train=tuple((name, checksums[name]) for name, _ in official.train),
        test=tuple((name, checksums[name]) for name, _ in official.test),
        names=(official.names[0], checksums[official.names[0]]),
    )
    for module in ("cifar10", "cifar10_files"):
        monkeypatch.setattr(f"reattn.data.{module}.official_release", lambda: small)
    return archive


def test_every_form_of_cifar10_gives_the_same_data(release, tmp_path):
    """Archive, folder that holds it, unpacked folder, and the folder around that."""
    unpacked = release.parent / "cifar-10-batches-py"
    holder = tmp_path / "holder"
    holder.mkdir()
    (holder / release.name).write_bytes(release.read_bytes())
    for number, path in enumerate([release, holder, unpacked, release.parent]):
        dataset = prepared(CIFAR10, tmp_path / f"data{number}", path)
        assert dataset.info["counts"] == {"train": 20, "test": 4}
        assert dataset.classes == ("airplane", "automobile")
        batch = pickle.loads((unpacked / "test_batch").read_bytes(), encoding="latin1")
        assert (dataset.test_images.reshape(4, -1) == batch["data"]).all()
        assert dataset.test_labels.tolist() == batch["labels"]
    assert prepared(CIFAR10, tmp_path / "again", release).info["archive_checksum"] == (
        f"md5:{hashlib.md5(release.read_bytes()).hexdigest()}"
    )


def test_the_official_checksums_are_torchvisions():
    """The published archive's MD5, as its page states it."""
    release = official_release()
    assert release.archive_md5 == "c58f30108f718f92721af3b95e74349a"
    assert len(release.files) == 7


def test_cifar10_at_another_size_is_resized(release, tmp_path):
    """`image_size` is kept by the same rule as everywhere."""
    settings = CIFAR10.model_copy(update={"image_size": 16})
    assert prepared(settings, tmp_path / "data", release).image_size == 16


def test_an_unverified_pickle_is_never_loaded(release, tmp_path):
    """Code in a batch file must not run: its checksum is wrong."""
    marker = tmp_path / "marker"
    folder = release.parent / "cifar-10-batches-py"
    (folder / "test_batch").write_bytes(pickle.dumps(RunsCode(marker)))
    refused(CIFAR10, tmp_path / "data", folder, "test_batch", "MD5")
    assert not marker.exists()


def test_a_pickle_can_only_build_arrays(tmp_path):
    """Even with a matching checksum no other function is called."""
    from reattn.data.cifar10 import _unpickled

    marker = tmp_path / "marker"
    with pytest.raises(DataError, match=r"pathlib.*refused"):
        _unpickled(pickle.dumps(RunsCode(marker)))
    assert not marker.exists()


class RunsCode:
    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return Path.touch, (self.marker,)


def test_a_damaged_cifar10_archive_is_named(release, tmp_path):
    """Torn, replaced by a page, or altered: three sentences, no data."""
    content = release.read_bytes()
    release.write_bytes(content[: len(content) // 2])
    refused(CIFAR10, tmp_path / "data", release, release.name, "MD5")
    release.write_bytes(PAGE)
    refused(CIFAR10, tmp_path / "data", release, release.name, "web page")
    refused(CIFAR10, tmp_path / "data", tmp_path, "holds neither", release.name)


def test_a_missing_batch_is_named(release, tmp_path):
    """An incomplete folder is not a smaller data set."""
    folder = release.parent / "cifar-10-batches-py"
    (folder / "data_batch_3").unlink()
    refused(CIFAR10, tmp_path / "data", folder, "lacks data_batch_3")


def test_download_is_verified_and_kept(release, tmp_path):
    """A good file is taken once; the second call asks no server."""
    target = tmp_path / "cache/cifar.tar.gz"
    assert download_cifar10(target).read_bytes() == release.read_bytes()
    assert download_cifar10(target, "file:///nowhere") == target
    folder = tmp_path / "folder"
    folder.mkdir()
    assert download_cifar10(folder) == folder / release.name


def test_simultaneous_downloads_leave_one_whole_file(release, tmp_path):
    """Several processes that fetch into one place must not tear the file."""
    target = tmp_path / "cache/cifar.tar.gz"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(download_cifar10, [target] * 4))
    assert list(target.parent.iterdir()) == [target]
    assert target.read_bytes() == release.read_bytes()


@pytest.mark.parametrize(
    ("answer", "word"), [(PAGE, "web page"), (b"short", "MD5"), (None, "downloaded")]
)
def test_a_bad_download_leaves_nothing(release, tmp_path, answer, word):
    """A page, a torn file and no server: the sentence names the address."""
    served = tmp_path / "served"
    if answer is not None:
        served.write_bytes(answer)
    target = tmp_path / "cache/cifar.tar.gz"
    with pytest.raises(DataError, match=word) as caught:
        download_cifar10(target, served.as_uri())
    assert served.as_uri() in str(caught.value)
    assert list(target.parent.iterdir()) == []


# ------------------------------------------------------------- prepared folders


@pytest.fixture
def digits(tmp_path):
    prepare(DIGITS, tmp_path / "digits")
    return tmp_path / "digits"


def test_data_opens_read_only(digits):
    """No run can change the images of another."""
    dataset = open_data(digits)
    assert isinstance(dataset.train_images, np.memmap)
    for array in (dataset.train_images, dataset.test_labels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_data_json_is_the_same_everywhere(tree, tmp_path):
    """No date, no path: equal data give equal files on any machine."""
    elsewhere = tmp_path / "elsewhere"
    tree.rename(elsewhere)
    prepare(FOLDER, tmp_path / "a", elsewhere)
    elsewhere.rename(tree)
    prepare(FOLDER, tmp_path / "b", tree)
    content = (tmp_path / "a/data.json").read_bytes()
    assert content == (tmp_path / "b/data.json").read_bytes()
    assert str(tmp_path).encode() not in content


def test_given_statistics_win(digits, tmp_path):
    """`mean` and `std` of the study are used; else those of the training images."""
    settings = DIGITS.model_copy(
        update={"mean": (0.1, 0.2, 0.3), "std": (1.0, 2.0, 3.0), "note": "A note."}
    )
    dataset = prepared(settings, tmp_path / "data")
    assert (dataset.mean, dataset.std) == ((0.1, 0.2, 0.3), (1.0, 2.0, 3.0))
    assert dataset.info["note"] == "A note."
    measured = open_data(digits)
    scaled = measured.train_images / 255
    np.testing.assert_allclose(measured.mean, scaled.mean(axis=(0, 2, 3)))
    np.testing.assert_allclose(measured.std, scaled.std(axis=(0, 2, 3)))


@given(count=st.integers(1, 9), side=st.integers(1, 5), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_statistics_equal_numpys(count, side, seed):
    """Whole-number sums give the textbook's mean and deviation."""
    generator = np.random.default_rng(seed)
    images = generator.integers(0, 256, (count, 3, side, side), dtype=np.uint8)
    mean, std = channel_statistics(images)
    scaled = images / 255
    np.testing.assert_allclose(mean, scaled.mean(axis=(0, 2, 3)), atol=1e-12)
    np.testing.assert_allclose(std, scaled.std(axis=(0, 2, 3)), atol=1e-7)


def test_images_without_contrast_are_refused(tmp_path):
    """A deviation of 0 would divide by nothing."""
    for split, name in itertools.product(("train", "test"), ("cat", "dog")):
        put(tmp_path / "t", f"{split}/{name}/0.png", Image.new("RGB", (16, 16)))
    refused(FOLDER, tmp_path / "data", tmp_path / "t", "must be positive", "std")


def test_a_failed_preparation_leaves_the_old_one(digits):
    """A refused source does not destroy what was there."""
    before = open_data(digits).info
    with pytest.raises(DataError):
        prepare(FOLDER, digits, digits / "nowhere")
    assert open_data(digits, verify_images=True).info == before


def test_a_kill_between_the_files_is_noticed(digits, monkeypatch):
    """New images must never open with the facts of the old ones."""
    rename = Path.replace

    def killed_at_labels(path, target):
        if Path(target).name == "labels.npy":
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "replace", killed_at_labels)
    with pytest.raises(KeyboardInterrupt):
        prepare(DIGITS, digits)
    with pytest.raises(DataError, match="no prepared data"):
        open_data(digits)


def test_an_unprepared_folder_is_explained(tmp_path):
    """A run without data says so and downloads nothing."""
    with pytest.raises(DataError, match="no prepared data"):
        open_data(tmp_path)


def test_labels_out_of_step_are_noticed(digits):
    """Labels of another preparation, of equal or other length."""
    labels = np.load(digits / "labels.npy")
    np.save(digits / "labels.npy", np.roll(labels, 1))
    with pytest.raises(DataError, match=r"labels\.npy is not of this preparation"):
        open_data(digits)
    np.save(digits / "labels.npy", labels[:-1])
    with pytest.raises(DataError, match=r"labels\.npy holds int64 of shape \(1796,\)"):
        open_data(digits)


def test_images_of_another_size_are_noticed(digits):
    """images.npy and data.json must speak of the same images."""
    facts = read_json(digits / "data.json")
    write_json(digits / "data.json", facts | {"image_size": 32})
    with pytest.raises(DataError, match=r"images\.npy holds .* \(1797, 3, 16, 16\)"):
        open_data(digits)


def test_changed_pixels_are_noticed_when_asked(digits):
    """The full check reads every image."""
    images = np.load(digits / "images.npy", mmap_mode="r+")
    images[0, 0, 0, 0] += 1
    images.flush()
    with pytest.raises(DataError, match=r"images\.npy is not of this preparation"):
        open_data(digits, verify_images=True)


@pytest.mark.parametrize("name", ["images.npy", "labels.npy"])
@pytest.mark.parametrize("kept", [0, 60, 5000])
def test_torn_arrays_are_noticed(digits, name, kept):
    """A file cut anywhere is named, never mapped past its end."""
    content = (digits / name).read_bytes()
    (digits / name).write_bytes(content[:kept])
    with pytest.raises(DataError, match=name.replace(".", r"\.")):
        open_data(digits)


def test_facts_of_another_version_are_noticed(digits):
    """data.json without a key that runs need."""
    facts = read_json(digits / "data.json")
    del facts["mean"]
    write_json(digits / "data.json", facts)
    with pytest.raises(DataError, match=r"data\.json lacks mean"):
        open_data(digits)


# -------------------------------------------------------------- attention images


def test_attention_images_come_from_three_places(digits, tmp_path):
    """Test images as they are, files and photographs cut and resized."""
    dataset = open_data(digits)
    file = put(tmp_path, "mine.png", Image.new("RGB", (40, 20), "red"))
    names, images = load_attention_images(
        [3, "sample:china.jpg", "sample:flower.jpg", str(file)], dataset, 16
    )
    assert names[0] == f"test image 3 ({dataset.test_labels[3]})"
    assert names[1:] == ["china.jpg", "flower.jpg", "mine.png"]
    assert (images.shape, images.dtype) == ((4, 3, 16, 16), np.uint8)
    assert (images[0] == dataset.test_images[3]).all()
    assert images[1].std() > 20
    assert (images[3] == np.array([255, 0, 0])[:, None, None]).all()


@pytest.mark.parametrize("image", [360, "sample:dog.jpg", "nowhere.png"])
def test_a_missing_attention_image_is_named(digits, image):
    """An index past the end, an unknown sample, a missing file."""
    with pytest.raises(DataError, match=str(image)):
        load_attention_images([image], open_data(digits), 16)


def test_only_paths_that_a_user_gave_are_remembered(tmp_path, monkeypatch) -> None:
    """The workflow's own download stays its own; a later run would differ."""
    from reattn.data.locations import remember_path, source_path

    (tmp_path / "config" / "studies").mkdir(parents=True)
    monkeypatch.setenv("REATTN_ROOT", str(tmp_path))
    settings = DataSettings(source="cifar10")
    downloaded = tmp_path / "results" / "paper" / "data" / "archive.tar.gz"
    downloaded.parent.mkdir(parents=True)
    downloaded.touch()
    remember_path("paper", downloaded)
    assert source_path("paper", settings, None) is None
    own = tmp_path / "archive.tar.gz"
    own.touch()
    remember_path("paper", own)
    assert source_path("paper", settings, None) == str(own)
    monkeypatch.chdir(tmp_path)
    assert source_path("paper", settings, "archive.tar.gz") == str(own)

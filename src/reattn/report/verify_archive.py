"""Whether an archive of `export` is what its own lists say."""

import hashlib
import tarfile
import tempfile
import zlib
from pathlib import Path

from reattn.errors import ReattnError
from reattn.report.archive import SUMS
from reattn.report.verify import Verified, verify_study


def verify_archive(study: str, archive: Path) -> Verified:
    """Check SHA256SUMS of an archive, then the study in it as `verify_study` does.

    Unpacks into a temporary folder, which is removed.

    Raises:
        ReattnError: it cannot be read, holds another study, or has faults; all of a
            kind together.
    """
    with tempfile.TemporaryDirectory() as temporary:
        root = _unpack(study, archive, Path(temporary))
        if faults := _sum_faults(root):
            heading = f"{archive}: {len(faults)} faults against {SUMS}:"
            fix = "Take the archive again from where it came."
            raise ReattnError("\n  - ".join([heading, *faults]) + f"\n{fix}")
        return verify_study(study, root / "results" / study)


def _unpack(study: str, archive: Path, folder: Path) -> Path:
    try:
        with tarfile.open(archive) as packed:
            for member in packed:
                _write_member(packed, member, folder)
    except FileNotFoundError:
        raise ReattnError(f"--archive {archive} does not exist.") from None
    except (tarfile.TarError, EOFError, OSError, zlib.error) as fault:
        raise ReattnError(
            f"--archive {archive} cannot be unpacked: {fault}. Take it again from "
            "where it came."
        ) from None
    root = folder / f"reattn-{study}"
    if not (root / SUMS).is_file():
        held = ", ".join(sorted(path.name for path in folder.iterdir())) or "nothing"
        raise ReattnError(
            f"--archive {archive} holds {held}, not reattn-{study}/{SUMS}. Name the "
            "study that was packed."
        )
    return root


def _write_member(
    packed: tarfile.TarFile, member: tarfile.TarInfo, folder: Path
) -> None:
    """Write one regular file; an archive of `export` holds nothing else.

    The `data` filter of tarfile would do, but Python 3.11 has it from 3.11.4 only,
    and Debian 12 comes with 3.11.2.
    """
    path = folder / member.name
    inside = path.resolve().is_relative_to(folder.resolve())
    content = packed.extractfile(member) if member.isfile() and inside else None
    if content is None:
        raise tarfile.TarError(f"{member.name} is no file inside of it")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.read())


def _sum_faults(root: Path) -> list[str]:
    """Files that are missing, changed or not listed in SHA256SUMS."""
    lines = (root / SUMS).read_text(encoding="utf-8").splitlines()
    listed = {name: digest for digest, _, name in (x.partition("  ") for x in lines)}
    found = {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file() and path != root / SUMS
    }
    return [
        *(f"{name}: missing" for name in sorted(listed.keys() - found.keys())),
        *(f"{name}: not listed" for name in sorted(found.keys() - listed.keys())),
        *(
            f"{name}: changed"
            for name in sorted(listed.keys() & found.keys())
            if listed[name] != found[name]
        ),
    ]

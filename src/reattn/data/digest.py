"""A digest that tells whether a source of images is still the one prepared."""

import hashlib
from pathlib import Path

from reattn.files import sha256_of


def source_digest(path: Path | str) -> str:
    """A digest of an archive's bytes, or of the names and sizes in a folder.

    It does not depend on the place of the source or on any time, so that a moved
    archive or a touched folder is the same source.

    Args:
        path: An archive or a folder that is there.

    Returns:
        64 hexadecimal digits.
    """
    path = Path(path).expanduser()
    if path.is_file():
        return sha256_of(path)
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        if file.is_file():
            line = f"{file.relative_to(path).as_posix()}\0{file.stat().st_size}\n"
            digest.update(line.encode(errors="surrogateescape"))
    return digest.hexdigest()

"""manifest.json: every file of a study that stands for its results."""

from pathlib import Path

from reattn.files import sha256_of, write_json

PATTERNS = (
    "tables/**/*",
    "figures/**/*",
    "measure/**/*",
    "report/**/*",
    "runs/*/seed*/status.json",
    "runs/*/seed*/metrics.json",
    "runs/*/seed*/history.csv",
)
NAME = "manifest.json"


def write_manifest(study: str, results: Path) -> None:
    """List size and SHA-256 of each file, sorted by path, in report/manifest.json."""
    own = results / "report" / NAME
    paths = {
        path
        for pattern in PATTERNS
        for path in results.glob(pattern)
        if path.is_file() and path != own and not path.name.startswith(".")
    }
    files = [
        {
            "path": path.relative_to(results).as_posix(),
            "size": path.stat().st_size,
            "sha256": sha256_of(path),
        }
        for path in sorted(paths, key=lambda path: path.relative_to(results).as_posix())
    ]
    write_json(own, {"study": study, "files": files})

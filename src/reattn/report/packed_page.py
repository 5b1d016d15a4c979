"""The page in a form small enough for Snakemake's own report.

Snakemake shows a page of its report as an address that holds all of it, and browsers
open no such address beyond two million bytes. Compressed, the same page is a fifth.
"""

import base64
import gzip

from reattn.config.paths import results_folder, shown
from reattn.errors import ReattnError
from reattn.files import write_text

# Without a policy of its own: the page's would be added to it, not put in its place.
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{study}</title></head>
<body>
<noscript>This copy needs a script to unfold; the report itself does not.</noscript>
<script>
const packed = Uint8Array.from(atob("{packed}"), (sign) => sign.charCodeAt(0));
const unpacked = new DecompressionStream("gzip");
new Response(new Blob([packed]).stream().pipeThrough(unpacked)).text().then((page) => {{
  document.open();
  document.write(page);
  document.close();
}});
</script>
</body>
</html>
"""


def pack_page(study: str) -> None:
    """Write results/<study>/page/report.html, which unfolds to the report's page.

    Raises:
        ReattnError: there is no report yet.
    """
    source = results_folder(study) / "report" / "report.html"
    if not source.is_file():
        raise ReattnError(
            f"{shown(source)} is missing: python -m reattn report {study}"
        )
    packed = base64.b64encode(gzip.compress(source.read_bytes(), mtime=0)).decode()
    page = _PAGE.format(study=study, packed=packed)
    write_text(results_folder(study) / "page" / "report.html", page)

"""Writes a zip or a tar.gz whose bytes depend only on the content of its files.

    archive.py ARCHIVE NAME=FILE...

All entries have the same time. Programs, which are the files with a permission to execute, keep this permission.
"""

import gzip
import io
import os
import pathlib
import sys
import tarfile
import zipfile

# The first time that a zip can have.
YEAR = 1980


def files(arguments):
    """Yields the name, the permissions and the content of each file, ordered by name."""
    for argument in sorted(arguments):
        name, _, file = argument.partition("=")
        yield name, 0o755 if os.access(file, os.X_OK) else 0o644, pathlib.Path(file).read_bytes()


def write_zip(archive, entries):
    with zipfile.ZipFile(archive, "w") as output:
        for name, mode, content in entries:
            entry = zipfile.ZipInfo(name, (YEAR, 1, 1, 0, 0, 0))
            # Unix, and a regular file.
            entry.create_system = 3
            entry.external_attr = (0o100000 | mode) << 16
            output.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)


def write_tar(archive, entries):
    with (
        open(archive, "wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as output,
    ):
        for name, mode, content in entries:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            output.addfile(entry, io.BytesIO(content))


if __name__ == "__main__":
    archive, *arguments = sys.argv[1:]
    (write_zip if archive.endswith(".zip") else write_tar)(archive, files(arguments))

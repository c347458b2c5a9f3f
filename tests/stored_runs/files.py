"""The run files of a case as one archive, the same to the byte for the same files."""

import io
import lzma
import tarfile
from pathlib import Path

RUNS = Path(__file__).parents[1] / "data/runs"
ARCHIVE = ".tar.xz"


def cases() -> list[str]:
    """The names of all cases."""
    return sorted(path.name.removesuffix(ARCHIVE) for path in RUNS.glob(f"*{ARCHIVE}"))


def pack(case: str, folder: Path) -> None:
    """Store what is in a folder as the files of a case."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = tarfile.TarInfo(str(path.relative_to(folder)))
                entry.size = path.stat().st_size
                archive.addfile(entry, io.BytesIO(path.read_bytes()))
    RUNS.mkdir(parents=True, exist_ok=True)
    packed = lzma.compress(whole.getvalue(), preset=9 | lzma.PRESET_EXTREME)
    (RUNS / f"{case}{ARCHIVE}").write_bytes(packed)


def unpack(case: str, folder: Path) -> list[Path]:
    """The files of a case in a folder; what `compare` is given: run files, or the folder of a campaign."""
    with tarfile.open(RUNS / f"{case}{ARCHIVE}") as archive:
        archive.extractall(folder, filter="data")
    return sorted(folder.iterdir())


def run_files(folder: Path) -> list[Path]:
    """All run files in a folder and below it."""
    return sorted(path for path in folder.rglob("*.bakeoff") if path.is_file())

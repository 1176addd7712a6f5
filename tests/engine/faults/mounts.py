"""File systems of a test's own: small, or read-only. Where mounting is not permitted the test is skipped."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str = "100m") -> Iterator[Path]:
    """A file system of *size* at *folder*; what is in it is gone afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    _mount_or_skip("-t", "tmpfs", "-o", f"size={size}", "none", str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path, free: int) -> Path:
    """The file that takes all space but about *free* bytes of *disk*."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    os.truncate(ballast, max(0, ballast.stat().st_size - free))
    return ballast


@contextmanager
def network_disk(folder: Path, behind: Path, lock_error: int = 0) -> Iterator[Path]:
    """The folder *behind* at *folder*, without memory that processes share; a lock fails with *lock_error*, if any."""
    folder.mkdir(parents=True, exist_ok=True)
    behind.mkdir(parents=True, exist_ok=True)
    code = Path(__file__).with_name("network_disk.py")
    command = [sys.executable, str(code), str(folder), str(behind), str(lock_error)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout
        assert server.stderr
        try:
            if not server.stdout.readline():
                pytest.skip(f"FUSE is not permitted here: {server.stderr.read().splitlines()[-1]}")
            yield folder
        finally:
            subprocess.run(["umount", "--lazy", str(folder)], capture_output=True, check=False)
            server.kill()


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """*folder*, a `small_disk`, without permission to write."""
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(folder)], check=True)


def _mount_or_skip(*arguments: str) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("needs Linux's tmpfs")
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"mounting is not permitted here: {done.stderr.strip()}")

"""A file system as some homes on a network have: no memory that processes share, and perhaps no locks.

It speaks the kernel's FUSE protocol (linux/fuse.h, version 7.31) over /dev/fuse and shows another folder as it is.
Run as `python network_disk.py MOUNTED BEHIND LOCK_ERRNO` by root; `umount` ends it.
"""

import ctypes
import errno
import os
import stat
import struct
import sys
from collections.abc import Callable
from contextlib import suppress

DIRECT_IO, POSIX_LOCKS, FLOCK_LOCKS, BIG_WRITES = 1, 1 << 1, 1 << 10, 1 << 5
MODE, SIZE, MTIME = 1, 8, 32
MOST_BYTES = 1 << 20
Answer = bytes | int | None
"""What goes back: bytes, or an errno, or nothing."""


class Disk:
    """The folder *behind*, by the kernel's numbers of files. *lock_error*: the errno of a lock; 0 where locks hold."""

    def __init__(self, behind: str, lock_error: int) -> None:
        self.lock_error = lock_error
        self.paths = {1: behind}
        self.numbers = {behind: 1}
        self.answers: dict[int, Callable[[int, bytes], Answer]] = {
            1: lambda node, data: self.entry(self.below(node, data)),
            2: lambda *_: None,
            3: lambda node, data: self.attributes(node, *struct.unpack_from("<I4xQ", data)),
            4: self.change,
            9: self.make_folder,
            10: lambda node, data: os.unlink(self.below(node, data)) or b"",
            11: lambda node, data: os.rmdir(self.below(node, data)) or b"",
            12: lambda node, data: self.rename(node, data, 8),
            14: self.open,
            15: self.read,
            16: self.write,
            17: lambda *_: struct.pack("<5Q4I24x", *[1 << 20] * 5, 4096, 255, 4096, 0),
            18: lambda _, data: os.close(*struct.unpack_from("<Q", data)) or b"",
            20: lambda _, data: os.fsync(*struct.unpack_from("<Q", data)) or b"",
            26: lambda *_: struct.pack("<4I2H2I36x", 7, 31, 0, self.flags, 8, 8, MOST_BYTES, 1),
            27: lambda *_: bytes(16),
            28: self.names,
            35: self.create,
            42: lambda *_: None,
            45: lambda node, data: self.rename(node, data, 16),
            **dict.fromkeys((25, 29, 30), lambda *_: b""),
            **dict.fromkeys((31, 32, 33), lambda *_: self.lock_error),
        }

    @property
    def flags(self) -> int:
        return BIG_WRITES | ((POSIX_LOCKS | FLOCK_LOCKS) if self.lock_error else 0)

    def below(self, node: int, data: bytes) -> str:
        return os.path.join(self.paths[node], os.fsdecode(data.split(b"\0")[0]))

    def entry(self, path: str) -> bytes:
        found = attributes(os.lstat(path))
        node = self.numbers.setdefault(path, len(self.paths) + 1)
        self.paths[node] = path
        return struct.pack("<4Q2I", node, 0, 0, 0, 0, 0) + found

    def attributes(self, node: int, flags: int, handle: int) -> bytes:
        return bytes(16) + attributes(os.fstat(handle) if flags & 1 else os.lstat(self.paths[node]))

    def change(self, node: int, data: bytes) -> bytes:
        valid, _, size, mtime, nanoseconds, mode = struct.unpack_from("<I4xQQ16xQ12xI4xI", data)
        path = self.paths[node]
        if valid & MODE:
            os.chmod(path, stat.S_IMODE(mode))
        if valid & SIZE:
            os.truncate(path, size)
        if valid & MTIME:
            os.utime(path, ns=(mtime * 10**9 + nanoseconds,) * 2)
        return self.attributes(node, 0, 0)

    def make_folder(self, node: int, data: bytes) -> bytes:
        path = self.below(node, data[8:])
        os.mkdir(path, *struct.unpack_from("<I", data))
        return self.entry(path)

    def rename(self, node: int, data: bytes, start: int) -> bytes:
        old, new = data[start:].split(b"\0")[:2]
        target = self.below(*struct.unpack_from("<Q", data), new)
        source = self.below(node, old)
        os.rename(source, target)
        if (number := self.numbers.pop(source, 0)) > 0:
            self.numbers[target], self.paths[number] = number, target
        return b""

    def open(self, node: int, data: bytes) -> bytes:
        (flags,) = struct.unpack_from("<I", data)
        return struct.pack("<QII", os.open(self.paths[node], flags & ~(os.O_CREAT | os.O_EXCL)), DIRECT_IO, 0)

    def create(self, node: int, data: bytes) -> bytes:
        flags, mode = struct.unpack_from("<II", data)
        path = self.below(node, data[16:])
        handle = os.open(path, flags | os.O_CREAT, stat.S_IMODE(mode))
        return self.entry(path) + struct.pack("<QII", handle, DIRECT_IO, 0)

    def read(self, _: int, data: bytes) -> bytes:
        handle, offset, size = struct.unpack_from("<QQI", data)
        return os.pread(handle, size, offset)

    def write(self, _: int, data: bytes) -> bytes:
        handle, offset, size = struct.unpack_from("<QQI", data)
        return struct.pack("<II", os.pwrite(handle, data[40 : 40 + size], offset), 0)

    def names(self, node: int, data: bytes) -> bytes:
        (offset,) = struct.unpack_from("<8xQ", data)
        found = b""
        for number, name in enumerate(sorted(os.listdir(self.paths[node]))[offset:], offset + 1):
            row = struct.pack("<QQII", number, number, len(os.fsencode(name)), 0) + os.fsencode(name)
            found += row.ljust(-(-len(row) // 8) * 8, b"\0")
        return found


def attributes(found: os.stat_result) -> bytes:
    times = [divmod(ns, 10**9) for ns in (found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns)]
    whole, rest = zip(*times, strict=True)
    owner = found.st_mode, found.st_nlink, found.st_uid, found.st_gid, 0, 4096, 0
    return struct.pack("<6Q10I", found.st_ino, found.st_size, found.st_blocks, *whole, *rest, *owner)


def serve(mounted: str, behind: str, lock_error: int) -> None:
    fuse = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0,default_permissions,allow_other".encode()
    if ctypes.CDLL(None, use_errno=True).mount(b"network", mounted.encode(), b"fuse", 0, options):
        sys.exit(os.strerror(ctypes.get_errno()))
    print("mounted", flush=True)
    disk = Disk(behind, lock_error)
    with suppress(OSError):
        while True:
            request = os.read(fuse, MOST_BYTES + 4096)
            _, kind, number, node = struct.unpack_from("<IIQQ", request)
            try:
                answer = disk.answers.get(kind, lambda *_: errno.ENOSYS)(node, request[40:])
            except OSError as error:
                answer = error.errno or errno.EIO
            if answer is not None:
                body, code = (b"", -answer) if isinstance(answer, int) else (answer, 0)
                os.write(fuse, struct.pack("<IiQ", 16 + len(body), code, number) + body)


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], int(sys.argv[3]))
